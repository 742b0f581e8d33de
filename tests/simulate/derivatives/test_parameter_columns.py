"""Parameters by which a step has no derivative are refused by name, with the reason. Nothing here is compiled."""

import pytest
from helpers.parametric import PARAMETRIC

import saltus
from saltus.errors import OptionError
from saltus.simulate.derivatives.parameter_columns import step_columns

FLUID = """
<mujoco><option density="1000"/><worldbody><body><joint name="j"/><geom name="g" size="0.1" pos="0.2 0 0"/></body>
</worldbody></mujoco>"""
MESH = """
<mujoco><asset><mesh name="m" vertex="0.1 0 -0.1 -0.1 0.1 -0.1 -0.1 -0.1 -0.1 0 0 0.1"/></asset><worldbody>
<geom type="plane" size="1 1 1"/><body name="b"><freejoint/><geom name="g" type="mesh" mesh="m" mass="1"/></body>
</worldbody></mujoco>"""
FIELD = """
<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 0.2 0.1" elevation="0 0.1 0 0.2"/></asset><worldbody>
<geom type="hfield" hfield="h"/><body pos="0 0 1"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>"""
MOTOR = """
<mujoco><worldbody><body><joint name="j"/><geom size="0.1" pos="0.2 0 0"/></body></worldbody>
<actuator><dcmotor name="motor" joint="j" motorconst="0.1" resistance="1.0"/></actuator></mujoco>"""
CLOTH = """
<mujoco><worldbody><flexcomp name="f" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" dim="2" radius="0.01" mass="1">
<edge equality="true"/></flexcomp>
</worldbody></mujoco>"""


def names(source, *parameters, **options):
    return [column.name for column in step_columns(saltus.Simulation(source, "euler", **options).engine, parameters)]


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        (PARAMETRIC, "geom_solimp[ball][4]", "the power of the impedance selects its formula"),
        (PARAMETRIC, "tendon_solimp_lim[rope][4]", "the power of the impedance selects its formula"),
        (PARAMETRIC, "dof_frictionloss[turn]", "without dry friction in the file"),
        (PARAMETRIC, "tendon_frictionloss[rope]", "without dry friction in the file"),
        (PARAMETRIC, "actuator_armature[pull]", "inertia of a tendon without any"),
        (FLUID, "body_mass[#1]", "the shape on which the medium acts"),
        (FLUID, "geom_size[g]", "the shape on which the medium acts"),
        (MESH, "geom_size[g]", "its shape is not made from its size"),
        (FIELD, "geom_size[box]", "contacts with #0 are searched, without derivatives by sizes"),
        (FIELD, "geom_size[#0]", "its shape is not made from its size"),
        (MOTOR, "actuator_gainprm[motor]", "zero leaves a part of the motor or servo out"),
        (CLOTH, "body_mass[#1]", "deformable bodies take it as a constant"),
    ],
)
def test_without_derivative(source, name, reason):
    with pytest.raises(OptionError, match=rf"has no derivative here: {reason}"):
        names(source, name)


def test_numbers_that_a_law_of_muscles_replaces():
    muscle = saltus.HillMuscle(max_isometric_force=100.0, optimal_fiber_length=0.1, tendon_slack_length=0.2)
    xml = MOTOR.replace(
        '<dcmotor name="motor" joint="j" motorconst="0.1" resistance="1.0"/>',
        '<muscle name="motor" joint="j" lengthrange="0 1"/>',
    )
    model = saltus.load(xml, muscles={"motor": muscle})
    with pytest.raises(OptionError, match="laws of muscles replace those of actuators"):
        names(model, "actuator_gear[motor][0]")
    assert names(model, "body_mass[#1]")


def test_their_neighbours_have_one():
    assert names(PARAMETRIC, "dof_frictionloss[hip]", "geom_solimp[ball][3]", "actuator_armature[damped]")
    assert names(FLUID, "opt.gravity", "dof_damping[j]")
    assert names(FIELD, "body_mass", "geom_pos[box]")
    assert names(MOTOR, "actuator_gainprm[motor][0]")
    assert names(CLOTH, "opt.gravity")


@pytest.mark.parametrize(
    ("parameters", "options", "text"),
    [
        ("geom_type", {}, r"'geom_type'.*body_mass"),
        ("control_prm", {}, "control_prm: the simulation has no controller"),
        ("geom_static_friction[g]", {}, r"no derivatives are taken by static friction.*run again with"),
        ("PID.kp", {}, "PID.kp: the simulation has no controller"),
        ("PID.gain", {"control": saltus.PID(kp=1.0)}, "'gain'.*kp"),
        ("geom_type", {"control": saltus.PID(kp=1.0)}, "'geom_type'.*control_prm"),
    ],
)
def test_unknown_names(parameters, options, text):
    with pytest.raises(OptionError, match=text):
        names(MOTOR, parameters, **options)


def test_users_equations_hold_numbers():
    dynamics = saltus.derive("pendulum").simulation().dynamics
    with pytest.raises(OptionError, match="equations of motion hold the model's numbers as constants"):
        names("pendulum", "body_mass", dynamics=dynamics)


def test_steps_over_impacts_and_soft_contact_in_adaptive_steps_have_no_derivatives():
    with pytest.raises(OptionError, match="moreau_jean steps over impacts"):
        saltus.Simulation("bouncing_ball", "moreau_jean", contact="hard").linearize(parameters="opt.gravity")
    with pytest.raises(OptionError, match="soft contacts and limits begin and end inside the steps of dopri5"):
        saltus.Simulation("bouncing_ball", "dopri5").linearize(parameters="opt.gravity")
    with pytest.raises(OptionError, match="parameters must be a list"):
        saltus.Simulation("chain", "euler").linearize(parameters=3)


def test_the_noslip_solver_has_none():
    sim = saltus.Simulation(FIELD.replace("<asset>", '<option noslip_iterations="3"/><asset>'), "euler")
    with pytest.raises(OptionError, match="noslip solver; leave noslip_iterations at 0"):
        sim.linearize()
