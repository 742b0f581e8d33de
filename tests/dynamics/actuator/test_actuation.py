"""Forces of actuators: every law, its limits, and the joint forces that it makes.

Reference: MuJoCo 4.0's mj_forward at random states, controls and activations.

Tolerance: 1e-9 of each force, or of 1e-3 N where the force is smaller than that: a force is a difference of terms up to
a thousand times larger, each right to 1e-14. What all actuators of a joint make together: 1e-11 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers.actuators import (
    ARM26,
    GENERAL,
    LAWS,
    NEEDED,
    ORIENTATIONS,
    SO3,
    TRANSMISSIONS,
    actuators,
    compared,
    dense_moment,
    document,
    largest_error,
    our_moment,
    output_names,
    random_states,
)
from helpers.mechanisms import with_option

import saltus
from saltus.number.kinds import lane64

TOLERANCE, SUM = 1e-9, 1e-11
# transmissions of all kinds of length: unbounded, none, on a circle, and on a tendon whose force is limited
SOME = {name: TRANSMISSIONS[name] for name in ("hinge", "free", "ball", "rotation", "weak tendon", "slider-crank")}
CIRCULAR = {name: TRANSMISSIONS[name] for name in ("ball in parent", "rotation")}
SERVOS = {name: LAWS[name] for name in LAWS if any(word in name for word in ("position", "pid", "integral", "slew"))}


def assert_mujocos(model, states, needed=NEEDED):
    """Forces actuator by actuator, rates of activations, and joint forces and accelerations, at each state."""
    names = output_names(model)
    first = model.actuator_actadr
    for found, wanted in compared(model, states, needed):
        for field in ("actuator_length", "actuator_velocity"):
            assert largest_error(found(field), getattr(wanted, field)) < SUM, field
        force, theirs = found("actuator_force"), wanted.actuator_force
        error = np.abs(force - theirs) / np.maximum(np.abs(theirs), 1e-3)
        assert np.max(error, initial=0.0) < TOLERANCE, f"{names[np.argmax(error)]}: {error.max():.1e}"
        for k in range(model.nactuator):
            if first[k] >= 0:
                own = slice(first[k], first[k] + model.actuator_actnum[k])
                error = largest_error(found("act_dot")[own], wanted.act_dot[own])
                assert error < TOLERANCE, f"{model.names('actuator')[k]}: {error:.1e}"
        assert largest_error(our_moment(model, found("moment")), dense_moment(model.mujoco, wanted)) < SUM
        for field in ("qfrc_actuator", "qacc"):
            assert largest_error(found(field), getattr(wanted, field)) < SUM, field


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.1, 5.0])
def test_every_law(speed):
    model = saltus.load(document(actuators(LAWS, SOME)))
    assert_mujocos(model, random_states(model.mujoco, 5 * lane64.width, speed=speed))


def test_motors_and_servos_alone():
    """On hinges and slides these need fewer kernels."""
    laws = {name: LAWS[name] for name in ("motor", "limited", "position", "velocity", "damper")}
    laws["affine"] = GENERAL["none, affine, affine, false"]
    model = saltus.load(document(actuators(laws, {name: TRANSMISSIONS[name] for name in ("hinge", "slide")})))
    own = model.struct().layout.features
    assert not own & NEEDED - {"tendon", "wrap"}
    assert_mujocos(model, random_states(model.mujoco, lane64.width), own)


def test_every_mixture_of_general():
    """Dynamics, gain and bias in all combinations, with the activation of the step's start or end."""
    model = saltus.load(document(actuators(GENERAL, {"hinge": TRANSMISSIONS["hinge"], "ball": TRANSMISSIONS["ball"]})))
    assert_mujocos(model, random_states(model.mujoco, 3 * lane64.width))


def test_setpoints_on_a_circle():
    """Angles without ends: setpoints many turns away."""
    model = saltus.load(document(actuators(SERVOS | GENERAL, CIRCULAR)))
    states = random_states(model.mujoco, 2 * lane64.width)
    for state in states:
        state["ctrl"] *= 20.0
        state["act"] *= 30.0
    assert_mujocos(model, states)


@pytest.mark.parametrize("scale", [0.0, 1e-9, 1.0, 20.0])
def test_orientation_servos(scale):
    """Setpoints small and large, and none at all."""
    model = saltus.load(document(actuators(SO3, ORIENTATIONS)))
    states = random_states(model.mujoco, lane64.width)
    for state in states:
        state["ctrl"] *= scale
        state["act"] *= scale
    assert_mujocos(model, states)


@pytest.mark.parametrize("where", [-1.2, -0.5, 0.0, 0.3, 0.6, 1.0, 1.4, 2.0, 3.0])
def test_curves_of_muscles(where):
    """Lengths and velocities over all pieces of the curves, and on their joints."""
    laws = {name: law for name, law in LAWS.items() if "muscle" in name}
    model = saltus.load(document(actuators(laws, {"hinge": TRANSMISSIONS["hinge"]})))
    m = model.mujoco
    hinge = model.id("joint", "hinge")
    states = random_states(m, lane64.width)
    for k, state in enumerate(states):
        state["qpos"][m.jnt_qposadr[hinge]] = where
        state["qvel"][m.jnt_dofadr[hinge]] = np.linspace(-4, 4, lane64.width)[k]
        state["act"] = np.full(m.na, (-0.2, 0.0, 0.4, 1.0, 1.2)[k % 5])
    assert_mujocos(model, states)


OPTIONS = {
    "no actuation": '<option><flag actuation="disable"/></option>',
    "no limits of controls": '<option><flag clampctrl="disable"/></option>',
    "groups": '<option actuatorgroupdisable="1 3"/>',
}


@pytest.mark.parametrize("option", OPTIONS)
def test_switches(option):
    """What the options switch off; actuators of a group that is off keep only the force that their range demands."""
    some = actuators({name: LAWS[name] for name in ("limited", "intvelocity", "muscle", "all of a motor")}, SOME)
    some += ["<motor joint='hinge' forcerange='1 2'/>", "<motor tendon='weak' gear='20'/>"]
    grouped = [element.replace(" ", f" group='{k % 4}' ", 1) for k, element in enumerate(some)]
    model = saltus.load(with_option(document(grouped), OPTIONS[option]))
    m = model.mujoco
    off = m.opt.disableactuator >> m.actuator_group & 1
    for found, wanted in compared(model, random_states(m, lane64.width)):
        assert largest_error(found("actuator_force"), wanted.actuator_force) < TOLERANCE
        assert largest_error(found("qfrc_actuator"), wanted.qfrc_actuator) < SUM
        assert largest_error(found("qacc"), wanted.qacc) < SUM
    assert bool(off.any()) == (option == "groups")


def test_forces_in_joints_and_tendons():
    """Ranges of joints' and tendons' actuator forces are met, and gravity is compensated by actuators."""
    xml = document(["<motor joint='hinge' gear='40'/>", "<motor tendon='weak'/>", "<motor tendon='weak' gear='-3'/>"])
    xml = xml.replace('name="knee"', 'name="knee" actuatorgravcomp="true"').replace(
        '<body pos="0.6', '<body gravcomp="0.7" pos="0.6'
    )
    model = saltus.load(xml)
    m = model.mujoco
    assert_mujocos(model, random_states(m, lane64.width))
    hinge = m.jnt_dofadr[model.id("joint", "hinge")]
    reached = []
    for found, _ in compared(model, random_states(m, lane64.width)):
        assert -25 <= found("qfrc_actuator")[hinge] <= 30
        reached.append(found("qfrc_actuator")[hinge] in (-25, 30))
        assert -3 - 1e-12 <= found("actuator_force")[1:].sum() <= 2 + 1e-12
    assert any(reached)


def test_arm_with_six_muscles():
    """Two joints, six muscles that go around a sphere and a cylinder, on the sides that side sites say."""
    model = saltus.load(ARM26)
    m = model.mujoco
    states = random_states(m, 5 * lane64.width)
    for k, state in enumerate(states):
        state["act"] = np.abs(np.sin(1.0 + k + np.arange(m.na)))
    assert_mujocos(model, states)
    d = mujoco.MjData(m)
    around = set()
    for state in states:
        d.qpos[:] = state["qpos"]
        mujoco.mj_forward(m, d)
        around |= set(d.ten_wrapnum.tolist())
    assert {2, 3, 4, 5, 7} <= around  # with two sites or three, and none, one or two geoms
