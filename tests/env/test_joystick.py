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
from saltus.env.bundled import robot_files
from saltus.env.bundled.joystick import QuadrupedJoystick
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
    assert len(np.unique(commands, axis=0)) > 3
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
    all_matter(compare(QUADRUPED, quadruped(), 300, action_scale=1.5, standing_share=0.5, **SMALL[QUADRUPED]))


@pytest.mark.slow
@pytest.mark.parametrize("shape", ['type="box" size="0.09 0.04 0.01"', 'type="capsule" size="0.03 0.05"'])
def test_the_humanoid_is_what_its_description_says(shape):
    all_matter(compare(HUMANOID, biped(shape), 300, action_scale=0.5, standing_share=0.5, **SMALL[HUMANOID]))


@pytest.mark.slow
@pytest.mark.parametrize("name, robot", [(QUADRUPED, "go1_flat"), (HUMANOID, "g1_feetonly_flat")])
def test_robots_that_are_built(name, robot):
    """Unitree's Go1 and G1.

    Their models end the solver's iterations early, where the answer depends on the first guess, which an assigned state
    takes from a simulation: here the iterations go on.
    """
    spec = mujoco.MjSpec.from_file(str(shared(f"robots/{robot}")))
    spec.option.iterations, spec.option.ls_iterations = 100, 50
    rewards = compare(name, spec, 200)
    assert np.abs(rewards["slip"]).max() > 0.0 and rewards["rhythm"].max() > 0.0


def test_gymnasium_accepts_it():
    env = saltus.env.make(QUADRUPED, model=quadruped(), **SMALL[QUADRUPED])
    assert env.metadata["render_fps"] == 50 and env.action_space.shape == (12,)
    assert env.observation_space.shape == (12 + 2 + 36,)
    check_env(env, skip_render_check=True)


def test_commands_come_from_their_ranges_and_may_differ_by_simulation():
    n = 64
    envs = saltus.env.make_vec(QUADRUPED, n, model=quadruped(), threads=1, command_seconds=0.1, **SMALL[QUADRUPED])
    forward = np.linspace(-1.0, 1.0, n)
    envs.parameters["forward_range"] = np.stack([forward, forward], axis=1)
    envs.parameters["standing_share"] = 0.25
    seen, _ = envs.reset(seed=0)
    commands = [seen[:, 9:12]]
    for _ in range(15):
        seen, _, ended, *_ = envs.step(np.zeros((n, 12)))
        assert not ended.any()
        commands.append(seen[:, 9:12])
    commands = np.array(commands)
    changes = (np.diff(commands, axis=0) != 0.0).any(axis=(1, 2))
    assert list(np.flatnonzero(changes) + 1) == [5, 10, 15]
    drawn = commands[::5].reshape(-1, 3)
    stands = ~drawn.any(axis=1)
    assert 0.1 < stands.mean() < 0.4  # of 256, 0.25 on average with a standard deviation of 0.027
    np.testing.assert_array_equal(drawn[~stands, 0], np.tile(forward, 4)[~stands])
    assert np.abs(drawn[:, 1]).max() <= 0.4 and np.abs(drawn[:, 2]).max() <= 1.0
    assert len(np.unique(drawn[~stands, 1])) == (~stands).sum()


def test_diagonal_feet_swing_together():
    env = saltus.env.make(
        QUADRUPED, model=quadruped(), forward_range=(0.5, 0.5), standing_share=0.0, **SMALL[QUADRUPED]
    )
    env.reset(seed=0)
    feet = [env.model.id("geom", name) for name in ("FR", "FL", "RR", "RL")]
    heights = []
    for _ in range(100):
        env.step(np.zeros(12))
        heights.append(env.read("geom_xpos")[feet, 2])
    up = np.array(heights[50:]) > 0.03  # with a radius of 0.02 m
    assert 0.2 < up.mean() < 0.6
    assert (up[:, 0] == up[:, 3]).mean() > 0.8 and (up[:, 1] == up[:, 2]).mean() > 0.8
    assert (up[:, 0] & up[:, 1]).mean() < 0.2


@pytest.mark.slow
def test_episodes_differ_where_it_is_randomized():
    n = 16
    envs = saltus.env.make_vec(QUADRUPED, n, model=quadruped(), threads=1, randomized=True, **SMALL[QUADRUPED])
    envs.reset(seed=0)
    nominal = saltus.load(quadruped())
    names = [nominal.id("geom", name) for name in ("floor", "FR", "FL", "RR", "RL")]
    friction = envs.model.geom_friction[:, names, 0] / nominal.geom_friction[names, 0]
    np.testing.assert_allclose(friction, friction[:, :1] * np.ones(5))
    assert 0.6 <= friction.min() and friction.max() <= 1.25 and len(np.unique(friction[:, 0])) == n
    base = nominal.id("body", "trunk")
    others = np.delete(envs.model.body_mass / np.maximum(nominal.body_mass, 1e-9), [0, base], axis=1)
    assert 0.9 <= others.min() and others.max() <= 1.1
    load = envs.model.body_mass[:, base] - nominal.body_mass[base]
    assert -1.0 <= load.min() < load.max() <= 1.5
    stiffness = envs.model.actuator_gainprm[:, :, 0]
    np.testing.assert_allclose(stiffness, -envs.model.actuator_biasprm[:, :, 1])
    assert np.isfinite(envs.step(np.zeros((n, 12)))[0]).all()


def test_an_environment_that_is_used_twice_is_disturbed_once():
    environment = QuadrupedJoystick(model=quadruped(), randomized=True, **SMALL[QUADRUPED])
    environment.loaded()
    once = environment.randomize
    environment.loaded()
    assert once and environment.randomize == once and len(environment.pushes) == 1


def test_what_cannot_be_a_robot_is_an_error_that_says_why(monkeypatch):
    monkeypatch.setattr(robot_files, "find_spec", lambda name: None)
    with pytest.raises(OptionError, match=r"give model=PATH.*unitree_go1"):
        saltus.env.make(QUADRUPED)
    with pytest.raises(OptionError, match=r"cart_pole: a robot needs a free joint"):
        saltus.env.make(QUADRUPED, model="cart_pole")
    with pytest.raises(OptionError, match=r"no geom 'left_foot'"):
        saltus.env.make(HUMANOID, model=quadruped(), key="home")
    with pytest.raises(OptionError, match="feet must name 4 geoms"):
        saltus.env.make(QUADRUPED, model=quadruped(), feet=("FR", "FL"))
    with pytest.raises(OptionError, match="foot FR must be a sphere, a capsule or a box"):
        saltus.env.make(QUADRUPED, model=quadruped('type="cylinder" size="0.02 0.02"'))
    with pytest.raises(OptionError, match=r"keyframe.*knees_bent.*home"):
        saltus.env.make(HUMANOID, model=biped())
