"""Linearized steps are exact through contacts, limits, dry friction and equalities too.

Law: where no row changes its state, accelerations under soft constraints are differentiable functions of the state, by
the implicit function theorem on the gradient of the cost.

Tolerances: against differences of fourth order of our own steps, 1e-6 m or rad apart: rounding of accelerations (1e-12
of some 1e3 m/s², over a step) by 1e-6 leaves 1e-6; the impedance's curve, whose third derivative jumps, over 1e-3 m
leaves (1e-6/1e-3)² of its entries, which are a tenth of the largest. Against MuJoCo's `mjd_transitionFD`, which are
differences of second order: 1e-5 of the largest. Differences across a change of state mean nothing: such states do not
count, but few may be so.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.constraints import TYPES, complete, near, reachable, reference, tight
from helpers.files import packaged, shared

import saltus

pytestmark = pytest.mark.slow

OURS, MUJOCOS = 1e-6, 1e-5
STEP = 1e-6
OFF = 'contype="0" conaffinity="0"'
# a leg that stands, slides and is at its limits; a pendulum held by a connect and a tendon; balls that roll and spin
MECHANISM = f"""
<mujoco><option cone="{{cone}}" integrator="{{integrator}}"/><worldbody>
  <geom type="plane" size="9 9 .1" friction=".5 .02 .01" condim="3"/>
  <body pos="0 0 .6"><joint type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 0 .3" {OFF}/>
    <body><joint name="hip" axis="0 1 0" range="-20 20" damping=".5" frictionloss=".05"/>
      <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.3" {OFF}/>
      <body pos="0 0 -.3">
        <joint name="knee" axis="0 1 0" range="-5 150" frictionloss="1" solimpfriction=".9 .95 .1 .5 3"/>
        <geom name="shank" type="capsule" size=".04" fromto="0 0 0 .05 0 -.25" {{foot}}/></body></body></body>
  <body name="p" pos="2 0 1"><joint type="ball" range="0 8" damping=".01"/>
    <geom type="capsule" size=".04" fromto="0 0 0 0 0 -.3" {OFF}/><site name="a" pos="0 0 -.3"/>
    <body name="q" pos="0 0 -.3"><joint name="e" axis="1 0 0"/><geom size=".06" pos="0 .1 -.1" {OFF}/></body></body>
  <body pos="1 1 .0995"><freejoint/><geom size=".1" condim="6" {{foot}}/></body>
  <body pos="1 1.19 .0999"><freejoint/><geom size=".1" condim="4" {{foot}}/></body>
</worldbody>
<tendon><fixed name="t" range="-.05 .05" frictionloss=".1" solimpfriction=".9 .95 .1 .5 2.5">
  <joint joint="hip" coef="1"/><joint joint="e" coef=".5"/></fixed></tendon>
<equality><connect body1="q" body2="world" anchor="0 .1 -.1"/><joint joint1="knee" joint2="e" polycoef="0 .5 .3 0 0"/>
</equality>
<actuator><motor joint="hip" gear="3"/><position joint="knee" kp="20"/></actuator></mujoco>"""


def mechanism(cone="pyramidal", integrator="Euler", foot='friction=".5 .02 .01"'):
    return complete(MECHANISM.format(cone=cone, integrator=integrator, foot=foot))


def states(m, n, rng, spread=2e-3):
    """States with every kind of row at work: near qpos0, the leg put on the floor."""
    for _ in range(n):
        state = near(m, rng, spread, 0.3)
        state["qpos"][1] = -0.01 + spread * rng.random()
        state["qpos"][2:4] = (0.0, -0.1) + spread * rng.normal(size=2)
        yield state


def acting_rows(data):
    """Which piece of its cost each row is on, and what touches."""
    force, loss, kind = data.efc_force, data.efc_frictionloss, data.efc_type
    friction = np.isin(kind, (TYPES.mjCNSTR_FRICTION_DOF.value, TYPES.mjCNSTR_FRICTION_TENDON.value))
    piece = np.where(friction, np.sign(force) * (np.abs(force) >= loss), force > 0)
    piece = (piece * (kind != TYPES.mjCNSTR_EQUALITY.value)).tolist()
    for c in data.contact:
        k = c["efc_address"]
        if k >= 0 and kind[k] == TYPES.mjCNSTR_CONTACT_ELLIPTIC.value:
            across = np.linalg.norm(force[k + 1 : k + c["dim"]] / c["friction"][: c["dim"] - 1])
            piece[k + 1 : k + c["dim"]] = [across >= force[k] * (1 - 1e-9)] * (c["dim"] - 1)
    return piece, data.contact["geom1"].tolist(), data.contact["geom2"].tolist()


def stepped(sim, m, direction):
    """State after a step from the present one moved along a direction of (dq, dv, du), and which rows acted."""
    start, nv = sim.snapshot(), m.nv
    mujoco.mj_integratePos(m, sim.qpos, np.ascontiguousarray(direction[:nv]), 1.0)
    sim.qvel += direction[nv : 2 * nv]
    sim.ctrl += direction[2 * nv :]
    acting = acting_rows(sim.data)
    sim.step()
    out = sim.qpos.copy(), sim.qvel.copy(), acting
    sim.restore(start)
    return out


def differences(sim, m):
    """[A B] by central differences of fourth order; None where a row changes its state on the way."""
    nominal = stepped(sim, m, np.zeros(2 * m.nv + m.nu))
    columns = []
    for e in np.eye(2 * m.nv + m.nu):
        total = np.zeros(2 * m.nv)
        for k, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            qpos, qvel, acting = stepped(sim, m, k * STEP * e)
            if acting != nominal[2]:
                return None
            total += weight * np.concatenate([oracle.difference(m, nominal[0], qpos), qvel - nominal[1]])
        columns.append(total / (12 * STEP))
    return np.transpose(columns)


def mujocos(m, sim):
    """[A B] by mjd_transitionFD at a simulation's state."""
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:] = sim.qpos, sim.qvel, sim.ctrl
    mujoco.mj_forward(m, d)
    A, B = np.zeros((2 * m.nv, 2 * m.nv)), np.zeros((2 * m.nv, m.nu))
    mujoco.mjd_transitionFD(m, d, STEP, True, A, B, None, None)
    return np.hstack([A, B])


def assert_close(found, wanted, tolerance):
    assert np.isfinite(found).all()
    assert np.max(np.abs(found - wanted)) <= tolerance * max(1.0, np.max(np.abs(wanted)))


def compare(sim, m, given, mujoco_too=True, least=1):
    """Linearizations at states against both references; returns how many rows acted at most."""
    compared = rows = 0
    for state in given:
        for name, value in state.items():
            getattr(sim, name)[:] = value
        found = np.hstack(sim.linearize())
        assert np.isfinite(found).all()
        wanted = differences(sim, m)
        if wanted is None:
            continue
        assert_close(found, wanted, OURS)
        if mujoco_too:
            assert_close(found, mujocos(m, sim), MUJOCOS)
        compared += 1
        rows = max(rows, np.count_nonzero(sim.data.efc_force))
    assert compared >= least
    return rows


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_every_kind_of_row(cone):
    m = mechanism(cone)
    sim = saltus.Simulation(saltus.load(m))
    assert compare(sim, m, states(m, 4, np.random.default_rng(0)), least=2) > 15


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_soft_and_direct_parameters(cone):
    """A curve of the impedance with a power that is not whole, margins, and where friction is saturated."""
    foot = 'friction=".02 .001 .0001" solref="-3000 -40" solimp=".3 .95 .02 .4 2.5" margin=".01"'
    m = mechanism(cone, foot=foot)
    sim = saltus.Simulation(saltus.load(m))
    assert compare(sim, m, states(m, 4, np.random.default_rng(1)), least=2) > 10


def ball(cone, integrator="Euler"):
    geoms = '<geom type="plane" size="9 9 .1"/><body pos="0 0 .0999"><freejoint/><geom size=".1" condim="6"/></body>'
    return complete(f'<mujoco><option cone="{cone}" integrator="{integrator}"/><worldbody>{geoms}</worldbody></mujoco>')


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_where_nothing_slides(cone):
    """Straight down on a plane: no residual across the normal, where lengths have no derivative. At rest, too."""
    m = ball(cone)
    sim = saltus.Simulation(saltus.load(m))
    for speed in (-0.1, 0.0):
        sim.qvel[2] = speed
        assert compare(sim, m, [{}]) > 0


@pytest.mark.parametrize("height", [0.105, 0.2])
def test_a_contact_that_does_not_act(height):
    """Within the gap, and above the floor: the derivatives are those of free flight, which MuJoCo gives without it."""
    m = ball("elliptic")
    m.geom_gap[:] = 0.01
    sim = saltus.Simulation(saltus.load(m))
    sim.qpos[2] = height
    sim.qvel[:6] = np.random.default_rng(0).normal(size=6)
    sim.qvel[2] = 0.5
    assert sim.data.ncon == (height < 0.12) and sim.data.nefc == 0
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT.value
    assert_close(np.hstack(sim.linearize()), mujocos(m, sim), MUJOCOS)


def test_the_default_tolerance_is_enough():
    """Where the solver stops early, the last whole step makes tangents exact: to what the values' errors change."""
    m = mechanism()
    sim = saltus.Simulation(saltus.load(m))
    for name, value in next(states(m, 1, np.random.default_rng(0))).items():
        getattr(sim, name)[:] = value
    sim.step(3)
    found = np.hstack(sim.linearize())
    m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance, m.opt.ls_iterations = 1e-8, 100, 0.01, 50
    rough = saltus.Simulation(saltus.load(m))
    rough.qpos[:], rough.qvel[:], rough.ctrl[:] = sim.qpos, sim.qvel, sim.ctrl
    assert_close(np.hstack(rough.linearize()), found, 1e-5)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("integrator", ["implicit", "implicitfast", "RK4"])
def test_other_integrators(integrator, cone):
    """MuJoCo differentiates its implicit methods as we do; RK4 by our differences alone."""
    m = mechanism(cone, integrator)
    sim = saltus.Simulation(saltus.load(m))
    compare(sim, m, states(m, 4, np.random.default_rng(0)), mujoco_too=integrator != "RK4")


MODELS = {"hopper": 8, "walker": 4, "humanoid": 2}


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", MODELS)
def test_models_on_their_way(name, cone):
    path = packaged("dm_control").get(f"suite/{name}.xml") or pytest.skip("dm_control is not installed")
    run_model(path, cone, MODELS[name])


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_the_shared_humanoid(cone):
    run_model(shared("mujoco/humanoid"), cone, 2)


def run_model(path, cone, count):
    m = tight(mujoco.MjModel.from_xml_path(str(path)))
    m.opt.cone = ["pyramidal", "elliptic"].index(cone)
    model = saltus.load(m)
    sim, m = saltus.Simulation(model), reference(model)
    given = [
        {"qpos": d.qpos.copy(), "qvel": d.qvel.copy(), "ctrl": d.ctrl.copy()}
        for d in reachable(m, 4 * count, every=25)
        if d.ncon
    ]
    compare(sim, m, given[:count], least=count // 2)
