"""Rods against the theory of beams."""

import numpy as np
from helpers.balance import settle
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
STILL = '<option gravity="0 0 0"/>'


def test_a_cantilever_of_a_rod_bends():
    """F L³/(3 E I) at the end of a beam (Timoshenko & Goodier, §21), I = π r⁴/4, from the middle of what is held."""
    errors = []
    for segments in (8, 16, 32):
        h = 1.0 / (segments - 0.5)
        slides = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
        bodies = "".join(
            f"""<body name="b{i}" pos="{h * i} 0 0"><inertial pos="0 0 0" mass=".1" diaginertia="1e-5 1e-5 1e-5"/>
            {slides if i > 1 else ""}</body>"""
            for i in range(segments + 1)
        )
        names = " ".join(f"b{i}" for i in range(segments + 1))
        pairs = " ".join(f"{i} {i + 1}" for i in range(segments))
        sim = saltus.Simulation(f"""<mujoco>{STILL}<worldbody>{bodies}</worldbody><deformable>
          <flex name="rod" dim="1" radius=".01" body="{names}" element="{pairs}">{ALONE}
          <edge stiffness="100"/><elasticity young="1e6" poisson=".3"/></flex></deformable></mujoco>""")
        force, load = 1e-4, np.zeros(sim.model.nv)
        load[-1] = force
        settle(sim, load)
        exact = force / (3 * 1e6 * np.pi * 0.01**4 / 4)
        errors.append(abs(sim.qpos[-1] / exact - 1.0))
    assert errors[2] < 0.001
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.2)
