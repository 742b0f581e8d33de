"""Costs of all stages at once and their derivatives, and the motions that they are of.

References: MuJoCo's positions and Jacobians of points; differences of the cost; the same cost stage by stage;
simulations that take the same steps.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.control.tangent_states import displaced
from saltus.control.trajectory.motions import Motions
from saltus.control.trajectory.stage import Stage
from saltus.control.trajectory.stage_costs import StageCosts
from saltus.control.trajectory.stage_values import StageValues, spans_of

MODEL = """<mujoco><option timestep=".01"/><worldbody>
  <body name="base" pos="0 0 1"><freejoint/><geom size=".1" mass="2" contype="0" conaffinity="0"/>
    <body name="arm" pos=".1 0 0"><joint name="a" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1" contype="0" conaffinity="0"/>
      <body name="ball" pos=".4 0 0"><joint name="b" type="ball"/>
        <geom size=".05" pos=".1 0 .05" mass=".5" contype="0" conaffinity="0"/><site name="tip" pos=".2 .1 0"/></body>
    </body>
  </body></worldbody>
  <actuator><motor joint="a"/><general joint="b" gear="0 1 0" dyntype="filter" dynprm=".1"/></actuator></mujoco>"""
STEPS = 6


@pytest.fixture(scope="module")
def sim():
    sim = saltus.Simulation(MODEL)
    random = np.random.default_rng(2)
    sim.qpos[:] = displaced(sim.model, (sim.qpos.copy(), sim.qvel, sim.act), random.normal(size=2 * 10 + 1))[0]
    sim.qvel[:] = random.normal(size=10)
    return sim


@pytest.fixture(scope="module")
def motions(sim):
    return Motions(sim, STEPS, "test")


@pytest.fixture(scope="module")
def states(motions):
    return motions.held(np.random.default_rng(3).normal(size=(STEPS, 2)))


def smooth(s):
    """A cost of everything that a stage has."""
    tip, com = s.site("tip") - np.array([0.3, 0.1, 1.2]), s.com
    places = tip @ tip + np.exp(com[0]) * com[2] + tip[0] * s.body("arm")[1] + com[1] * s.qvel[2]
    state = s.qpos[3] * s.qpos[4] + s.qpos[7] ** 3 + np.sum(s.qvel**2) + s.act[0] * s.qvel[6] + s.qpos[10] * tip[2]
    return (
        places + state + s.time * s.qvel[1] + (0.0 if s.final else s.ctrl[0] * s.ctrl[1] ** 2 + s.ctrl[0] * s.qvel[0])
    )


def jumping(s):
    return smooth(s) * (2.0 if s.step % 2 else 1.0)


def test_motions_are_those_of_simulations(sim, motions, states):
    """To the bit; the policy's feedback of a displaced nominal trajectory too."""
    spans, alone = spans_of(sim.engine), saltus.Simulation(MODEL)
    alone.qpos[:], alone.qvel[:] = states[0, spans.qpos], states[0, spans.qvel]
    for k in range(STEPS):
        alone.ctrl[:] = states[k, spans.ctrl]
        alone.step()
        np.testing.assert_array_equal(alone.qpos, states[k + 1, spans.qpos])
        np.testing.assert_array_equal(alone.act, states[k + 1, spans.act])
    random = np.random.default_rng(5)
    nominal, controls = states.copy(), states[:-1, spans.ctrl]
    for row in nominal:
        state = displaced(sim.model, (row[spans.qpos], row[spans.qvel], row[spans.act]), 0.1 * random.normal(size=21))
        row[spans.qpos], row[spans.qvel], row[spans.act] = state
    k, K = random.normal(size=(STEPS, 2)), random.normal(size=(STEPS, 2, 21))
    found = motions.under(nominal, controls, k, K, 0.5)
    loop, motions._loop = motions._loop, None
    try:
        expected = motions.under(nominal, controls, k, K, 0.5)
    finally:
        motions._loop = loop
    assert loop is not None
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)  # logarithms of rotations are MuJoCo's
    assert abs(found - states).max() > 0.01


def test_derivatives_of_steps(sim, motions, states):
    """Those of each state by itself, to the bit."""
    A, B = motions.linearize(states)
    spans, alone = spans_of(sim.engine), saltus.Simulation(MODEL)
    for k in range(STEPS):
        for name in ("qpos", "qvel", "act", "ctrl"):
            getattr(alone, name)[:] = states[k, getattr(spans, name)]
        expected = alone.linearize()
        np.testing.assert_array_equal(A[k], expected[0])
        np.testing.assert_array_equal(B[k], expected[1])


def test_places_are_mujocos(sim, states):
    """Positions, to rounding, and the derivatives of each along the axes of qvel: MuJoCo's Jacobians."""
    values, m = StageValues(sim.engine, states), sim.model.mj_model
    d, J = mujoco.MjData(m), np.zeros((3, 10))
    coordinates = StageCosts(sim.model, smooth)._coordinates
    found = {name: getattr(values, kind)(*more, True) for name, kind, more in PLACES}
    for k, qpos in enumerate(values.qpos):
        d.qpos[:] = qpos
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        for name, read in (
            ("tip", lambda: (d.site("tip").xpos, mujoco.mj_jacSite(m, d, J, None, 0))),
            ("arm", lambda: (d.body("arm").xpos, mujoco.mj_jacBody(m, d, J, None, 2))),
            ("com", lambda: (d.subtree_com[0], mujoco.mj_jacSubtreeCom(m, d, J, 0))),
        ):
            at, first = found[name]
            np.testing.assert_allclose(at[k], read()[0], rtol=1e-12, atol=1e-13)
            rates = [values.rates(first + i, coordinates)[k] for i in range(3)]
            np.testing.assert_allclose(rates, J, rtol=1e-11, atol=1e-12)


PLACES = (("tip", "place", ("site", "tip")), ("arm", "place", ("body", "arm")), ("com", "com", ()))


@pytest.mark.parametrize("cost", (smooth, jumping))
def test_derivatives_of_costs(sim, states, cost):
    """Slopes are central differences of the cost, to their error; a cost that knows its stage goes stage by stage."""
    values, costs = StageValues(sim.engine, states), StageCosts(sim.model, cost)
    costs.check(values)
    slopes, curves = costs.expand(values)
    assert bool(costs.singly) == (cost is jumping)
    np.testing.assert_allclose(curves, curves.transpose(0, 2, 1), rtol=1e-13, atol=1e-15)
    for direction in range(23):
        ahead, behind = (moved(sim, states, direction, sign * STEP) for sign in (1, -1))
        read = [[float(cost(Stage(after, k, False))) for k in range(STEPS + 1)] for after in (ahead, behind)]
        differences = (np.array(read[0]) - read[1]) / (2 * STEP)
        np.testing.assert_allclose(slopes[:, direction], differences, rtol=1e-7, atol=1e-7)


STEP = 1e-5  # its square, of third derivatives, and rounding over it are 1e-10


def moved(sim, states, direction, by):
    """Values of stages that are changed along one direction."""
    spans, out, change = spans_of(sim.engine), states.copy(), by * np.eye(23)[direction]
    for row in out:
        parts = (row[spans.qpos], row[spans.qvel], row[spans.act])
        row[spans.qpos], row[spans.qvel], row[spans.act] = displaced(sim.model, parts, change[:21])
        row[spans.ctrl] += change[21:]
    return StageValues(sim.engine, out)


def test_second_derivatives_of_costs(sim, states):
    """By velocities, activations and controls they are complete: differences of slopes."""
    costs = StageCosts(sim.model, smooth)
    _, curves = costs.expand(StageValues(sim.engine, states))
    for direction in range(10, 23):
        ahead, behind = (costs.expand(moved(sim, states, direction, sign * STEP))[0] for sign in (1, -1))
        np.testing.assert_allclose(curves[:, direction], (ahead - behind) / (2 * STEP), rtol=1e-7, atol=1e-7)


def test_all_stages_at_once_are_as_stage_by_stage(sim, states):
    """Costs, slopes and curves to rounding."""
    values, together, singly = StageValues(sim.engine, states), *(StageCosts(sim.model, smooth) for _ in range(2))
    singly.singly = "for the test"
    together.check(values)
    assert together.total(values) == pytest.approx(singly.total(values), rel=1e-13)
    for found, expected in zip(together.expand(values), singly.expand(values), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert not together.singly


@pytest.mark.parametrize(
    ("cost", "why"),
    [
        (lambda s: s.qvel[0] ** 2 if s.qvel[0] > np.median(LIMITS) else 0.0, "StagesDiffer: a comparison"),
        (lambda s: s.qvel[0] * LIMITS[s.step], "list indices"),
        (lambda s: np.interp(s.time, [0, 1], [1, 2]) * s.qvel[0], "TypeError"),
        (lambda s: s.qvel[0] * LIMITS[0] ** (isinstance(s.time, float)), "other than stage by stage"),
    ],
)
def test_costs_that_go_stage_by_stage_say_why(sim, states, cost, why):
    LIMITS[:] = states[:, spans_of(sim.engine).qvel.start]
    values, costs = StageValues(sim.engine, states), StageCosts(sim.model, cost)
    costs.check(values)
    assert why in costs.singly
    total = sum(float(cost(Stage(values, k, False))) for k in range(STEPS + 1))
    assert costs.total(values) == pytest.approx(total, rel=1e-13)


LIMITS: list[float] = []
