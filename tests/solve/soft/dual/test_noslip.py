"""Friction without slip: MuJoCo's second pass, and what it is for.

Law: MuJoCo 4.0's sweeps over friction without regularisation (its source is their definition), after any solver. Where
friction is inside its cone, nothing accelerates against what it touches.

Tolerances: as in the tests of projected Gauss-Seidel; what a pass begins with is the minimum of a solver that has been
iterated to the end.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import put
from helpers.files import packaged
from helpers.solvers import compiled, heap, lanes_are_single_runs, states, stuck, worst_errors

import saltus

SAME = {"pyramidal": 1e-9, "elliptic": 1e-7}
SLOPE = np.deg2rad(20)
# a block that stands on four spheres, seen from the slope
BLOCK = f"""<mujoco><option gravity="{9.81 * np.sin(SLOPE)} 0 {-9.81 * np.cos(SLOPE)}"/>
    <worldbody><geom type="plane" size="9 9 .1" friction="1"/><body pos="0 0 .0999"><freejoint/>
    <geom type="sphere" size=".1" pos=".3 .2 0"/><geom type="sphere" size=".1" pos="-.3 .2 0"/>
    <geom type="sphere" size=".1" pos=".3 -.2 0"/><geom type="sphere" size=".1" pos="-.3 -.2 0"/>
    </body></worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["Newton", "PGS"])
@pytest.mark.parametrize("cone", SAME)
def test_forces_are_mujocos(cone, solver):
    """After Newton's method and after Gauss-Seidel, for pyramids and cones, island by island.

    But for states in which MuJoCo's Gauss-Seidel has ended with a cone that holds nothing and should.
    """
    tolerance = {"Newton": 1e-14, "PGS": 1e-8}[solver]
    m = compiled(heap(cone), solver, noslip_iterations=5, tolerance=tolerance)
    worst, _ = worst_errors(m, leave_out=stuck if solver == "PGS" else lambda m, d: False)
    assert max(worst.values()) < SAME[cone], worst


@pytest.mark.slow
@pytest.mark.parametrize("cone", SAME)
def test_a_block_on_a_slope_stays(cone):
    """At 20 degrees and friction 1: at rest its feet do not accelerate along the slope, to rounding; softly they do."""
    m = compiled(BLOCK, "Newton", cone=getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}"), noslip_iterations=300)
    m.opt.noslip_tolerance, m.opt.tolerance = 0.0, 1e-14
    sim = saltus.Simulation(saltus.load(m))
    assert sim.data.ncon == 4
    arms = sim.data.contact["pos"] - sim.qpos[:3]
    feet = sim.data.qacc[:3] + np.cross(sim.data.qacc[3:], arms)
    assert np.abs(feet[:, :2]).max() < 1e-9
    m.opt.noslip_iterations = 0
    soft = mujoco.MjData(m)
    mujoco.mj_forward(m, soft)
    assert np.abs((soft.qacc[:3] + np.cross(soft.qacc[3:], arms))[:, 0]).max() > 1e-3 * 9.81


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["Newton", "PGS"])
@pytest.mark.parametrize("cone", SAME)
def test_lanes_sweep_together_and_are_single_runs(cone, solver):
    """What touches, which islands there are and how many sweeps each needs differ from lane to lane."""
    lanes_are_single_runs(compiled(heap(cone), solver, noslip_iterations=5))


def test_a_planar_mechanism_does_not_slip():
    """Nothing moves out of the plane, so that the matrix of friction in a cone has no inverse (see `friction_cone`).

    Where friction is inside its cone, the contact does not accelerate along the plane.
    """
    path = packaged("dm_control").get("suite/hopper.xml") or pytest.skip("dm_control is not installed")
    m = compiled(path, "Newton", cone=mujoco.mjtCone.mjCONE_ELLIPTIC, noslip_iterations=200, noslip_tolerance=0.0)
    sim, held = saltus.Simulation(saltus.load(m)), 0
    for d in states(m, 20):
        put(sim, d)
        residual = sim.data.efc_J @ sim.data.qacc - sim.data.efc_aref
        for c in sim.data.contact:
            k = c["efc_address"]
            if k >= 0 and abs(sim.data.efc_force[k + 1]) < 0.999 * c["friction"][0] * sim.data.efc_force[k]:
                assert abs(residual[k + 1]) < 1e-6 * np.abs(sim.data.efc_aref).max()
                held += 1
    assert held > 5


def test_left_out_on_request():
    """Without it forces are those of a file that does not ask for it."""
    asked, plain = (compiled(heap(), "Newton", noslip_iterations=n) for n in (5, 0))
    one = saltus.Simulation(saltus.load(asked, ignore=["noslip"]))
    other = saltus.Simulation(saltus.load(plain))
    assert one.model.ignored == ("noslip: option noslip_iterations",)
    assert "noslip" in saltus.load(asked).struct().layout.features
    *_, d = states(plain, 3)
    for sim in (one, other):
        put(sim, d)
    assert np.array_equal(one.data.qacc, other.data.qacc)
