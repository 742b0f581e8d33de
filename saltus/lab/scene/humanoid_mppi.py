"""The humanoid under model predictive control by sampling: it keeps its balance, gets up when it has fallen, and walks.

Each plan simulates 96 futures of 0.6 s, whose joint targets differ from the plan before along lines between a few
knots. The body is the bundled humanoid with joints as strong as a strong man's; its servos alone let it fall when it is
pushed with 20 N s. The goal is moved by sliders or keys while it acts; bodies are pulled with the mouse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.control.mppi import SamplingPlanner, mppi
from saltus.errors import OptionError
from saltus.lab.controls.sliders import Handle, slider
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.humanoid_cost import RECORD, Goal, HumanoidCost, joint_noise
from saltus.lab.scene.planned import PlannedSession
from saltus.lab.scene.servo import action
from saltus.model.load import BUNDLED, load
from saltus.simulate.laws.contact import find_contact_law

if TYPE_CHECKING:
    from saltus.lab.data.recording import Downloads
    from saltus.model.model import Model
    from saltus.simulate.batches.rollout import Rollout
    from saltus.simulate.simulation import Simulation

TITLE = "Humanoid, planned ahead"
TIMESTEP = 0.01  # s, of the simulation and of the samples
HORIZON, HELD, PERIOD = 0.6, 0.15, 0.04  # s: what is planned, between knots of a sample, between plans
SAMPLES, TEMPERATURE = 96, 0.05  # number, and unit of the mean of their costs over the steps
NOISE = {"neck": 0.02, "waist": 0.12, "shoulder": 0.24, "elbow": 0.24, "hip": 0.2, "knee": 0.2, "ankle": 0.2}  # rad
WALK = 0.7  # m/s, of the key
TURN = 0.2  # rad, of a key
#: Largest torque of a joint's servo (N m): round numbers, an estimate for a strong man.
STRENGTHS = {
    **{"waist_turn": 100.0, "waist_bend": 250.0, "waist_lean": 200.0, "neck_nod": 40.0, "neck_turn": 20.0},
    **{"shoulder_out": 80.0, "shoulder": 90.0, "elbow": 70.0},
    **{"hip_turn": 80.0, "hip_out": 150.0, "hip": 200.0, "knee": 210.0, "ankle_out": 60.0, "ankle": 120.0},
}


def strong_humanoid() -> Model:
    """The bundled humanoid, with torques bounded by STRENGTHS (N m), an estimate for a strong man's joints."""
    spec = mujoco.MjSpec.from_file(str(BUNDLED / "humanoid.xml"))
    for actuator in spec.actuators:
        most = STRENGTHS[actuator.name.removeprefix("left_").removeprefix("right_")]
        actuator.forcelimited, actuator.forcerange = True, [-most, most]
    return load(spec)


def humanoid_planner(
    sim: Simulation, goal: Goal, samples: int = SAMPLES, threads: int | None = 1, seed: int = 0
) -> SamplingPlanner:
    """The planner for a simulation of the humanoid, by `saltus.mppi`, with the cost of `HumanoidCost`.

    `goal`: may be changed between plans. `samples`, `threads`: futures of each plan, and threads that simulate them.
    `seed`: of the planner's noise.

    Raises:
        OptionError: the model has not the bodies or joints of the bundled humanoid, or `saltus.mppi` does not take it.
    """
    steps, hold, every = (max(round(time / sim.timestep), 1) for time in (HORIZON, HELD, PERIOD))
    cost = HumanoidCost(sim.model, goal, sim.timestep)

    def mean_cost(rollout: Rollout) -> NDArray[np.float64]:
        return cost(rollout).mean(axis=1)

    return mppi(
        sim,
        mean_cost,
        steps,
        noise=joint_noise(sim.model.names("actuator"), NOISE),
        temperature=TEMPERATURE,
        samples=samples,
        hold=hold,
        interpolation="linear",
        every=every,
        record=RECORD,
        threads=threads,
        precision="float32",
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class GoalHandle(Handle):
    """A slider that sets a field of a goal."""

    goal: Goal = field(default_factory=Goal)

    def read(self, sim: Simulation) -> float:
        """The present value of the goal."""
        return float(getattr(self.goal, self.field))

    def write(self, sim: Simulation, value: float) -> None:
        """Set the goal; the next plan is made for it."""
        setattr(self.goal, self.field, value)


class HumanoidSession(PlannedSession):
    """A session whose goal is moved by sliders and keys."""

    def __init__(self, setup: LabStart, downloads: Downloads):
        self.goal = Goal()
        made = humanoid_planner(setup.simulation(), self.goal)
        super().__init__(setup, downloads, made, plan=("head", "pelvis", "left_foot", "right_foot"))
        self.follow = "pelvis"

    def make_handles(self) -> list[Handle]:
        speed = slider("walking speed", "walking speed", "input", 0.0, 1.0, "m/s")
        heading = slider("heading", "heading", "input", -3.2, 3.2, "rad")
        own = [GoalHandle(speed, "speed", 0, goal=self.goal), GoalHandle(heading, "heading", 0, goal=self.goal)]
        return [*own, *super().make_handles()]

    def keyboard(self) -> list[str]:
        return [*super().keyboard(), "w", "q", "e"]

    def actions(self) -> list[dict[str, Any]]:
        walk = action("Goal", "w", "Walk", when=("walking", True))
        turns = [action("Goal", "q", "Turn left"), action("Goal", "e", "Turn right")]
        return [*super().actions(), walk, *turns]

    def status(self) -> dict[str, Any]:
        return super().status() | {"walking": self.goal.speed > 0.0}

    def hud(self) -> list[list[Any]]:
        *own, keys = super().hud()
        return [*own, [keys[0], [*keys[1], "w - walk or stand", "q/e - turn"]]]

    def do_keydown(self, key: str) -> None:
        goal, key = self.goal, key.lower()
        if key == "w":
            goal.speed = 0.0 if goal.speed else WALK
        elif key in ("q", "e"):
            heading = self.handles["heading"]
            goal.heading = heading.slider.clipped(goal.heading + (TURN if key == "q" else -TURN))
        super().do_keydown(key)


def humanoid_mppi(downloads: Downloads, options: Mapping[str, Any]) -> HumanoidSession:
    """Open a session of the scene, with the humanoid standing. OptionError: its contact is to be hard."""
    if find_contact_law(options.get("contact", "soft")).name != "soft":
        raise OptionError(
            "humanoid_mppi plans with soft contact; the scene humanoid has hard contact, without a planner"
        )
    plots = ("qpos[root.z]", "qvel[root.x]", "qpos[left_knee]", "qpos[right_knee]")
    given = {"key": "standing", "timestep": TIMESTEP, "phase": "left_knee", "plots": plots}
    return HumanoidSession(LabStart("humanoid_mppi", TITLE, strong_humanoid(), **{**given, **options}), downloads)
