"""Radau IIA follows stiff motions in steps of their own pace, with the errors that its tolerance asks for.

References: SciPy's Radau at a tolerance of 1e-10, on MuJoCo's accelerations or on a law's own equation; dopri5's number
of steps; conserved quantities; closed forms. Tolerances: the error at the end is about that of a step, times the number
of steps whose errors add up: at most 100; the forces of contact that begin are located to a part in 1e4 of their time.
"""

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import saltus
from saltus.integrate.adaptive.memory import REJECTED, TAKEN
from saltus.integrate.radau.memory import COUNT_FACTORS, COUNT_ITERATIONS, COUNT_SLOPES
from saltus.number.functions import maximum, where

STIFF = """<mujoco><worldbody><body pos="0 0 1"><joint name="slow" axis="0 1 0"/>
  <inertial pos="0 0 -.5" mass="1" diaginertia=".1 .1 .1"/>
  <body pos="0 0 -1"><joint name="stiff" axis="0 1 0" stiffness="1e5" damping="1e4"/>
    <inertial pos="0 0 -.2" mass=".5" diaginertia=".01 .01 .01"/></body></body></worldbody></mujoco>"""
SOLREF = "-1e6 -2e3"  # 1/s², 1/s
BALLS = f"""<mujoco><option integrator="RK4" timestep="1e-3"/>
  <default><geom condim="1" solref="{SOLREF}"/></default><worldbody><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body>
  <body pos="0 0 .301"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body></worldbody></mujoco>"""
DROP = """<mujoco><worldbody><geom type="plane" size="5 5 .1" condim="1"/>
  <body pos="0 0 .1001"><joint name="z" type="slide" axis="0 0 1"/><geom size=".1" mass="1" condim="1"/></body>
  </worldbody></mujoco>"""
STIFFNESS, LOSS, G = 1e7, 1e4, 9.81  # N/m, s/m, m/s²
FREE = """<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
  <inertial pos=".1 0 0" mass="1" diaginertia=".1 .2 .27"/></body></worldbody></mujoco>"""


def elastic(m, d, gap, velocity):
    depth = maximum(-gap, 0.0 * gap)
    return maximum(STIFFNESS * depth * (1.0 - LOSS * velocity[0]), 0.0 * gap), 0.0 * gap, 0.0 * gap


@saltus.controller
def braked(m, d, z):
    """A brake that is either on or off."""
    v = d.qvel[0]
    d.ctrl[0] = -2.0 * where(v > 0.0, 1.0 + 0.0 * v, -1.0 + 0.0 * v)


def scipy_motion(xml, qpos, times, longest=np.inf):
    """States [T, 2 nv] of slides and hinges that start at rest, by SciPy's Radau on MuJoCo's accelerations."""
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.tolerance, m.opt.iterations = 1e-14, 200
    data = mujoco.MjData(m)

    def slopes(t, y):
        data.qpos[:], data.qvel[:] = y[: m.nq], y[m.nq :]
        mujoco.mj_forward(m, data)
        return np.concatenate([data.qvel, data.qacc])

    start = np.concatenate([qpos, np.zeros(m.nv)])
    found = solve_ivp(slopes, (0.0, times[-1]), start, "Radau", times, max_step=longest, rtol=1e-11, atol=1e-13)
    assert found.success
    return found.y.T


def counts(sim, *places):
    return sim.engine.d.views["memory"][list(places)]


@pytest.fixture(scope="module")
def stiff():
    return saltus.load(STIFF)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_a_stiff_damper_beside_scipy(stiff, tolerance):
    sim = saltus.Simulation(stiff, "radau", tolerance=tolerance)
    sim.qpos[0] = 1.0
    run = sim.run(1.0, sample=0.25)
    known = scipy_motion(STIFF, [1.0, 0.0], run.time)
    assert_allclose(np.hstack([run.qpos, run.qvel]), known, rtol=0, atol=100 * tolerance)
    assert counts(sim, TAKEN)[0] < 400


def test_far_fewer_steps_than_explicit_ones(stiff):
    taken = {}
    for name in ("radau", "dopri5"):
        sim = saltus.Simulation(stiff, name, tolerance=1e-6)
        sim.qpos[0] = 1.0
        sim.run(0.5, sample=0.5)
        taken[name] = counts(sim, TAKEN, REJECTED).sum()
    assert taken["dopri5"] > 50 * taken["radau"]


def test_matrices_are_reused(stiff):
    """Steps share Jacobians, and some of them factors; an iteration takes two to four rounds."""
    sim = saltus.Simulation(stiff, "radau", tolerance=1e-6)
    sim.qpos[0] = 1.0
    sim.run(1.0, sample=1.0)
    taken, slopes, factors, rounds = counts(sim, TAKEN, COUNT_SLOPES, COUNT_FACTORS, COUNT_ITERATIONS)
    assert 1 <= slopes < 0.3 * taken and factors < 0.9 * taken and taken < rounds < 5 * taken


def test_stiff_soft_contact_beside_scipy():
    """Two balls fall by 1 mm onto each other and the floor, and come to rest within a tenth of a second."""
    model = saltus.load(BALLS)
    sim = saltus.Simulation(model, "radau", tolerance=1e-7)
    run = sim.run(0.1, sample=0.01)
    known = scipy_motion(BALLS, [0.0, 0.0], run.time)
    assert_allclose(run.qpos, known[:, :2], rtol=0, atol=1e-7)
    assert_allclose(run.qvel, known[:, 2:], rtol=0, atol=2e-5)
    assert_allclose(run.qvel[-1], 0.0, rtol=0, atol=1e-4)
    # at rest, steps are as long as the run
    before = counts(sim, TAKEN)[0]
    sim.run(2.0, sample=2.0)
    assert counts(sim, TAKEN)[0] < before + 30


def test_jumps_of_a_force_are_crossed_at_tight_tolerances():
    """Where bodies meet, damping begins at once, by 1e3 m/s²: within 1e-12 s, said, and right to that times this."""
    xml = BALLS.replace('"1e-3"', '"1e-3" tolerance="1e-14" iterations="200"').replace(".301", ".303")
    sim = saltus.Simulation(xml.replace('pos="0 0 .1"', 'pos="0 0 .101"'), "radau", tolerance=1e-10)
    with pytest.warns(
        saltus.SaltusWarning, match="tolerance was relaxed where a force jumps, as where a contact begins"
    ):
        run = sim.run(0.02, sample=0.002)
    fall = np.sqrt(2e-3 / G)
    flying = run.time < fall
    assert_allclose(run.qvel[flying], np.repeat(-G * run.time[flying, None], 2, axis=1), rtol=0, atol=1e-9)
    known = scipy_motion(xml.replace('pos="0 0 .1"', 'pos="0 0 .101"'), [0.0, 0.0], run.time, longest=1e-5)
    assert_allclose(run.qpos, known[:, :2], rtol=0, atol=1e-10)
    assert_allclose(run.qvel, known[:, 2:], rtol=0, atol=1e-7)


def test_a_brake_of_signs_is_an_error_that_says_so():
    """No step solves the equations where a force jumps with the velocity and holds it there."""
    cart = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    sim = saltus.Simulation(cart, "radau", control=braked, tolerance=1e-6)
    sim.qvel[0] = 1.0
    with pytest.raises(saltus.DivergenceError, match=r"t = 0\.5 .*too small steps"):
        sim.run(1.0, sample=0.25)
    assert_allclose(sim.qpos[0], 0.25, rtol=0, atol=1e-6)  # v² / (2 a) with a brake of 2 m/s²


def test_a_stiff_compliant_law_beside_scipy():
    """The law's own equation, z'' = k (r - z) (1 - c z') - g while it pushes, as SciPy's Radau solves it."""
    sim = saltus.Simulation(DROP, "radau", contact=saltus.Compliant(elastic), tolerance=1e-7)
    run = sim.run(0.05, sample=0.005)

    def slopes(t, y):
        depth = max(0.1 - y[0], 0.0)
        return [y[1], max(STIFFNESS * depth * (1.0 - LOSS * y[1]), 0.0) - G]

    known = solve_ivp(slopes, (0, 0.05), [0.1001, 0.0], "Radau", run.time, rtol=1e-10, atol=1e-13, max_step=1e-4).y.T
    assert_allclose(0.1001 + run.qpos[:, 0], known[:, 0], rtol=0, atol=1e-7)
    assert_allclose(run.qvel[:, 0], known[:, 1], rtol=0, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("law", [saltus.HuntCrossley, saltus.KelvinVoigt])
def test_laws_by_name_give_back_the_share_that_they_were_fitted_for(law):
    """Without gravity a ball that comes in at 1 m/s leaves at e: the closed forms to which the laws were fitted."""
    text = DROP.replace("<worldbody>", '<option gravity="0 0 0"/><worldbody>')
    sim = saltus.Simulation(text, "radau", contact=law.fitted(0.8, 1e-3, mass=1.0, speed=1.0), tolerance=1e-8)
    sim.qvel[0] = -1.0
    sim.run(0.02)
    assert sim.qpos[0] > 0.0
    assert_allclose(sim.qvel[0], 0.8, rtol=0, atol=1e-6)


def test_a_free_body_keeps_its_momenta():
    """Momentum, angular momentum and energy of a spinning body; its quaternion stays one."""
    sim = saltus.Simulation(FREE, "radau", tolerance=1e-9)
    sim.qvel[:] = 0.3, -0.2, 0.1, 4.0, 0.2, -3.0
    run = sim.run(5.0, sample=0.5)
    inertia, offset = np.diag([0.1, 0.2, 0.27]), np.array([0.1, 0, 0])
    momenta = []
    for qpos, qvel in zip(run.qpos, run.qvel, strict=True):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, qpos[3:])
        turn = turn.reshape(3, 3)
        speed = qvel[:3] + turn @ np.cross(qvel[3:], offset)
        place = qpos[:3] + turn @ offset
        momenta.append([*speed, *(turn @ inertia @ qvel[3:] + np.cross(place, speed)), qvel[3:] @ inertia @ qvel[3:]])
        assert_allclose(np.linalg.norm(qpos[3:]), 1.0, rtol=0, atol=1e-14)
    assert_allclose(momenta, np.tile(momenta[0], (len(momenta), 1)), rtol=0, atol=1e-7)


def test_activations_of_actuators():
    """A filter of 0.1 ms on a motor: act' = (u - act) / τ, so that the mass speeds up by (t - τ (1 - exp(-t / τ)))."""
    model = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/></body></worldbody>
      <actuator><general joint="x" dyntype="filter" dynprm="1e-4"/></actuator></mujoco>"""
    sim = saltus.Simulation(model, "radau", tolerance=1e-7)
    sim.ctrl[0] = 1.0
    run = sim.run(0.1, sample=0.02)
    t, tau = run.time, 1e-4
    assert_allclose(run.act[:, 0], 1.0 - np.exp(-t / tau), rtol=0, atol=1e-6)
    assert_allclose(run.qvel[:, 0], t - tau * (1.0 - np.exp(-t / tau)), rtol=0, atol=1e-6)
    assert counts(sim, TAKEN)[0] < 100


def test_dense_output_is_of_third_order(stiff):
    """In one step over the whole time, the error in its middle falls like h⁴ or faster, on a smooth motion."""
    model = saltus.load(STIFF.replace('stiffness="1e5" damping="1e4"', ""))
    tight = saltus.Simulation(model, "dopri5", tolerance=(1e-13, 1e-14))
    errors = []
    for h in (8e-2, 4e-2, 2e-2):
        sim = saltus.Simulation(model, "radau", timestep=h, tolerance=(1e-3, 1e-3))
        for one in (sim, tight):
            one.reset()
            one.qpos[:], one.qvel[:] = (1.0, 0.3), (0.5, -1.0)
        sim.engine.d.views["memory"][:2] = h, 1e-4
        sim.engine.left = sim.engine.state.copy()
        middle = sim.run(h, sample=0.37 * h).qpos[1]
        assert counts(sim, TAKEN)[0] == 1
        errors.append(np.max(np.abs(tight.run(0.37 * h, sample=0.37 * h).qpos[-1] - middle)))
    assert np.all(-np.diff(np.log2(errors)) > 3.5), errors


def test_steps_end_where_they_are_asked_to(stiff):
    """Steps of a timestep and a run in free steps agree to their tolerance."""
    sim, other = (saltus.Simulation(stiff, "radau", timestep=0.05, tolerance=1e-8) for _ in range(2))
    sim.qpos[0] = other.qpos[0] = 1.0
    run = sim.run(0.5, sample=0.05)
    for k in range(1, 11):
        other.step()
        assert other.time == pytest.approx(0.05 * k, abs=1e-15)
        assert_allclose(run.qpos[k], other.qpos, rtol=0, atol=1e-7)


def test_returning_in_between_does_not_change_the_motion(stiff, monkeypatch):
    """A run returns to Python now and then; matrices and starting values belong to the state, so that bits stay."""
    ends = []
    for pace in (lambda run, n, began: None, lambda run, n, began: setattr(run, "chunk", run.chunk + 3)):
        monkeypatch.setattr("saltus.simulate.running.run.Run.pace", pace)
        sim = saltus.Simulation(stiff, "radau", tolerance=1e-6)
        sim.qpos[0] = 1.0
        run = sim.run(1.0, sample=0.07)
        ends.append(np.hstack([run.qpos.ravel(), run.qvel.ravel(), sim.qpos, sim.qvel]))
    np.testing.assert_array_equal(ends[0], ends[1])


def test_a_ledger_of_energy_balances(stiff):
    sim = saltus.Simulation(stiff, "radau", tolerance=1e-8)
    sim.qpos[0] = 1.0
    run = sim.run(1.0, sample=0.1, ledger=True)
    assert_allclose(run.energy_report().residual, 0.0, rtol=0, atol=1e-6)


def test_no_finite_step_is_a_divergence_error():
    sim = saltus.Simulation("pendulum", "radau")
    sim.ctrl[0] = np.nan
    with pytest.raises(saltus.DivergenceError, match=r"was not finite|too small steps"):
        sim.step()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (lambda: saltus.Simulation("bouncing_ball", "radau", contact="hard"), "radau does not locate events.*dopri5"),
        (lambda: saltus.Simulation("pendulum", "radau").linearize(), "linearize does not support radau"),
        (lambda: saltus.Simulation("trampoline", "radau"), "radau solves with dense matrices.*500.*implicitfast"),
        (lambda: saltus.Simulation("pendulum", "radau", tolerance=-1.0), "tolerance must be two numbers between"),
        (lambda: saltus.Simulation(DROP, "radau", motions={"z": lambda t: 0.1 * t}), "motions.*radau"),
    ],
)
def test_refusals_name_what_to_choose(what, words):
    with pytest.raises(saltus.OptionError, match=words):
        what()
