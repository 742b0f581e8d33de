"""The derivatives of a step are exact.

Law: A = ∂(q', v')/∂(q, v), B = ∂(q', v')/∂u of one step, in the tangent space, as MuJoCo's `mjd_transitionFD` defines
them.

Tolerances: MuJoCo's own are centred differences with a step of 1e-6, good to about 1e-7 for entries of size one.
Against differences of sixth order of our own steps (step 1e-2: truncation below 1e-12, rounding 1e-14) they agree to
1e-9 of the largest entry.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.files import EVERYTHING, shared
from helpers.mechanisms import ACTUATORS, REFERENCES_AND_SPRINGS

import saltus

EXACT, DIFFERENCES = 1e-9, 1e-6
JOINTS = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="j" axis="0 1 0" damping="0.2" stiffness="1"/>
    <inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/>
    <body pos="0 0 -0.6"><joint type="ball" damping="0.1" stiffness="0.5"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/></body></body>
  <body pos="1 0 0"><freejoint/><inertial pos="0.1 0 0" mass="1" diaginertia="0.02 0.03 0.04"/></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>"""
FIXED = [name for name, i in saltus.integrators().items() if not i.adaptive and i.needs.get("pcg") is not True]
GAUSS2 = saltus.ButcherTableau(
    [[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]], [0.5, 0.5], name="gauss 2"
)  # fmt: skip


def simulation(source, integrator=None, seed=0):
    """A simulation at a random state with random forces."""
    model = saltus.load(source)
    m = oracle.reference(model)
    sim = saltus.Simulation(model, integrator)
    for name, value in oracle.random_state(m, np.random.default_rng(seed)).items():
        getattr(sim, name)[:] = value
    return sim, m


def moved(sim, m, direction):
    """Tangent difference of the step's end when the state and controls at its start are moved along a direction."""
    start, nv = sim.snapshot(), m.nv
    mujoco.mj_integratePos(m, sim.qpos, np.ascontiguousarray(direction[:nv]), 1.0)
    sim.qvel += direction[nv : 2 * nv]
    sim.ctrl += direction[2 * nv :]
    sim.step()
    out = sim.qpos.copy(), sim.qvel.copy()
    sim.restore(start)
    return out


def differences(sim, m, h=1e-2):
    """[A B] by central differences of sixth order."""
    nominal = moved(sim, m, np.zeros(2 * m.nv + m.nu))
    columns = []
    for e in np.eye(2 * m.nv + m.nu):
        total = np.zeros(2 * m.nv)
        for k, weight in ((1, 45), (2, -9), (3, 1)):
            for sign in (1, -1):
                qpos, qvel = moved(sim, m, sign * k * h * e)
                change = np.concatenate([oracle.difference(m, nominal[0], qpos), qvel - nominal[1]])
                total += sign * weight * change
        columns.append(total / (60 * h))
    return np.transpose(columns)


def assert_close(found, wanted, tolerance):
    assert np.max(np.abs(found - wanted)) <= tolerance * max(1.0, np.max(np.abs(wanted)))


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [*FIXED, GAUSS2], ids=str)
def test_against_differences_of_high_order(integrator):
    sim, m = simulation(JOINTS, integrator)
    A, B = sim.linearize()
    assert A.shape == (2 * m.nv, 2 * m.nv) and B.shape == (2 * m.nv, m.nu)
    assert_close(np.hstack([A, B]), differences(sim, m), EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "implicit", "implicitfast", "rk4"])
@pytest.mark.parametrize(
    "xml", [ACTUATORS, REFERENCES_AND_SPRINGS], ids=["actuators", "references and springs"]
)  # fmt: skip
def test_forces_of_every_kind(xml, integrator):
    """Limits, servos, polynomial springs and dampers, several trees."""
    sim, m = simulation(xml, integrator, seed=3)
    assert_close(np.hstack(sim.linearize()), differences(sim, m, h=2e-3), EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
@pytest.mark.parametrize("source", [JOINTS, ACTUATORS, "humanoid"], ids=["joints", "actuators", "humanoid"])
def test_against_mujocos_own(source, integrator):
    """With the integrators that MuJoCo differentiates."""
    if source == "humanoid":
        compiled = mujoco.MjModel.from_xml_path(str(shared("mujoco/humanoid")))
    else:
        compiled = mujoco.MjModel.from_xml_string(source)
    compiled.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    model = saltus.load(compiled, ignore=EVERYTHING)
    m = oracle.reference(model)
    state = oracle.random_state(m, np.random.default_rng(5))
    d = oracle.forward(m, state)
    A, B = np.zeros((2 * m.nv, 2 * m.nv)), np.zeros((2 * m.nv, m.nu))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
    sim = saltus.Simulation(model)
    for name, value in state.items():
        getattr(sim, name)[:] = value
    found = sim.linearize()
    assert_close(found[0], A, DIFFERENCES)
    assert_close(found[1], B, DIFFERENCES)


@pytest.mark.slow
def test_the_oscillators_matrix():
    """A known one: semi-implicit Euler on x'' = -k x + u, without damping."""
    model = """
    <mujoco><option gravity="0 0 0" timestep="0.1"/><worldbody><body>
      <joint name="x" type="slide" axis="1 0 0" stiffness="3"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    </body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    h, k = 0.1, 3.0
    A, B = saltus.Simulation(model, "euler").linearize()
    np.testing.assert_allclose(A, [[1 - h * h * k, h], [-h * k, 1]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(B, [[h * h], [h]], rtol=0, atol=1e-15)


@pytest.mark.slow
def test_it_leaves_the_simulation_as_it_was():
    """Also a Verlet method's memory: the motion afterwards is the same to the bit."""
    for integrator in ("euler", "verlet", "implicit_midpoint"):
        plain, read = (simulation(JOINTS, integrator)[0] for _ in range(2))
        plain.step(5)
        read.step(5)
        before = read.snapshot()
        first = read.linearize()
        np.testing.assert_array_equal(read.snapshot(), before)
        second = read.linearize()
        np.testing.assert_array_equal(first[0], second[0])
        plain.step(5)
        read.step(5)
        np.testing.assert_array_equal(plain.snapshot(), read.snapshot())


def test_it_follows_state_and_step():
    sim, m = simulation(JOINTS, "euler")
    first, _ = sim.linearize()
    sim.step(10)
    second, _ = sim.linearize()
    assert np.max(np.abs(first - second)) > 1e-3
    sim.timestep = 0.003
    assert_close(np.hstack(sim.linearize()), differences(sim, m), EXACT)


def test_adaptive_steps_have_the_derivatives_of_the_motion():
    """A(h) of dopri5 and of rk4 with steps of h/20, whose error is of order 4 (1e-10 here), agree."""
    sim = saltus.Simulation("pendulum", "dopri5", timestep=0.02, tolerance=(1e-12, 1e-12))
    fine = saltus.Simulation("pendulum", "rk4", timestep=0.001)
    expected = np.eye(2)
    for s in (sim, fine):
        s.qpos, s.qvel = 0.7, 1.3
    for _ in range(20):
        expected = fine.linearize()[0] @ expected
        fine.step()
    np.testing.assert_allclose(sim.linearize()[0], expected, rtol=0, atol=1e-9)
