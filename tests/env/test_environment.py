"""What an environment declares is what it does.

Reference: `saltus.Simulation` of the same model, stepped by hand with the same controls; its computed quantities belong
to the present state. Both go through one compiled step, so that they agree to rounding (1e-12, some twenty steps of a
smooth motion).
"""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from helpers.swinging import Swinging, anywhere, far, height

import saltus
import saltus.env
from saltus.env import Environment, observed, term, uniform
from saltus.errors import ModelError, OptionError, SaltusWarning

MEASURED = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="ball" pos="0 0 0.3">
      <freejoint name="free"/>
      <geom name="ball" type="sphere" size="0.1" mass="1"/>
      <site name="centre"/>
      <body name="arm" pos="0.1 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="elbow" kp="5" ctrlrange="-1 1"/></actuator>
  <sensor><gyro name="gyro" site="centre"/><accelerometer name="felt" site="centre"/></sensor>
</mujoco>"""


@term
def spin(m, d, e):
    d.qvel[e.elbow] = uniform(e, -1.0, 1.0)
    d.qvel[3] = 2.0


class Measured(Environment):
    model = MEASURED
    frame_skip = 4
    observation = (
        *("qpos[free]", "qpos[elbow]", "qvel[elbow]", "xpos[arm]", "sensordata[gyro]", "sensordata[felt]"),
        *("cfrc_ext[ball]", "cacc[2, 3:]", "subtree_linvel[1]", "qacc[-1]", "time", "actuator_force[servo]"),
    )
    reset = spin
    ids = {"elbow": ("qvel", "elbow")}


@pytest.mark.slow
def test_observed_fields_are_those_of_a_simulation_at_the_present_state():
    env = saltus.env.make(Measured)
    seen, _ = env.reset(seed=1)
    sim = saltus.Simulation(MEASURED)
    sim.qpos, sim.qvel = env.read("qpos"), env.read("qvel")
    touched = False
    for k in range(20):
        data = sim.data
        wanted = np.concatenate(
            [
                *(sim.qpos[:7], sim.qpos[7:], sim.qvel[6:], data.xpos[2], sim.sensordata[:3], sim.sensordata[3:]),
                *(data.cfrc_ext[1], data.cacc[2, 3:], data.subtree_linvel[1], data.qacc[-1:], [sim.time]),
                data.actuator_force,
            ]
        )
        np.testing.assert_allclose(seen, wanted, rtol=1e-12, atol=1e-12, err_msg=f"step {k}")
        touched |= bool(data.ncon)
        action = np.array([np.sin(k)], np.float32)
        seen, *_ = env.step(action)
        sim.ctrl = action
        sim.step(4)
    assert touched, "the ball was to touch the floor"


def test_rewards_are_summed_and_reported_with_the_terms_of_infos():
    env = saltus.env.make(Swinging)
    env.reset(seed=0)
    for _ in range(5):
        _, reward, terminated, _, info = env.step(np.ones(1))
        assert reward == info["upright"] + info["effort"]
        assert info["upright"] == info["height"] == pytest.approx(np.cos(env.read("qpos")[1]))
        np.testing.assert_allclose(info["angle"], [np.sin(env.read("qpos")[1]), np.cos(env.read("qpos")[1])])
        assert terminated == (abs(env.read("qpos")[0]) > 0.15)
    assert set(info) == {"upright", "effort", "height", "angle"}


def test_observations_are_limited_scaled_and_noisy():
    """200 steps: the noise of the fourth number has a standard deviation of 0.01, within five standard errors."""
    env = saltus.env.make(Swinging, max_episode_steps=None, half_width=1e9)
    env.reset(seed=0)
    noise = []
    for _ in range(200):
        seen, *_ = env.step(np.ones(1))
        noise.append(seen[3:5] - 0.2 * np.clip(env.read("qvel"), -5.0, 5.0))
        assert seen[0] == env.read("qpos")[0]
    noise = np.array(noise).ravel()
    assert abs(noise.std() / 0.01 - 1.0) < 5.0 / np.sqrt(2.0 * noise.size)
    assert abs(noise.mean()) < 5.0 * 0.01 / np.sqrt(noise.size)


def test_parameters_may_differ_from_simulation_to_simulation():
    envs = saltus.env.make_vec(Swinging, 3, threads=1, upright_weight=2.0)
    assert dict(envs.parameters).keys() == {"upright_weight", "half_width"}
    envs.reset(seed=0)
    envs.parameters["upright_weight"] = [1.0, 0.0, -1.0]
    _, _, _, _, info = envs.step(np.zeros((3, 1)))
    np.testing.assert_allclose(info["upright"], info["height"] * [1.0, 0.0, -1.0])
    envs.reset()
    assert list(envs.parameters["upright_weight"]) == [1.0, 0.0, -1.0]
    with pytest.raises(OptionError, match=r"upright_weight has shape \(3,\)"):
        envs.parameters["upright_weight"] = [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        envs.parameters["upright_weight"][0] = 1.0
    with pytest.raises(OptionError, match=r"upright_wait.*upright_weight"):
        envs.parameters["upright_wait"] = 1.0


@pytest.mark.slow
def test_fields_of_the_model_may_differ_from_simulation_to_simulation():
    """Reference: single environments of changed models, with the same seeds; equal but for rounding."""
    factors = [1.0, 1.7, 0.4]
    envs = saltus.env.make_vec(Swinging, 3, threads=1, vary=("body_mass", "body_inertia"), half_width=1e9)
    whole = saltus.load("cart_pole")
    pole = whole.id("body", "pole")
    envs.model.body_mass[:, pole] = whole.body_mass[pole] * np.array(factors)
    envs.model.body_inertia[:, pole] = whole.body_inertia[pole] * np.array(factors)[:, None]
    seen, _ = envs.reset(seed=4)
    alone = []
    for i, factor in enumerate(factors):
        changes = {"body_mass[pole]": factor * 0.1, "body_inertia[pole]": factor * whole.body_inertia[pole]}
        alone.append(saltus.env.make(Swinging, model=whole.changed(changes), half_width=1e9))
        np.testing.assert_array_equal(alone[i].reset(seed=4 + i)[0], seen[i])
    for _ in range(10):
        seen, *_ = envs.step(np.ones((3, 1)))
        wanted = [env.step(np.ones(1))[0] for env in alone]
        np.testing.assert_allclose(seen, wanted, rtol=1e-12, atol=1e-12)
    assert abs(seen[0, 0] - seen[1, 0]) > 1e-3, "the masses were to matter"
    with pytest.raises(OptionError, match=r"field that may vary.*body_mess"):
        saltus.env.make_vec(Swinging, 3, vary=("body_mess",))


def test_any_field_can_be_read():
    envs = saltus.env.make_vec(Swinging, 2, threads=1)
    envs.reset(seed=0)
    tip = envs.read("site_xpos")[:, 0, 2]
    np.testing.assert_allclose(tip, np.cos(envs.read("qpos")[:, 1]), rtol=0.0, atol=1e-15)
    assert saltus.env.make(Swinging).read("xpos").shape == (3, 3)


def test_a_controller_in_the_time_loop_takes_the_action_as_its_target():
    @term
    def target(m, d, e):
        d.control_prm[3] = e.action[0]

    class Servo(Environment):
        model = "pendulum"
        control = saltus.PID(kp=200.0, kd=80.0)
        before_step = target
        action_range = (-1.0, 1.0)

    env = saltus.env.make(Servo)
    env.reset(seed=0)
    for _ in range(200):
        env.step(np.array([0.5]))
    gravity = 2.0 * 9.81 * 2.0  # m g l of the pendulum: 200 (0.5 - θ) = m g l sin θ
    theta = env.read("qpos")[0]
    assert 200.0 * (0.5 - theta) == pytest.approx(gravity * np.sin(theta), rel=1e-6)


def test_episodes_start_from_a_keyframe():
    class Hanging(Environment):
        model = "cart_pole"

    env = saltus.env.make(Hanging, key="hanging")
    seen, _ = env.reset()
    np.testing.assert_array_equal(seen, [0.0, np.pi, 0.0, 0.0])
    with pytest.raises(OptionError, match=r"keyframe.*handing.*hanging"):
        saltus.env.make(Hanging, key="handing")


FACTOR = 2.0


@term
def scaled(m, d, e):
    return FACTOR * d.qpos[0]


def test_what_a_term_refers_to_must_not_change(monkeypatch):
    kind = named(rewards={"scaled": scaled}, infos={}, reset_infos=())
    saltus.env.make(kind)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    with pytest.raises(OptionError, match="scaled: a value that it refers to has changed"):
        saltus.env.make(kind)


def test_environments_of_one_declaration_share_what_is_compiled():
    one, other = (saltus.env.make(Swinging, half_width=x)._episodes._loop for x in (1.0, 2.0))
    assert one is other


def test_without_gymnasium_saltus_works_and_environments_say_what_they_need():
    script = """
import sys
sys.modules["gymnasium"] = None
import saltus
saltus.load("pendulum")
try:
    import saltus.env
except ImportError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "saltus.env needs Gymnasium: pip install 'saltus[env]'"


def named(**changes):
    return type("Named", (Swinging,), changes)


@term
def pair(m, d, e):
    return d.qpos[0], d.qpos[1]


OPEN = object()


@term
def misspelt(m, d, e):
    return e.actoin[0]


WRONG = [
    (named(observation=("qpoz",)), "field of an observation.*qpoz.*qpos"),
    (named(observation=("qpos[9:",)), "expected a field"),
    (named(observation=("qpos[nobody]",)), "no joint 'nobody'"),
    (named(observation=("xpos[5]",)), r"xpos has shape \(3, 3\)"),
    (named(observation=()), "the observation is empty"),
    (named(observation=(3,)), "consists of fields"),
    (named(observation="qfrc_inverse"), "cannot read qfrc_inverse"),
    (named(observation="sensordata", quantities="step"), 'sensordata.*use "present"'),
    (named(quantities="late"), "time of quantities.*late"),
    (named(rewards={"two": pair}), "reward two must be one number, not 2"),
    (named(rewards={"height": height}), "height is both a reward and an info"),
    (named(rewards={"wrong": misspelt}), r"wrong cannot be compiled: misspelt, test_env.*e has no field 'actoin'"),
    (named(rewards={"wrong": lambda m, d, e: d.qposs[0]}), r"d\.qposs: d has no field 'qposs'; did you mean 'qpos'"),
    (named(rewards={"wrong": 3.0}), r"rewards\['wrong'\].*must be a function"),
    (named(rewards={"nothing": anywhere}), "must return a number"),
    (named(rewards={"wrong": lambda m, d, e: OPEN}), r"rewards\['wrong'\].*refers to"),
    (named(reset_infos=("far",)), "info at a reset.*far"),
    (named(action_range=(1.0, -1.0)), "action_range must be"),
    (named(action_range=("a", 1.0)), "action_range must be numbers"),
    (named(observation=("xpos[nobody]",)), "nobody"),
    (named(parameters={"steps": 1.0}), "name 'steps'"),
    (named(parameters={"tip": 1.0}), "different names"),
    (named(ids={"tip": ("sight", "tip")}), "kind of id.*sight"),
    (named(ids={"tip": ("site", "top")}), "no site 'top'"),
    (named(ids={"tip": "tip"}), "must be \\(kind, name\\)"),
    (named(integrator="dopri5"), "steps of equal length"),
    (named(contact="hard", integrator="rk4"), "environments have soft contact, not hard"),
    (named(model=None), "has no model"),
    (named(frame_skip=0), "frame_skip must be at least 1"),
]


@pytest.mark.parametrize("kind, message", WRONG, ids=[message for _, message in WRONG])
def test_wrong_declarations_say_what_is_wrong(kind, message):
    with pytest.raises(OptionError, match=message):
        saltus.env.make(kind)


def test_wrong_arguments_say_what_is_wrong():
    with pytest.raises(OptionError, match=r"parameter of Swinging.*half_wide.*half_width"):
        saltus.env.make(Swinging, half_wide=1.0)
    with pytest.raises(OptionError, match="parameter half_width must be numbers"):
        saltus.env.make(Swinging).parameters["half_width"] = "a"
    with pytest.raises(OptionError, match=r"parameter half_width has shape \(\), not \(2,\)"):
        saltus.env.make(Swinging, half_width=[1.0, 2.0])
    with pytest.raises(OptionError, match=r"environment.*HalfCheeta.*HalfCheetah"):
        saltus.env.make("HalfCheeta")
    with pytest.raises(OptionError, match="environment"):
        saltus.env.make("HalfCheetah-v4")
    with pytest.raises(OptionError, match="expected a name, 'module:Class' or a subclass"):
        saltus.env.make(far)
    with pytest.raises(OptionError, match="pass half_width when the Swinging is made"):
        saltus.env.make(Swinging(), half_width=1.0)
    with pytest.raises(OptionError, match="precision"):
        saltus.env.make(Swinging, precision="float16")
    with pytest.raises(OptionError, match=r"autoreset_mode.*NextStep"):
        saltus.env.make_vec(Swinging, 2, autoreset_mode="Next")
    with pytest.raises(OptionError, match=r"render_mode.*rgb_array"):
        saltus.env.make(Swinging, render_mode="ansi")
    with pytest.raises(OptionError, match=r"saltus\.env\.play shows"):
        saltus.env.make(Swinging, render_mode="human")
    with pytest.raises(OptionError, match="clip must be"):
        observed("qvel", clip=(1.0, -1.0))
    with pytest.raises(ModelError, match="no such file"):
        saltus.env.make(Swinging, model="nowhere.xml")
    env = saltus.env.make(Swinging)
    with pytest.raises(OptionError, match=r"option of reset.*reset_mask"):
        env.reset(options={"reset_mask": np.ones(1, bool)})
    with pytest.raises(OptionError, match=r"an action has shape \(1,\), not \(1, 1\)"):
        env.reset()
        env.step(np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("name", "meant"),
    [("observations", "observation"), ("reward", "rewards"), ("frameskip", "frame_skip"), ("terminate", "terminated")],
)
def test_attributes_that_are_nearly_those_of_a_declaration_are_told(name, meant):
    with pytest.warns(SaltusWarning, match=f"{name!r}, which is ignored; did you mean {meant!r}"):
        named(**{name: 1})()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named(tip_length=1.0, _observations=2, effort=3)()
