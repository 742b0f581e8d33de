"""Which geoms may touch, and under which law: MuJoCo's contacts have the same geoms and parameters.

Law: MuJoCo's filters and mixing rules (documentation, Computation: Collision: Selection; Solver parameters; Contact
override). Reference: the contacts that MuJoCo 4.0 itself lists when everything overlaps. Equality is of numbers that
are copied or averaged: 1e-15.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete

import saltus
from saltus.model.contact import collisions

TYPES = ["sphere", "capsule", "box", "cylinder", "ellipsoid"]


def attributes(rng, *, priority=False):
    """Random parameters of a geom; every other in the direct format."""
    solref = "{:.3} {:.3}".format(*rng.uniform(0.01, 1, 2) if rng.random() < 0.6 else -rng.uniform(1, 99, 2))
    solimp = "{:.3} {:.3} {:.3} {:.3} {:.3}".format(*rng.uniform(0.1, 0.9, 5) + [0, 0, 0, 0, 1])
    friction = "{:.3} {:.3} {:.3}".format(*rng.uniform(0, 1, 3))
    text = f'solref="{solref}" solimp="{solimp}" friction="{friction}" condim="{rng.choice([1, 3, 4, 6])}"'
    text += f' margin="{rng.uniform(-0.01, 0.1):.3}" gap="{rng.uniform(0, 0.1):.3}"'
    text += f' solmix="{rng.choice([0, 1e-16, 0.5, 1, 3])}"'
    return text + (f' priority="{rng.integers(-1, 2)}"' if priority else "")


def scene(rng, *, priority=False, option="", pairs=0):
    """Geoms of many kinds on bodies of a tree and free ones, all in one place, with some masks and named pairs."""
    text, names = '<geom name="g0" type="plane" size="1 1 1"/>', ["g0"]
    for _ in range(8):
        geoms = ""
        for _ in range(rng.integers(1, 3)):
            names.append(f"g{len(names)}")
            masks = f'contype="{rng.integers(1, 4)}" conaffinity="{rng.integers(1, 4)}"'
            place = " ".join(f"{x:.3}" for x in rng.normal(scale=0.02, size=3))
            kind = f'type="{rng.choice(TYPES)}" size=".2 .25 .3" pos="{place}"'
            geoms += f'<geom name="{names[-1]}" {kind} {masks} {attributes(rng, priority=priority)}/>'
        text += f"<body><freejoint/>{geoms}</body>"
    named = ""
    for k in range(pairs):
        a, b = names[2 * k + 1], names[2 * k + 4]
        solref = f'solref="{rng.uniform(0.01, 1):.3} 1" solreffriction="{rng.uniform(0.01, 1):.3} 1"'
        friction = " ".join(f"{x:.3}" for x in rng.uniform(0, 1, 5))
        named += f'<pair geom1="{b}" geom2="{a}" {solref} friction="{friction}" condim="{rng.choice([1, 3, 4, 6])}"/>'
    return f"<mujoco><option>{option}</option><worldbody>{text}</worldbody><contact>{named}</contact></mujoco>"


def compiled(xml):
    """The model, its pairs by their geoms, and MuJoCo's contacts by theirs."""
    m = mujoco.MjModel.from_xml_string(xml)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    ours = {(p.geom1, p.geom2): p for p in collisions.pairs(m)}
    return m, ours, {tuple(map(int, c.geom)): c for c in d.contact}


def assert_same_parameters(xml):
    """Every contact has the parameters of its pair; returns how many pairs there were."""
    m, ours, contacts = compiled(xml)
    assert contacts.keys() <= ours.keys()
    for geoms, c in contacts.items():
        found = collisions.parameters(m, ours[geoms])
        assert found["dim"] == c.dim
        for name in ("solref", "solimp", "solreffriction"):
            np.testing.assert_allclose(found[name], getattr(c, name), rtol=1e-15, err_msg=f"{geoms} {name}")
        law = collisions.law_of(m, ours[geoms], 2 * m.opt.timestep)
        np.testing.assert_allclose(law.friction, c.friction, rtol=1e-15)
        assert law.margin == pytest.approx(c.includemargin, rel=1e-15)
        if c.dim > 1 and c.efc_address >= 0:
            assert law.mu == pytest.approx(c.mu, rel=1e-14)
    return len(contacts)


@pytest.mark.parametrize("number", range(10))
def test_mixing(number):
    """Averages weighted by solmix, also of weights near zero; minima of direct formats; maxima of frictions."""
    assert assert_same_parameters(scene(np.random.default_rng(number))) > 15


@pytest.mark.parametrize("number", range(10))
def test_priorities(number):
    assert assert_same_parameters(scene(np.random.default_rng(number), priority=True, pairs=3)) > 15


def test_frictions_of_zero():
    """MuJoCo's smallest friction is 1e-5, which divides."""
    m, ours, contacts = compiled(
        '<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0 0 0"/>'
        '<body><freejoint/><geom size=".1" friction="0 0 0" condim="6"/></body></worldbody></mujoco>'
    )
    assert collisions.law_of(m, ours[0, 1], 0.004).friction == tuple(contacts[0, 1].friction) == (1e-5,) * 5


def override(values):
    return f"<flag override='enable'/></option><option {values}>"


def test_override():
    """The options' parameters for all, named pairs and the friction of these included; gaps stay."""
    values = 'o_margin=".02" o_solref="-300 -20" o_solimp=".4 .8 .05 .3 3" o_friction=".5 .6 .03 .02 .01"'
    xml = scene(np.random.default_rng(1), option=override(values), pairs=3)
    m, ours, contacts = compiled(xml)
    for geoms, c in contacts.items():
        found = collisions.parameters(m, ours[geoms])
        np.testing.assert_array_equal(found["solref"], c.solref)
        np.testing.assert_array_equal(found["solimp"], c.solimp)
        law = collisions.law_of(m, ours[geoms], 2 * m.opt.timestep)
        assert law.friction == tuple(c.friction) and law.margin == c.includemargin == 0.02
        assert law.damping_tangent == law.damping
    assert len({tuple(c.solreffriction) for c in contacts.values()}) == 1


@pytest.mark.parametrize("number", range(5))
def test_pairs_that_touch_are_those_that_mujoco_finds(number):
    """All geoms in one place and large: every pair that may touch does. Its order is by types, then numbers."""
    _, ours, contacts = compiled(scene(np.random.default_rng(100 + number), pairs=4))
    assert ours.keys() == contacts.keys()
    assert sum(p.explicit >= 0 for p in ours.values()) > 0


def test_reach_of_detection():
    """Contacts are listed up to margin + gap, with gaps added, and act up to the margin."""
    ball = '<body pos="{} 0 {}"><freejoint/><geom size=".1" margin=".02" gap=".01"/></body>'
    heights = (0.115, 0.127, 0.135, 0.139, 0.145)
    balls = "".join(ball.format(k, z) for k, z in enumerate(heights))
    floor = '<geom type="plane" size="9 9 .1" margin=".005" gap=".007"/>'
    m = complete(f"<mujoco><worldbody>{floor}{balls}</worldbody></mujoco>")
    law = collisions.law_of(m, collisions.pairs(m)[0], 0.004)
    assert (law.margin, law.reach) == pytest.approx((0.025, 0.042))
    found = saltus.Simulation(saltus.load(m)).data.contact
    np.testing.assert_allclose(found["dist"], np.array(heights)[:4] - 0.1, atol=1e-15)
    np.testing.assert_array_equal(found["efc_address"] >= 0, [True, False, False, False])


def test_what_cannot_collide():
    """Planes and height fields with each other have no collision function, whatever their masks."""
    xml = """<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/></asset><worldbody>
      <geom type="hfield" hfield="h"/><geom type="plane" size="1 1 1"/>
      <body><freejoint/><geom size=".1"/></body>
      <body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="hfield" hfield="h"/></body>
    </worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(xml)
    kinds = {(int(m.geom_type[p.geom1]), int(m.geom_type[p.geom2])) for p in collisions.pairs(m)}
    assert kinds == {(0, 2), (1, 2)}
