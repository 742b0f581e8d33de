"""The implicit integrators with actuators of every kind, and with tendons that damp.

Law: (M - h D) a = f with D = d(force)/d(velocity) of the actuators' laws through their transmissions and of dampers,
less what is at a limit, as far as M's pattern goes (MuJoCo 4.0 documentation, Computation, "Numerical integration").

Reference: MuJoCo 4.0: its qDeriv at random states, and its mj_step.

Tolerance: 1e-10 of the largest entry of D, which is a sum of some hundred products of moment arms with slopes. After 50
steps 1e-9 of the largest coordinate: one step agrees to some 1e-13, which the motion carries along.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.actuators import (
    ARM26,
    GENERAL,
    LAWS,
    NEEDED,
    ORIENTATIONS,
    SO3,
    TRANSMISSIONS,
    actuators,
    document,
    largest_error,
    random_states,
)
from helpers.cases import same_bits
from helpers.states import lanes

import saltus
from saltus.dynamics.smooth import force_stage, position_stage
from saltus.dynamics.tree.inertia import composite_inertia
from saltus.integrate.implicit import implicit, implicitfast
from saltus.model.layout import model_layout
from saltus.number.kernels import Entry
from saltus.number.kinds import lane64

TOLERANCE, MOTION = 1e-10, 1e-9
FEATURES = NEEDED | {"tendon_force"}  # of all models here, so that they share their kernels
INTEGRATORS = {
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT.value,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value,
}
DERIVATIVE = Entry(
    "derivative_alone",
    "fast",
    "position_stage(m, d, 1)\nforce_stage(m, d, 1)\ncomposite_inertia(m, d)\nderivative(m, d, fast)",
    position_stage=position_stage,
    force_stage=force_stage,
    composite_inertia=composite_inertia,
    derivative=implicit.derivative,
)
STEPS = {
    name: Entry(f"steps_alone_{name}", "n, h", "for _ in range(n):\n    step(m, d, h)", step=module.step)
    for name, module in {"implicit": implicit, "implicitfast": implicitfast}.items()
}
DAMPED = document(["<motor joint='knee' damping='0.3'/>"])
for tendon in ("fixed", "spatial", "weak"):
    DAMPED = DAMPED.replace(f'name="{tendon}"', f'name="{tendon}" damping="2 0.5 0.3"')
# what MuJoCo knows to be a diagonal inertia: its implicitfast takes no more of D
SIMPLE = """
<mujoco><worldbody><site name="wall" pos="-0.3 0.2 0.1"/>
  <body><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom size="0.1"/><site name="ball"/></body>
  <body pos="1 0 0"><freejoint/><geom size="0.1 0.2 0.3" type="ellipsoid"/><site name="free" pos="0.1 0.2 0"/></body>
</worldbody><tendon><spatial damping="30"><site site="wall"/><site site="ball"/></spatial>
  <spatial damping="10"><site site="wall"/><site site="free"/></spatial></tendon>
<actuator><general site="free" refsite="wall" gear="1 0.3 0.2 0.1 0.5 0" biastype="affine" biasprm="0 -5 -3"/>
</actuator></mujoco>"""
SOME = {name: TRANSMISSIONS[name] for name in ("hinge", "free", "ball", "rotation", "weak tendon", "slider-crank")}


def load(xml, integrator="implicit"):
    """The model, and MuJoCo's without constraints and with an integrator."""
    model = saltus.load(xml)
    m = oracle.reference(model)
    m.opt.integrator = INTEGRATORS[integrator]
    return model, m


def shared(model):
    """The kernels' Model without constraints, with the features that all models of these tests share."""
    struct = copy.copy(model.struct())
    struct.layout = model_layout(frozenset(FEATURES))
    return struct


def memory(model, states):
    data = lanes(model, states, implicit=True)
    data.views["timestep"][...] = model.opt.timestep
    return data


def derivatives(model, states, fast):
    """D [nv, nv] in each lane."""
    data, s = memory(model, states), shared(model)
    DERIVATIVE(s, data, fast)
    rows = np.repeat(np.arange(model.nv), s.M_rownnz)
    for lane in range(len(states)):
        D = np.zeros((model.nv, model.nv))
        D[s.M_colind, rows] = -data.upper[:, lane]
        D[rows, s.M_colind] = -data.lower[:, lane]
        diagonal = data.qfrc_actuator_slope - data.qfrc_damper_slope
        yield D + np.diag(diagonal[:, lane])


def mujocos(m, state):
    """MuJoCo's D [nv, nv]."""
    d = oracle.forward(m, state)
    mujoco.mj_implicit(m, d)
    D = np.zeros((m.nv, m.nv))
    mujoco.mju_sparse2dense(D, d.qDeriv, m.D_rownnz, m.D_rowadr, m.D_colind)
    return D


def undecided(m, d):
    """Whether a torque of an orientation servo was scaled to its limit: MuJoCo then leaves it to rounding."""
    limited = [slice(o, o + 3) for o in m.actuator_outadr[(m.actuator_outnum == 3) & (m.actuator_forcelimited == 1)]]
    ranges = m.actuator_forcerange[(m.actuator_outnum == 3) & (m.actuator_forcelimited == 1), 1]
    return any(np.linalg.norm(d.actuator_force[o]) > most - 1e-12 for o, most in zip(limited, ranges, strict=True))


def assert_same_motion(xml, integrator, states, steps=50):
    """Steps from each state, a lane each."""
    model, m = load(xml, integrator)
    data = memory(model, states)
    STEPS[integrator](shared(model), data, steps, model.opt.timestep)
    for lane, state in enumerate(states):
        d = mujoco.MjData(m)
        for name, value in state.items():
            getattr(d, name)[:] = value
        for _ in range(steps):
            mujoco.mj_step(m, d)
        assert np.all(np.isfinite(d.qvel)) and not d.warning.number.any()
        for field in ("qpos", "qvel", "act"):
            error = largest_error(data.views[field][..., lane], getattr(d, field), 1.0)
            assert error <= MOTION, (field, lane, error)


def gentle(m, seed=4, speed=0.5):
    """A state for each lane, with moderate velocities."""
    return random_states(m, lane64.width, seed, speed)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.1, 3.0])
@pytest.mark.parametrize("kind", [*LAWS, *GENERAL])
def test_derivative_of_every_law(kind, speed):
    """Also at controls beyond their ranges, and at forces at their limits."""
    law = (LAWS | GENERAL)[kind]
    model, m = load(document(actuators({kind: law}, SOME)), "implicitfast")
    group = random_states(m, lane64.width, speed=speed)
    for D, state in zip(derivatives(model, group, 1), group, strict=True):
        assert largest_error(D, mujocos(m, state)) <= TOLERANCE


@pytest.mark.parametrize("transmissions", [TRANSMISSIONS, ORIENTATIONS], ids=["one output", "orientations"])
def test_derivative_of_every_transmission(transmissions):
    """With the derivative of the bias too, as `implicit` takes it."""
    laws = {"law": LAWS["velocity"]} if transmissions is TRANSMISSIONS else SO3
    for name, t in transmissions.items():
        model, m = load(document(actuators(laws, {name: t})))
        group = random_states(m, lane64.width)
        for D, state in zip(derivatives(model, group, 0), group, strict=True):
            if not undecided(m, oracle.forward(m, state)):
                assert largest_error(D, mujocos(m, state)) <= TOLERANCE, name


@pytest.mark.parametrize("xml", [DAMPED, SIMPLE], ids=["tendons", "simple bodies"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_damping_tendons(xml, integrator):
    assert_same_motion(xml, integrator, gentle(saltus.load(xml).mujoco))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_of_joints_and_tendons(integrator):
    """Nothing of an actuator whose joint's or tendon's total is at its limit; opposed actuators count together."""
    both = ["<velocity joint='hinge' kv='9'/>", "<position joint='hinge' kp='20' kv='3'/>"]
    both += ["<velocity tendon='weak' kv='5'/>", "<position tendon='weak' kp='3' kv='4' gear='-0.7'/>"]
    xml = document([*both, "<velocity tendon='fixed' kv='2'/>"])
    model, m = load(xml, integrator)
    group = random_states(m, 8 * lane64.width, speed=2.0)
    limited = 0
    for start in range(0, len(group), lane64.width):
        part = group[start : start + lane64.width]
        for D, state in zip(derivatives(model, part, integrator == "implicitfast"), part, strict=True):
            wanted = mujocos(m, state)
            assert largest_error(D, wanted) <= TOLERANCE
            limited += np.abs(oracle.forward(m, state).qfrc_actuator[-1]) >= 25.0
    assert 0 < limited < len(group)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_fifty_steps_of_an_arm_with_muscles(integrator):
    model = saltus.load(ARM26)
    rng = np.random.default_rng(8)
    group = [
        {
            "qpos": rng.uniform(0.3, 1.8, 2),
            "qvel": rng.normal(size=2),
            "ctrl": rng.uniform(-0.2, 1.2, model.nu),
            "act": rng.uniform(0, 1, model.na),
        }
        for _ in range(lane64.width)
    ]
    assert_same_motion(ARM26, integrator, group)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    "transmission", ["spatial tendon", "fixed tendon", "both", "to the world", "ball", "slider-crank"]
)
def test_fifty_steps_of_servos(integrator, transmission):
    """Strong velocity feedback through moment arms."""
    xml = document(actuators({"servo": "<position {t} kp='60' kv='20'/>"}, {"it": TRANSMISSIONS[transmission]}))
    assert_same_motion(xml, integrator, gentle(saltus.load(xml).mujoco))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_fifty_steps_of_motors_and_states(integrator):
    laws = ("all of a motor", "winding", "filtered position", "integral", "strong muscle")
    elements = [
        element
        for law, where in zip(laws, ("hinge", "slide", "fixed tendon", "ball", "spatial tendon"), strict=True)
        for element in actuators({law: LAWS[law]}, {where: TRANSMISSIONS[where]})
    ]
    elements += actuators({"orientation": next(iter(SO3.values()))}, {"turn": ORIENTATIONS["two sites"]})
    xml = document(elements)
    assert_same_motion(xml, integrator, gentle(saltus.load(xml).mujoco))


def test_lanes_are_alone():
    """Bit for bit the same whatever the neighbours do."""
    model = saltus.load(DAMPED)
    group = gentle(model.mujoco)
    order = np.random.default_rng(1).permutation(lane64.width)
    for integrator, entry in STEPS.items():
        first, second = memory(model, group), memory(model, [group[k] for k in order])
        for data in (first, second):
            entry(shared(model), data, 3, 0.002)
        for field in ("qpos", "qvel"):
            ours = np.ascontiguousarray(first.views[field][..., order])
            assert same_bits(np.ascontiguousarray(second.views[field]), ours), integrator
