"""QuadrupedJoystick and HumanoidJoystick: legged robots that follow velocity commands."""

from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import number, numbers, words
from saltus.env.bundled import legged
from saltus.env.bundled.feet import remembered, terms_of_feet
from saltus.env.bundled.robot_files import playground_model
from saltus.env.disturb.pushes import Push
from saltus.env.disturb.randomize import Randomize
from saltus.env.environment import Environment
from saltus.env.inputs import InputRange
from saltus.env.observation import Observed, observed
from saltus.env.random import uniform
from saltus.env.terms import Term
from saltus.errors import OptionError
from saltus.model.enums import BOX, CAPSULE, FREE, HINGE, SPHERE
from saltus.model.model import Model
from saltus.simulate.engine.initial_state import start_state

UNLIMITED = 1e3  # rad

PARAMETERS = {
    # commands: velocities (m/s), yaw rate (rad/s), period (s), fraction of commands to stand
    "forward_range": (-1.0, 1.0),
    "lateral_range": (-0.4, 0.4),
    "yaw_range": (-1.0, 1.0),
    "command_seconds": 5.0,
    "standing_share": 0.1,
    # scale of actions (rad), ranges of initial states (rad; m/s and rad/s), limits that end an episode (rad, m)
    "action_scale": 0.4,
    "reset_joint_range": 0.1,
    "reset_velocity_range": 0.2,
    "tilt_limit": 1.0,
    "height_limit": 0.0,
    # with randomization: speeds of pushes (m/s), masses added to the base (kg)
    "push_speed": 0.5,
    "least_load": -0.5,
    "largest_load": 1.0,
    # reference values of rewards: (m/s)² and (rad/s)²; fraction of joints' ranges; s; m; m²
    "tracking_sigma": 0.25,
    "limit_share": 0.95,
    "air_time_range": (0.1, 0.4),
    "swing_height": 0.05,
    "rhythm_sigma": 0.003,
    # weights of rewards
    "track_velocity_weight": 2.0,
    "track_yaw_weight": 1.0,
    "alive_weight": 0.5,
    "fall_weight": 1.0,
    "vertical_velocity_weight": 0.5,
    "roll_pitch_rate_weight": 0.02,
    "tilt_weight": 1.0,
    "torques_weight": 0.0001,
    "energy_weight": 0.0002,
    "action_rate_weight": 0.01,
    "joint_limits_weight": 1.0,
    "pose_weight": 0.5,
    "stand_still_weight": 0.2,
    "landing_weight": 0.1,
    "slip_weight": 0.05,
    "rhythm_weight": 1.0,
}
REWARDS = {
    "track_velocity": legged.track_velocity,
    "track_yaw": legged.track_yaw,
    "alive": legged.alive,
    "fall": legged.fall,
    "vertical_velocity": legged.vertical_velocity,
    "roll_pitch_rate": legged.roll_pitch_rate,
    "tilt": legged.tilt,
    "torques": legged.torques,
    "energy": legged.energy,
    "action_rate": legged.action_rate,
    "joint_limits": legged.joint_limits,
    "pose": legged.pose,
    "stand_still": legged.stand_still,
}


def _inputs(parameters: Mapping[str, object]) -> dict[str, list[InputRange]]:
    """Inputs of a person: the command within its ranges."""
    units = {"forward": "m/s", "lateral": "m/s", "yaw": "rad/s"}
    ranges = {name: numbers(name, parameters[f"{name}_range"]) for name in units}
    return {"command": [(name, float(ranges[name][0]), float(ranges[name][1]), unit) for name, unit in units.items()]}


class Joystick(Environment):
    """Base of legged robots that follow velocity commands; subclasses name the model, the feet and the weights."""

    key = "home"
    max_episode_steps = 1000
    action_range = (-1.0, 1.0)
    terminated = legged.fallen
    reset = legged.near_standing_in_phase
    quantities = "step"
    inputs = _inputs(PARAMETERS)

    def declare(self) -> None:
        """Declare the feet, their terms and the rewards."""
        name, count = type(self).__name__, self.values["gait"].size
        feet = self._names = tuple(words(f"{name}: feet", self.option.feet))
        if len(feet) != count:
            raise OptionError(f"{name}: feet must name {count} geoms, got {', '.join(feet)}")
        self.ids = {f"foot_{k}": ("geom", name) for k, name in enumerate(feet)}
        self._disturbed = False  # the disturbances are added once, when the model is known
        self._feet = terms = terms_of_feet(len(feet))
        self.rewards = REWARDS | {"landing": terms.landing, "slip": terms.slip, "rhythm": terms.rhythm}
        self.before_step, self.remember = terms.joint_targets, terms.remember
        self.memory = {"command": [0.0] * 3, "phase": 0.0, **remembered(len(feet))}

    def loaded(self) -> Model:
        """Load the model and complete the declaration by it: parameters, observation, frame skip, disturbances."""
        model, option = super().loaded(), self.option
        _check(model, self._names)
        self.values |= _rows(model, self.key, self._names, option)
        self.observation = self._observed(model.nu)
        self.action_range = (-np.ones(model.nu), np.ones(model.nu))
        if self.frame_skip == 1:
            step = model.opt.timestep if self.timestep is None else number("timestep", self.timestep)
            self.frame_skip = max(1, round(1.0 / (number("control_rate", option.control_rate) * step)))
        if option.randomized and not self._disturbed:
            self._disturbed = True
            base = model.names("body")[int(model.jnt_bodyid[0])]
            self.randomize = (*self.randomize, *_randomized(base, (option.floor, *self._names)))
            self.pushes = (*self.pushes, Push(base, uniform(0.0, "push_speed"), every=uniform(4.0, 8.0)))
        if self.camera is None and "track" in model.names("camera"):
            self.camera = "track"
        return model

    def _observed(self, nu: int) -> list[Observed | Term]:
        """Observation of a robot with nu servos, noisy with randomization."""
        noise = 1.0 if self.option.randomized else 0.0
        return [
            observed(legged.base_velocity, scale=2.0, noise=0.1 * noise),
            observed(legged.base_turning, scale=0.25, noise=0.025 * noise),
            observed(legged.down, noise=0.02 * noise),
            legged.command,
            self._feet.phase,
            observed(legged.each(legged.joint_offset, nu), noise=0.01 * noise),
            observed("qvel[6:]", scale=0.05, noise=0.025 * noise),
            legged.each(legged.last_action, nu),
        ]


def _randomized(base: str, touching: tuple[str, ...]) -> tuple[Randomize, ...]:
    """Randomized values: friction on the floor, masses, a load on the base, joint friction and servo gains."""
    return (
        Randomize([f"geom_friction[{name}, 0]" for name in touching], uniform(0.6, 1.25), together=True),
        Randomize(["body_mass[1:]", "body_inertia[1:]"], uniform(0.9, 1.1)),
        Randomize(f"body_mass[{base}]", uniform("least_load", "largest_load"), operation="add"),
        Randomize("dof_frictionloss[6:]", uniform(0.9, 1.1)),
        Randomize(["actuator_gainprm[:, 0]", "actuator_biasprm[:, 1]"], uniform(0.9, 1.1)),
    )


def _check(model: Model, feet: tuple[str, ...]) -> None:
    """Raise OptionError if the joints, servos or feet of a model are not as the terms require."""
    kinds = list(model.jnt_type)
    driven = list(model.actuator_trnid[:, 0])
    if kinds != [FREE] + [HINGE] * model.nu or driven != list(range(1, model.nu + 1)):
        raise OptionError(
            f"{model.name}: a robot needs a free joint, then hinges, and one servo for each of these in their order"
        )
    for name in feet:
        if model.geom_type[model.id("geom", name)] not in (SPHERE, CAPSULE, BOX):
            raise OptionError(f"{model.name}: foot {name} must be a sphere, a capsule or a box")


def _by_name(model: Model, parts: Mapping[str, float], others: float) -> NDArray[np.float64]:
    """A number for each joint: that of the first key contained in the joint's name, else `others`."""
    found = [next((x for part, x in parts.items() if part in name), others) for name in model.names("joint")[1:]]
    return np.array(found, float)


def _lifts(model: Model, feet: tuple[str, ...], parts: Mapping[str, float]) -> NDArray[np.float64]:
    """Joint angles that lift each foot (rad) [feet * nu]: numbers by parts of names, zero outside the foot's leg."""
    rows = []
    for name in feet:
        bodies, b = set(), int(model.geom_bodyid[model.id("geom", name)])
        while b:
            bodies.add(b)
            b = int(model.body_parentid[b])
        rows.append(np.where(np.isin(model.jnt_bodyid[1:], list(bodies)), _by_name(model, parts, 0.0), 0.0))
    return np.concatenate(rows)


def _rows(
    model: Model, key: int | str | None, feet: tuple[str, ...], option: SimpleNamespace
) -> dict[str, NDArray[np.float64]]:
    """Parameters derived from the model: standing pose (rad), ranges of joints, weights of the pose, lifts of feet."""
    limited = np.asarray(model.jnt_limited[1:], bool)
    low, high = model.jnt_range[1:].T
    return {
        "stand": np.array(start_state(model, key, model.opt.timestep)["qpos"][7:], float),
        "joint_low": np.where(limited, low, -UNLIMITED),
        "joint_high": np.where(limited, high, UNLIMITED),
        "pose_weights": _by_name(model, option.pose_weights, 1.0),
        "lifts": _lifts(model, feet, option.lifts),
    }


class QuadrupedJoystick(Joystick):
    """A robot on four legs, such as Unitree's Go1, follows velocity commands.

    Observation: velocity (times 2) and angular velocity (times 1/4) of the base and the direction of gravity, all in
    the base's axes; the command; sine and cosine of the gait's phase; joint positions relative to the standing pose,
    joint velocities (times 1/20), the last action.
    """

    model = partial(playground_model, "go1", "unitree_go1")
    parameters = PARAMETERS | {"height_limit": 0.15, "gait_frequency": 2.0, "gait": (0.0, 1.0, 1.0, 0.0)}
    options = {
        "feet": ("FR", "FL", "RR", "RL"),
        "floor": "floor",
        "control_rate": 50.0,
        "randomized": False,
        "pose_weights": {"calf": 0.1, "thigh": 0.3},
        "lifts": {"thigh": 0.2, "calf": -0.4},
    }


class HumanoidJoystick(Joystick):
    """A robot on two legs, such as Unitree's G1, follows velocity commands."""

    model = partial(playground_model, "g1", "unitree_g1")
    key = "knees_bent"
    parameters = PARAMETERS | {
        "forward_range": (-0.5, 0.8),
        "lateral_range": (-0.3, 0.3),
        "yaw_range": (-0.7, 0.7),
        "height_limit": 0.5,
        "gait_frequency": 1.4,
        "gait": (0.0, 1.0),
        "swing_height": 0.08,
        "rhythm_sigma": 0.005,
        "pose_weight": 0.3,
        "alive_weight": 1.0,
        "torques_weight": 2e-5,
        "energy_weight": 1e-4,
    }
    inputs = _inputs(parameters)
    options = {
        "feet": ("left_foot", "right_foot"),
        "floor": "floor",
        "control_rate": 50.0,
        "randomized": False,
        "pose_weights": {"hip_pitch": 0.01, "knee": 0.01, "ankle": 0.01, "hip": 1.0},
        "lifts": {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3},
    }
