"""Which bodies are particles. Reference: MuJoCo's inertia matrix, whose rows are diagonal for them alone."""

import mujoco
import numpy as np

from saltus.model.tree.particles import particles, uncoupled

XML = """<mujoco><worldbody>
<flexcomp name="sheet" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" mass="1" radius=".01"><pin id="0 4"/>
<contact selfcollide="none"/></flexcomp>
<body name="ball"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
<geom size=".1"/>{}</body>
<body name="skew"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="1 1 0"/><joint type="slide" axis="0 0 1"/>
<geom size=".1"/></body></worldbody></mujoco>"""
CARRIED = '<body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>'


def test_particles_are_those_without_coupling():
    m = mujoco.MjModel.from_xml_string(XML.format(""))
    names = {m.body(b).name for b in particles(m)}
    assert len(names) == 8 and "ball" in names and "skew" not in names
    assert "ball" not in {m.body(b).name for b in particles(mujoco.MjModel.from_xml_string(XML.format(CARRIED)))}


def test_only_what_m_does_not_couple_is_uncoupled():
    m = mujoco.MjModel.from_xml_string(XML.format(CARRIED))
    d, M = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    mujoco.mj_forward(m, d)
    mujoco.mj_fullM(m, d, M)
    parents = uncoupled(m, m.dof_parentid)
    for i in np.flatnonzero(parents != m.dof_parentid):
        np.testing.assert_array_equal(np.delete(M[i], i), 0.0)
    assert np.sum(parents != m.dof_parentid) == 2 * 7  # the second and third slide of each
