"""The hard law as users give it: numbers for pairs of geoms, and errors that name what is wrong."""

import math

import numpy as np
import pytest

import saltus

pytestmark = pytest.mark.usefixtures("one_hard_layout")

TWO = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.7 0 0"/>
  <body name="a" pos="0 0 1"><freejoint/><geom name="ball" size="0.1" friction="0.4 0 0"/></body>
  <body name="b" pos="1 0 1"><freejoint/><geom name="left" size="0.1"/>
    <geom name="right" size="0.1" pos="0.3 0 0"/></body>
</worldbody></mujoco>"""


def numbers(law):
    """{pair of geoms: (restitution, friction)} of a law for the model."""
    model = saltus.load(TWO)
    found, names, base = law.numbers(model, event=True), model.names("geom"), model.struct()
    pairs = zip(base.views["collision_geom1"], base.views["collision_geom2"], strict=True)
    return {
        frozenset((names[a], names[b])): (e, mu)
        for (a, b), e, mu in zip(pairs, found.restitution, found.friction, strict=True)
    }


def test_one_restitution_for_all_and_the_models_friction():
    found = numbers(saltus.Hard(restitution=0.3))
    assert len(found) == 5
    assert all(e == 0.3 and math.isnan(mu) for e, mu in found.values())


def test_pairs_by_geoms_and_by_bodies():
    pairs = {("floor", "ball"): 0.8, ("b", "floor"): {"restitution": 0.1, "friction": 0.2}}
    found = numbers(saltus.Hard(restitution=0.5, friction=0.9, pairs=pairs))
    assert found[frozenset(("ball", "floor"))] == (0.8, 0.9)
    assert found[frozenset(("left", "floor"))] == found[frozenset(("right", "floor"))] == (0.1, 0.2)
    assert found[frozenset(("ball", "left"))] == (0.5, 0.9)


def test_kernels_get_the_numbers_of_each_pair():
    sim = saltus.Simulation(TWO, contact=saltus.Hard(pairs={("floor", "ball"): 0.8}, friction=0.25))
    m = sim.engine.m
    laws = m.views["collision_law"]
    assert sorted(m.views["law_restitution"][laws]) == [0, 0, 0, 0, 0.8]
    np.testing.assert_array_equal(m.views["law_friction"][laws][:, :2], 0.25)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"restitution": 1.2}, "restitution must be between 0 and 1"),
        ({"restitution": "much"}, "restitution must be a number"),
        ({"friction": -1}, "friction must be finite and not negative"),
        ({"limits": float("nan")}, "limits must be between 0 and 1"),
        ({"restitution": [0.5, 1.2]}, r"restitution\[1\] must be between 0 and 1"),
        ({"restitution": [[0.5]]}, "restitution must be a number, or one for each simulation"),
        ({"friction": ["much"]}, "friction must be numbers"),
        ({"gap_tolerance": 0}, "gap_tolerance must be positive"),
        ({"impact": "newtons"}, "unknown impact law 'newtons'"),
        ({"treatment": "parallel"}, "unknown treatment of impacts 'parallel'"),
        ({"pairs": {"ball": 0.5}}, "two names of geoms or bodies"),
        ({"pairs": {("a", "b"): {"bounce": 1}}}, "unknown coefficient .* 'bounce'"),
        ({"pairs": {("a", "b"): 2.0}}, "restitution in pairs"),
    ],
)
def test_numbers_that_cannot_be(given, message):
    with pytest.raises(saltus.OptionError, match=message):
        saltus.Hard(**given)


@pytest.mark.parametrize(
    "pair, message", [(("ball", "flor"), "'flor'; did you mean 'floor'"), (("left", "right"), "never touch")]
)
def test_pairs_that_are_not_there(pair, message):
    with pytest.raises(saltus.OptionError, match=message):
        saltus.Simulation(TWO, contact=saltus.Hard(pairs={pair: 0.5}))


def test_numbers_of_each_simulation():
    """Arrays become tuples, so that laws compare; pairs have their own; a single simulation refuses them."""
    pairs = {("floor", "ball"): [0.8, 0.9], ("b", "floor"): {"friction": np.array([0.1, 0.2])}}
    law = saltus.Hard(restitution=np.array([0.5, 0.6]), limits=[0.1, 0.2], pairs=pairs)
    assert law == saltus.Hard(restitution=(0.5, 0.6), limits=(0.1, 0.2), pairs=pairs) and law.restitution == (0.5, 0.6)
    model = saltus.load(TWO)
    found, base, names = law.coefficients(model, 2), model.struct(), model.names("geom")
    pair = [{names[a], names[b]} for a, b in zip(base.collision_geom1, base.collision_geom2, strict=True)]
    at = {name: pair.index({"floor", name}) for name in ("ball", "left", "right")}
    np.testing.assert_array_equal(found.restitution[:, [at["ball"], at["left"]]], [[0.8, 0.5], [0.9, 0.6]])
    np.testing.assert_array_equal(found.friction[:, [at["left"], at["right"]]], [[0.1, 0.1], [0.2, 0.2]])
    assert np.isnan(found.friction[:, at["ball"]]).all() and found.limits.shape == (2, 0)
    first = law.of_first()
    assert first.restitution == 0.5 and first.limits == 0.1
    assert first.pairs == {("floor", "ball"): {"restitution": 0.8}, ("b", "floor"): {"friction": 0.1}}
    assert not law.differs(first) and law.differs(saltus.Hard(dense="stop")) == "dense"
    with pytest.raises(saltus.OptionError, match="holds 2 numbers, one for each simulation of a"):
        saltus.Simulation(TWO, contact=law)
    with pytest.raises(saltus.OptionError, match="friction holds 3 numbers for 2 simulations"):
        saltus.Hard(friction=[1, 2, 3]).coefficients(model, 2)


def test_adhesion_is_refused_where_events_are_located():
    sticky = TWO.replace("</mujoco>", '<actuator><adhesion body="a" ctrlrange="0 1"/></actuator></mujoco>')
    with pytest.raises(saltus.OptionError, match="adhesion, which located events do not support"):
        saltus.Simulation(sticky, contact="hard")
    saltus.Simulation(sticky, "moreau_jean", contact="hard")


def test_turning_friction_without_sliding_friction_is_refused():
    slippery = TWO.replace('name="ball" size="0.1" friction="0.4 0 0"', 'name="ball" size="0.1" condim="4"')
    slippery = slippery.replace('condim="4"', 'condim="4" priority="1" friction="0 .01 0"')
    for integrator in ("dopri5", "moreau_jean"):
        with pytest.raises(saltus.OptionError, match="'floor' and 'ball' has torsional or rolling friction, but"):
            saltus.Simulation(slippery, integrator, contact="hard")
        saltus.Simulation(slippery, integrator, contact=saltus.Hard(friction=0.1))


def test_friction_that_differs_along_the_tangents_is_said():
    pair = '<contact><pair geom1="floor" geom2="ball" condim="{}" friction="{}"/></contact></mujoco>'
    for condim, friction in ((3, "1 .5 .1 .1 .1"), (6, ".5 .5 .1 .1 .2")):
        with pytest.warns(saltus.SaltusWarning, match="friction between floor and ball is that of the first tangent"):
            saltus.Simulation(TWO.replace("</mujoco>", pair.format(condim, friction)), contact="hard")
