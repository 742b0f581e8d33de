"""MuJoCo's compiler where it would reserve more memory than there is.

Reference: MuJoCo itself, which refuses such a model; and the same model with a size of its own.
"""

import mujoco
import pytest

import saltus
from saltus.model.source.compiler import ARENA, compile_spec

BALL = '<mujoco>{}<worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
HUGE = BALL.format('<size njmax="30000000"/>')


def test_memory_that_nobody_needs_is_not_reserved():
    with pytest.raises(ValueError, match="Could not allocate memory"):
        mujoco.MjSpec.from_string(HUGE).compile()
    spec = mujoco.MjSpec.from_string(HUGE)
    assert compile_spec(spec).narena == ARENA
    assert spec.memory == -1
    sim = saltus.Simulation(HUGE)
    sim.step(10)
    assert sim.qpos[2] < 0.0


def test_what_the_file_asks_for_stays():
    assert saltus.load(BALL.format('<size memory="3M"/>')).mujoco.narena == 3 << 20
    with pytest.raises(saltus.ModelError, match="Could not allocate memory"):
        saltus.load(BALL.format('<size memory="900000G"/>'))
