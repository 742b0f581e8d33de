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
from helpers.step_differences import differences

import saltus

EXACT, DIFFERENCES = 1e-9, 1e-6
STEP = 1e-2  # of differences of sixth order
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


def assert_close(found, wanted, tolerance):
    assert np.max(np.abs(found - wanted)) <= tolerance * max(1.0, np.max(np.abs(wanted)))


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [*FIXED, GAUSS2], ids=str)
def test_against_differences_of_high_order(integrator):
    sim, m = simulation(JOINTS, integrator)
    A, B = sim.linearize()
    assert A.shape == (2 * m.nv, 2 * m.nv) and B.shape == (2 * m.nv, m.nu)
    assert_close(np.hstack([A, B]), differences(sim, m, STEP), EXACT)


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
    assert_close(np.hstack(sim.linearize()), differences(sim, m, STEP), EXACT)


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


CYLINDER = """
<mujoco>{option}<worldbody>
  <body><joint axis="0 1 0" stiffness="200" damping="1"/><geom name="board" type="box" size=".3 .2 .02"/></body>
  <body pos=".05 0 .075"><freejoint/><geom name="can" type="{kind}"/></body>{more}
</worldbody></mujoco>"""


@pytest.mark.parametrize("option", ["", "<option sleep_tolerance='1'/>"])
def test_searched_normals_that_turn_with_a_body_are_refused(option):
    """On a board that tips, the normal of a can turns with the board; a box's does, and its derivatives are exact."""
    sim = saltus.Simulation(saltus.load(CYLINDER.format(option=option, kind='cylinder" size=".06 .049', more="")))
    sim.linearize()  # before they touch
    sim.step(40)
    for ask in (sim.linearize, lambda: saltus.run_gradient(sim, 0.002, lambda run: run.qvel[-1][0])):
        with pytest.raises(saltus.OptionError, match="normal of the contact of can and board, which is searched"):
            ask()
    box = 'box" size=".06 .05 .049'
    sim = saltus.Simulation(saltus.load(CYLINDER.format(option=option, kind=box, more="")))
    sim.step(40)
    assert sim.data.ncon == 4
    A, _ = sim.linearize()
    expected = differences(sim, sim.model.mujoco, 1e-5)[:, : len(A)]
    assert np.allclose(A, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_searched_normals_are_refused_in_batches_and_among_many_pairs(monkeypatch):
    from saltus.model.compile.constraints import broad

    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    more = "<body pos='0 1 0'><freejoint/><geom size='.1'/></body>" * 2
    for place in (more, ""):
        monkeypatch.setattr(broad, "MOST_LISTED", 0 if place else 1000)
        model = saltus.load(CYLINDER.format(option="", kind='cylinder" size=".06 .049', more=place))
        batch = saltus.Batch(model, 2)
        batch.linearize()
        batch.step(40)
        with pytest.raises(saltus.OptionError, match="normal of the contact of can and board"):
            batch.linearize()


def test_a_solver_that_stops_early_is_told():
    """With one iteration a step of a tipped box on the floor is another one than with many; A is that of the latter."""
    box = """<mujoco><option iterations="{}" tolerance="0"/><worldbody><geom type="plane" size="1 1 1"/>
    <body pos="0 0 .09" euler="10 5 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    few, many = (saltus.Simulation(saltus.load(box.format(n)), "euler") for n in (1, 100))
    with pytest.warns(saltus.SaltusWarning, match="stops after 1 iterations"):
        A, _ = few.linearize()
    assert np.allclose(A, many.linearize()[0], rtol=0, atol=1e-9 * np.abs(A).max())
