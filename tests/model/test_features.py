"""Features that have an effect on motion and are not simulated: refused by element and name, or left out and recorded.

Reference: MuJoCo's rules of which geoms collide (Computation chapter, Collision: Selection), by `mj_collision` itself.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.model import features
from saltus.model.contact import collisions

GEOM = "<geom size='.1' contype='0' conaffinity='0'/>"

BALL = "<geom type='plane' size='1 1 1'/><body><freejoint/><geom name='ball' size='.1'/></body>"


def body(inside, name="b"):
    return f"<body name='{name}'><joint name='j_{name}'/>{inside}{GEOM}</body>"


def document(worldbody, rest="", option=""):
    return f"<mujoco><option>{option}</option><worldbody>{worldbody}</worldbody>{rest}</mujoco>"


CASES = {
    "contact": (
        document(
            "<geom name='floor' type='plane' size='1 1 1'/><body><freejoint/><geom name='ball' size='.1'/></body>"
        ),
        "geom",
        "ball",
    ),
    "limit": (document(f"<body><joint name='knee' range='-1 1' limited='true'/>{GEOM}</body>"), "joint", "knee"),
    "frictionloss": (document(f"<body><joint name='rusty' frictionloss='.1'/>{GEOM}</body>"), "joint", "rusty"),
    "equality": (document(body(""), "<equality><joint name='lock' joint1='j_b'/></equality>"), "equality", "lock"),
    "tendon": (
        document(body(""), "<tendon><fixed name='cord' stiffness='3'><joint joint='j_b' coef='1'/></fixed></tendon>"),
        "tendon",
        "cord",
    ),
    "actuator": (
        document(body(""), "<actuator><general name='drive' joint='j_b' gaintype='user'/></actuator>"),
        "actuator",
        "drive",
    ),
    "fluid": (
        "<mujoco><option density='1.2'/><worldbody>" + body("") + "</worldbody></mujoco>",
        "option",
        "density, viscosity",
    ),
    "sleep": (
        document(BALL, option="<flag sleep='enable'/>").replace("<option>", "<option solver='PGS'>"),
        "flag",
        "sleep",
    ),
    "flex": (
        document(
            "<flexcomp name='shell' type='grid' count='3 3 3' spacing='.1 .1 .1' radius='.01' dim='3' mass='1'"
            " dof='trilinear'><elasticity young='1e5' thickness='.01' elastic2d='both'/></flexcomp>"
        ),
        "flex",
        "shell",
    ),
    "plasticity": (
        document(f"<body><joint name='bent' type='hinge' stiffness='2' springyield='.1'/>{GEOM}</body>"),
        "joint",
        "springyield",
    ),
    "adhesion": (document(BALL.replace("name='ball'", "name='ball' adhesion='1'")), "geom", "ball"),
    "noslip": (
        document(BALL).replace("<option>", "<option noslip_iterations='3'>"),
        "option",
        "noslip_iterations",
    ),
    "diagexact": (document(BALL, option="<flag diagexact='enable'/>"), "flag", "diagexact"),
    "speculative": (document(BALL, option="<flag speculative='enable'/>"), "flag", "speculative"),
}


# laws of actuators that are functions of the user's
ACTUATORS = {
    "dynamics": "<general name='a' joint='j_b' dyntype='user'/>",
    "gain": "<general name='a' joint='j_b' gaintype='user'/>",
    "bias": "<general name='a' joint='j_b' biastype='user'/>",
}


@pytest.mark.parametrize("actuator", ACTUATORS)
def test_actuators_that_are_not_simulated(actuator):
    xml = document(body(""), f"<actuator>{ACTUATORS[actuator]}</actuator>")
    with pytest.raises(saltus.ModelError, match="not simulated yet") as caught:
        saltus.load(xml)
    assert (caught.value.element, caught.value.name) == ("actuator", "a")
    # left out, it exerts no force
    sim = saltus.Simulation(saltus.load(xml, ignore=["actuator"]))
    sim.ctrl[:] = 1.0
    assert not sim.data.qfrc_actuator.any()


@pytest.mark.parametrize("flag", ["limit", "frictionloss", "equality", "actuation"])
def test_what_a_flag_disables_is_no_matter(flag):
    kind = {"actuation": "actuator"}.get(flag, flag)
    xml = CASES[kind][0].replace("<option></option>", f"<option><flag {flag}='disable'/></option>")
    assert saltus.load(xml).ignored == ()


FORCES = {"tendon": "tendon_force", "fluid": "fluid", "adhesion": "adhesive"}  # what they need compiled
SIMULATED = ("contact", "limit", "frictionloss", "equality", *FORCES)


@pytest.mark.parametrize("kind", SIMULATED)
def test_simulated_unless_left_out(kind):
    """Without `ignore` nothing is left out and the model has something that constrains or drives it; not with it."""
    xml, _, name = CASES[kind]
    word = FORCES.get(kind, "constraint")
    assert saltus.load(xml).ignored == ()
    assert word in saltus.load(xml).struct().layout.features
    left = saltus.load(xml, ignore=[kind])
    assert word not in left.struct().layout.features
    assert any(entry.startswith(kind) and name in entry for entry in left.ignored)


@pytest.mark.parametrize("kind", [kind for kind in CASES if kind not in (*SIMULATED, "noslip")])
def test_refused_by_element_and_name(kind):
    xml, element, name = CASES[kind]
    with pytest.raises(saltus.ModelError, match="not simulated yet") as caught:
        saltus.load(xml)
    assert (caught.value.element, caught.value.name) == (element, name)
    assert kind in str(caught.value)


@pytest.mark.parametrize("kind", CASES)
def test_left_out_on_request_and_recorded(kind):
    xml, _, name = CASES[kind]
    model = saltus.load(xml, ignore=[kind])
    assert any(kind in entry and name in entry for entry in model.ignored)


def test_unknown_word_in_ignore():
    with pytest.raises(saltus.OptionError, match="did you mean 'contact'"):
        saltus.load("pendulum", ignore=["contract"])


def test_plurals_and_all_constraints_together():
    assert features.ignored_kinds(["contacts", "equalities", "frictionloss"]) == {"contact", "equality", "frictionloss"}
    assert features.ignored_kinds("constraints") == {"contact", "limit", "frictionloss", "equality"}


def test_the_message_lists_all_that_must_be_left_out():
    bent = f"<body><joint stiffness='2' springyield='.1'/>{GEOM}</body>"
    xml = CASES["actuator"][0].replace("</worldbody>", f"{bent}</worldbody>")
    with pytest.raises(saltus.ModelError, match=r"ignore=\['actuator', 'plasticity'\]"):
        saltus.load(xml)


@pytest.mark.parametrize("flag", ["contact", "constraint"])
def test_a_file_whose_flags_disable_contacts_loads(flag):
    xml = CASES["contact"][0].replace("<option></option>", f"<option><flag {flag}='disable'/></option>")
    assert saltus.load(xml).ignored == ()


def test_what_does_not_move_anything_is_no_matter():
    visual = "<asset><texture name='t' type='2d' builtin='checker' width='8' height='8'/></asset>"
    sensor = "<sensor><jointpos joint='j_b'/></sensor>"
    xml = document("<camera name='eye'/><light/>" + body("<site name='s'/>"), visual + sensor)
    assert saltus.load(xml).ignored == ()


def random_scene(rng):
    """Bodies in a tree with random collision masks, all in one place."""
    text, open_bodies = "<geom size='.2'/>", 0
    for _ in range(6):
        if open_bodies and rng.random() < 0.5:
            text += "</body>" * open_bodies
            open_bodies = 0
        joint = "<joint/>" if rng.random() < 0.7 or not open_bodies else ""
        masks = f"contype='{rng.integers(4)}' conaffinity='{rng.integers(4)}'"
        text += f"<body>{joint}<geom size='.2' {masks}/>"
        open_bodies += 1
    return document(text + "</body>" * open_bodies)


@pytest.mark.parametrize("number", range(30))
def test_bodies_that_may_touch_are_those_that_mujoco_lets_collide(number):
    m = mujoco.MjModel.from_xml_string(random_scene(np.random.default_rng(number)))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    found = {tuple(sorted((int(m.geom_bodyid[c.geom1]), int(m.geom_bodyid[c.geom2])))) for c in d.contact}
    assert {tuple(map(int, pair)) for pair in collisions.touching_bodies(m)} == found
