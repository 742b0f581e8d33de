"""`saltus check` names thin obstacles and who is fast enough to pass them within a step.

Law: a body of half thickness a passes one of half thickness b in a step of h seconds from (a + b) / h on; a fall from
the height z ends at √(2 g z).
"""

import saltus
from saltus.cli.check.fast_bodies import warnings


def world(height, key=""):
    return saltus.load(
        f"""<mujoco model="plate"><option timestep="0.002"/><worldbody>
        <geom name="wall" type="box" size="1 1 .001"/>
        <body name="bullet" pos="0 0 {height}"><freejoint/><geom name="bullet" size=".023"/></body>
        </worldbody>{key}</mujoco>"""
    )


def test_a_fall_that_is_fast_enough_is_named_with_the_speed():
    """(0.023 + 0.001) / 0.002 = 12 m/s, reached by a fall from 12² / (2 g) = 7.34 m."""
    assert warnings(world(7.3)) == []
    (text,) = warnings(world(7.4))
    assert "bullet: faster than 12 m/s passes 'wall' (2 mm) within a step of 2 ms" in text and "dopri5" in text


def test_speeds_of_keyframes_count():
    key = '<keyframe><key qpos="0 0 1 1 0 0 0" qvel="0 0 -{} 0 0 0"/></keyframe>'
    assert warnings(world(1.0, key.format(11))) == []  # 11.9 m/s with the fall
    assert "12 m/s" in warnings(world(1.0, key.format(13)))[0]


def test_planes_have_no_other_side():
    model = saltus.load("bouncing_ball")
    assert warnings(model) == []
