"""What the equations take from a model, what they refuse by name, and what they leave out and say so."""

import warnings

import numpy as np
import pytest
import sympy

import saltus
from saltus.symbolic import derive
from saltus.symbolic.derivation.mechanism import mechanism
from saltus.symbolic.twin import compare_with_engine

HEAD = '<mujoco model="test"><compiler angle="radian"/>'
BODY = '<body name="bob"><joint name="hinge"/><geom size="0.1" pos="0.3 0 0" contype="0" conaffinity="0"/>{}</body>'


def model(inside="", outside="", head=""):
    return f"{HEAD}{head}<worldbody>{BODY.format(inside)}</worldbody>{outside}</mujoco>"


CHILD = '<body name="child" pos="1 0 0"><joint name="two"/><geom size="0.1" contype="0" conaffinity="0"/></body>'
REFUSED = {
    "connect": (
        model(CHILD, '<equality><connect name="ring" body1="child" anchor="0 0 0"/></equality>'),
        "equality 'ring': .*no place in the equations of a tree of joints; leave it out with ignore=\\['equality'\\]",
    ),
    "coupling": (
        model(CHILD, '<equality><joint name="gears" joint1="hinge" joint2="two"/></equality>'),
        "equality 'gears': ",
    ),
    "tendon": (
        model(CHILD, '<tendon><fixed name="cord" stiffness="3"><joint joint="hinge" coef="1"/></fixed></tendon>'),
        "tendon 'cord': ",
    ),
    "medium": (model(head='<option density="1000"/>'), "density"),
    "gravity compensation": (
        model().replace('"bob"', '"bob" gravcomp="0.5"'),
        "body 'bob': gravity compensation is not in the equations",
    ),
    "mocap": (
        f'{HEAD}<worldbody>{BODY.format("")}<body name="hand" mocap="true"><geom size="0.1"/></body>'
        "</worldbody></mujoco>",
        "body 'hand': mocap bodies are not in the equations",
    ),
    "site actuator": (
        model('<site name="tip"/>', '<actuator><general name="jet" site="tip" gear="1 0 0 0 0 0"/></actuator>'),
        "actuator 'jet': only actuators on hinge, slide and ball joints",
    ),
    "tendon actuator": (
        model(
            "",
            '<tendon><fixed name="cord"><joint joint="hinge" coef="1"/></fixed></tendon>'
            '<actuator><motor name="pull" tendon="cord"/></actuator>',
        ),
        "actuator 'pull': only actuators on hinge, slide and ball joints",
    ),
    "ball spring": (
        model().replace('name="hinge"', 'name="socket" type="ball" stiffness="2"'),
        "joint 'socket': springs of free and ball joints are not in the equations",
    ),
    "nothing": (f'{HEAD}<worldbody><geom size="0.1"/></worldbody></mujoco>', "'test': has no degree of freedom"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_place_in_the_equations_is_refused_by_name(case):
    xml, message = REFUSED[case]
    with pytest.raises(saltus.ModelError, match=message):
        derive(xml)


def test_what_is_refused_can_be_left_out():
    xml, _ = REFUSED["connect"]
    assert compare_with_engine(derive(saltus.load(xml, ignore=["equality"])), 2).agrees()


def test_every_geom_that_may_touch_is_listed():
    """MuJoCo's filters: geoms of all bodies but the one whose contype and conaffinity are 0."""
    balls = "".join(
        f'<body name="b{k}" pos="{k} 0 0"><joint/><geom name="ball{k}" size="0.1" mass="1"/>'
        f'<geom name="ghost{k}" size="0.1" contype="0" conaffinity="0"/></body>'
        for k in range(6)
    )
    xml = f'<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>{balls}</worldbody></mujoco>'
    with pytest.warns(saltus.SaltusWarning, match="geom ball5"):
        e = derive(xml)
    assert e.left_out == ("contacts: geom floor, " + ", ".join(f"geom ball{k}" for k in range(6)),)


@pytest.mark.parametrize(
    "joint, geom, message",
    [
        ('range="-1 1"', "", "test: limits of joints: joint hinge"),
        ('frictionloss="0.5"', "", "test: dry friction: joint hinge"),
        ('actuatorfrcrange="-1 1"', "", "test: limits of what actuators do to joints: joint hinge"),
        ("", '<geom name="floor" type="plane" size="1 1 1"/>', "test: contacts: geom "),
    ],
)
def test_what_acts_at_times_is_said_and_left_out(joint, geom, message):
    xml = model("", '<actuator><motor joint="hinge"/></actuator>').replace('name="hinge"', f'name="hinge" {joint}')
    if geom:
        xml = xml.replace("<worldbody>", f"<worldbody>{geom}").replace('contype="0" conaffinity="0"', "")
    with pytest.warns(saltus.SaltusWarning, match=message):
        e = derive(xml)
    assert len(e.left_out) == 1 and compare_with_engine(e, 2).agrees()


def test_no_warning_without_cause():
    with warnings.catch_warnings():
        warnings.simplefilter("error", saltus.SaltusWarning)
        assert derive(model()).left_out == ()
        assert derive(saltus.load("bouncing_ball", ignore=["contact"])).left_out == ()


# ------------------------------------------------------------ actuators

KINDS = """<actuator>{}</actuator>"""


@pytest.mark.parametrize(
    "actuator, force",
    [
        ('<motor name="a" joint="hinge" gear="3"/>', lambda u, q, v: 3 * u),
        ('<position name="a" joint="hinge" kp="5" kv="2"/>', lambda u, q, v: 5 * u - 5 * q - 2 * v),
        ('<velocity name="a" joint="hinge" kv="4" gear="2"/>', lambda u, q, v: 2 * (4 * u - 4 * 2 * v)),
        (
            '<general name="a" joint="hinge" gaintype="affine" gainprm="2 3 4" biastype="affine" biasprm="1 -1 -2"/>',
            lambda u, q, v: (2 + 3 * q + 4 * v) * u + 1 - q - 2 * v,
        ),
    ],
)
def test_laws_of_actuators(actuator, force):
    """Force = gain u + bias, gain and bias linear in (1, length, velocity), times the gear."""
    e = derive(model("", KINDS.format(actuator)))
    (u,) = e.inputs
    assert sympy.expand(e.actuation[0] - force(u, e.q[0], e.v[0])) == 0
    assert e.inputs[u] == "control of actuator a"


def test_motors_are_called_as_in_books():
    names = lambda m: [str(s) for s in derive(m).inputs]  # noqa: E731
    assert names("pendulum") == ["tau"] and names("cart_pole") == ["F"] and names("double_pendulum") == ["tau1", "tau2"]
    geared = '<motor name="left" joint="hinge" gear="2"/><motor name="my motor" joint="hinge"/>'
    assert names(model("", KINDS.format(geared))) == ["u_left", "tau"]


@pytest.mark.parametrize(
    "actuator",
    [
        '<motor name="a" joint="hinge" forcerange="-1 1"/>',
        '<general name="a" joint="hinge" dyntype="filter" dynprm="0.1"/>',
        '<muscle name="a" joint="hinge" lengthrange="-1 1"/>',
    ],
)
def test_other_laws_are_unknown_forces(actuator):
    """They come from outside, as inputs; the comparison puts the engine's in."""
    e = derive(model("", KINDS.format(actuator)))
    assert {str(s): text for s, text in e.inputs.items()} == {"force_a": "force of actuator a"}
    (motor,) = e.mechanism.motors
    assert motor.gain is None
    assert [str(x) for x in e.actuation] == ["force_a"]


def test_comparison_with_a_law_of_the_engines():
    xml = model("", KINDS.format('<motor joint="hinge" gear="2" forcerange="-0.5 0.5"/>'))
    assert compare_with_engine(derive(xml), 5).agrees()


def test_actuators_on_balls_have_three_gears():
    xml = model("", '<actuator><motor name="a" joint="hinge" gear="1 2 3"/></actuator>')
    e = derive(xml.replace('name="hinge"', 'name="hinge" type="ball"'))
    (u,) = e.inputs
    assert e.actuation == sympy.Matrix([u, 2 * u, 3 * u])


# ------------------------------------------------------------ forces of joints and numbers


def test_polynomial_springs_and_dampers():
    """-k1 x - k2 x² - ... as the file gives them, dampers with the rate's sign; against the engine and by hand."""
    xml = model().replace('name="hinge"', 'name="hinge" stiffness="3 2 1" springref="0.25" damping="0.5 0.25 0.125"')
    e = derive(xml)
    x, v = e.q[0] - sympy.Rational(1, 4), e.v[0]
    spring = -(3 * x + 2 * x**2 + x**3)
    damper = -v * (sympy.Rational(1, 2) + sympy.Rational(1, 4) * sympy.Abs(v) + v**2 / 8)
    assert sympy.expand(e.passive[0] - spring - damper) == 0
    assert compare_with_engine(e, 5).agrees()


def test_point_masses_have_no_inertia():
    """1e-15 kg m², the least that MuJoCo takes, stands for nothing."""
    e = derive("double_pendulum", parameters="symbols")
    assert not any(str(s).startswith("I") for s in e.parameters)
    assert derive("pendulum").M[0] == 8


def test_the_mechanism_is_the_models():
    tree = mechanism(saltus.load("arm"))
    assert [body.name for body in tree.bodies] == ["world", "upper_arm", "forearm"]
    assert tree.nv == 2 and [joint.name for joint in tree.joints] == ["shoulder", "elbow"]
    assert tree.bodies[2].pos == (sympy.Rational(1, 2), 0, 0)
    with pytest.raises(KeyError, match="no body 'hand'; there are: world, upper_arm, forearm"):
        tree.body("hand")


def test_ranges_of_controls():
    xml = model("", '<actuator><motor name="a" joint="hinge" ctrlrange="-2 5"/></actuator>')
    (limit,) = derive(xml).limits
    assert (limit.name, limit.low, limit.high) == ("actuator a", -2.0, 5.0)
    assert np.isfinite([limit.low, limit.high]).all()
