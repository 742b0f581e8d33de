"""Which geoms rays can meet. Reference: MuJoCo's mj_ray, which sees what is not wholly transparent."""

import mujoco
import numpy as np

from saltus.model.compile.cameras_rays import visible

XML = """<mujoco><asset><material name="glass" rgba="1 1 1 0"/><material name="steel" rgba="1 1 1 1"/></asset>
<worldbody>
<geom size=".1" pos="0 0 0"/><geom size=".1" pos="1 0 0" rgba="1 0 0 0"/><geom size=".1" pos="2 0 0" material="glass"/>
<geom size=".1" pos="3 0 0" material="steel"/><geom size=".1" pos="4 0 0" material="steel" rgba="1 0 0 0"/>
<geom size=".1" pos="5 0 0" rgba="1 1 1 .01"/></worldbody></mujoco>"""


def test_they_are_those_that_mujocos_rays_meet():
    m = mujoco.MjModel.from_xml_string(XML)
    d, met = mujoco.MjData(m), np.zeros(1, np.int32)
    mujoco.mj_forward(m, d)
    down, hits = np.array([0.0, 0.0, -1.0]), []
    for place in d.geom_xpos:
        hits.append(mujoco.mj_ray(m, d, place - 3.0 * down, down, None, 1, -1, met, None) >= 0)
    assert list(visible(m)) == hits and 0 < sum(hits) < m.ngeom
