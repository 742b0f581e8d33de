"""Robots with legs that walk by a command: what they see, what they are rewarded for, when episodes end.

Reference: `helpers.walking`, which writes the task out with NumPy. The quantities of the last substep's start (poses of
feet, contacts, torques of servos), as the environment reads them, are MuJoCo's at that state; the motion is that of
`saltus.Simulation`, whose agreement with MuJoCo other tests show. Both go through the same step of a robot that tumbles
on hard ground: 1e-9 covers the rounding of a step and MuJoCo's of the quantities.
"""

import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from helpers.files import shared
from helpers.walking import Walking, biped, quadruped

import saltus
import saltus.env
from saltus.errors import OptionError

QUADRUPED, HUMANOID = "QuadrupedJoystick", "HumanoidJoystick"
SMALL = {
    QUADRUPED: dict(height_limit=0.1),
    HUMANOID: dict(
        key="home",
        height_limit=0.4,
        lifts={"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3},
    ),
}


def compare(name, model, steps, **changes):
    """Step an environment beside its reference under random actions; what rewards were, by name [steps]."""
    env = saltus.env.make(name, model=model, command_seconds=0.5, **changes)
    env.reset(seed=3)
    sim = saltus.Simulation(env.model)
    data = mujoco.MjData(env.model.mj_model)
    values = {key: value[0] for key, value in env.parameters.items()}
    dt = env.environment.frame_skip * env.model.opt.timestep
    assert dt == pytest.approx(0.02)
    reference = Walking(env.model.mj_model, values, env.environment.option.feet, dt)
    rng, began, sums, ends, commands = np.random.default_rng(0), True, [], 0, []
    for _ in range(steps):
        if began:
            seen, _ = env.reset()
            sim.reset()
            sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
            at(data, sim.qpos, sim.qvel, np.zeros(env.model.nu))
            reference.begin(data)
            reference.phase = env._episodes.read_parameter("phase")[0]
            reference.command = seen[9:12]
            np.testing.assert_allclose(seen, reference.observation(sim.qpos, sim.qvel), rtol=0.0, atol=1e-9)
        action = rng.uniform(-1.0, 1.0, env.model.nu)
        sim.ctrl = reference.controls(action)
        sim.step(env.environment.frame_skip - 1)
        at(data, sim.qpos, sim.qvel, sim.ctrl)
        sim.step()
        seen, reward, ended, _, info = env.step(action)
        wanted = reference.step(sim.qpos, sim.qvel, data, action)
        assert info.keys() == wanted.keys()
        np.testing.assert_allclose([info[key] for key in wanted], list(wanted.values()), rtol=0.0, atol=1e-9)
        assert reward == pytest.approx(sum(wanted.values()), abs=1e-9)
        assert ended == reference.fallen(sim.qpos)
        if reference.steps % 25:
            np.testing.assert_array_equal(seen[9:12], reference.command)
        reference.command = seen[9:12]
        np.testing.assert_allclose(seen, reference.observation(sim.qpos, sim.qvel), rtol=0.0, atol=1e-9)
        sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
        sums.append(wanted)
        commands.append(reference.command)
        began, ends = ended, ends + ended
    assert ends, "it was to fall"
    assert len(np.unique(commands, axis=0)) > steps / 50
    return {key: np.array([one[key] for one in sums]) for key in sums[0]}


def at(data, qpos, qvel, ctrl):
    """MuJoCo's quantities of a state."""
    data.qpos, data.qvel, data.ctrl = qpos, qvel, ctrl
    mujoco.mj_forward(data.model, data)


def all_matter(rewards):
    """Each reward was something at some time."""
    silent = [name for name, values in rewards.items() if not np.abs(values).max() > 1e-6]
    assert not silent


def test_the_quadruped_is_what_its_description_says():
    all_matter(compare(QUADRUPED, quadruped(), 300, action_scale=0.9, standing_share=0.3, **SMALL[QUADRUPED]))


@pytest.mark.slow
@pytest.mark.parametrize("shape", ['type="box" size="0.09 0.04 0.01"', 'type="capsule" size="0.03 0.05"'])
def test_the_humanoid_is_what_its_description_says(shape):
    all_matter(compare(HUMANOID, biped(shape), 300, action_scale=0.5, standing_share=0.3, **SMALL[HUMANOID]))
