"""The benchmark A01 of IFToMM's library, a pendulum, from its MJCF file; `tests/verify` has it as a model of its own.

Tolerance: the error of rk4 in steps of 1 ms, 2e-8, as MuJoCo's.
"""

from helpers.files import shared
from numpy.testing import assert_allclose

import saltus
from saltus.verify.families.smooth import PLACES


def test_a01_from_the_shared_file():
    """With the integrator and step of the file (RK4, 1 ms)."""
    sim = saltus.Simulation(shared("benchmarks/A01_pendulum"))
    for t, place in PLACES.items():
        sim.step(round((t - sim.time) / sim.timestep))
        assert_allclose(sim.data.site_xpos[0, :2], place, rtol=0, atol=3e-8)
