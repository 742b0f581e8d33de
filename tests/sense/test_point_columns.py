"""Which contact points slip: Coulomb's bound, by cones and by pyramids, with friction unlike in its directions.

Reference: the closed forms (t1 / μ1)² + (t2 / μ2)² = n² and |t1| / μ1 + |t2| / μ2 = n.
"""

import pytest

import saltus
from saltus.number.kernels import interpret
from saltus.sense.point_columns import at_bound

BLOCK = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="1"/></body></worldbody>
<contact><pair geom1="floor" geom2="ball" condim="{condim}" friction=".2 .8 .01 .01 .01"/></contact></mujoco>"""


def engine_of(condim):
    engine = saltus.Simulation(BLOCK.format(condim=condim)).engine
    engine.d.views["contact_collision"][0] = 0
    return engine


@pytest.mark.parametrize(
    ("force", "of_cone", "of_pyramid"),
    [
        ((1.0, 0.2, 0.0), True, True),
        ((1.0, -0.2, 0.0), True, True),
        ((1.0, 0.19, 0.0), False, False),
        ((1.0, 0.0, 0.8), True, True),
        ((1.0, 0.0, -0.8), True, True),
        ((1.0, 0.0, 0.79), False, False),
        ((1.0, 0.1201, 0.64), True, True),
        ((1.0, 0.1199, 0.64), False, True),
        ((1.0, -0.1, 0.401), False, True),
        ((1.0, 0.1, -0.399), False, False),
        ((0.5, 0.1, 0.0), True, True),
        ((2.0, 0.2, 0.0), False, False),
        ((0.0, 0.0, 0.0), False, False),
    ],
)
def test_friction_is_at_its_bound(force, of_cone, of_pyramid):
    engine, bound = engine_of(3), interpret(at_bound)
    assert bool(bound(engine.m, engine.d, 0, force, True)) == of_cone
    assert bool(bound(engine.m, engine.d, 0, force, False)) == of_pyramid


def test_without_friction_nothing_slips():
    engine = engine_of(1)
    assert not interpret(at_bound)(engine.m, engine.d, 0, (1.0, 1.0, 1.0), True)
