"""Small scenes of what MuJoCo lacks, for `helpers.plain_python`: hard contact, and integrators; their recorded ends.

`PYTHONPATH=tests python -m helpers.plain_scenes --record` records the ends anew, after an intended change.
"""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import saltus
from helpers import hard_models, hard_scenes, mechanisms, truth_scenes
from helpers.plain_python import plain_python
from helpers.random_tree import random_tree
from helpers.solvers import heap

FILE = Path(__file__).with_suffix(".json")
Scene = tuple[Callable[[], saltus.Simulation], int]  # what makes a simulation at its start, and steps

DROP = hard_models.floor(hard_models.SPHERE.replace(f"0 0 {hard_models.RADIUS}", f"0 0 {hard_models.RADIUS + 0.2}"))
BOUNDED = """<mujoco><compiler autolimits="true"/><option timestep="0.01"/><worldbody><site name="top" pos="0 0 1.2"/>
<body pos="0 0 1"><joint name="a" axis="0 1 0" range="-20 5" damping=".05" frictionloss=".02"/>
<geom size=".05" pos=".4 0 0" mass="1"/><body pos=".4 0 0"><joint name="b" axis="0 1 0" range="-30 30" stiffness="2"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".5"/><site name="tip" pos=".3 0 0"/></body></body>
<body pos="1 0 1"><joint name="c" type="slide" axis="0 0 1" frictionloss="3"/><geom size=".05" mass="1"/>
<body pos=".2 0 0"><joint name="d" type="ball" range="0 15"/><geom type="box" size=".2 .05 .03" pos=".1 .02 0"
  mass="1"/></body></body></worldbody>
<tendon><spatial name="rope" range="0 .82"><site site="top"/><site site="tip"/></spatial></tendon>
<equality><joint joint1="c" joint2="a" polycoef="0 .1 0 0 0"/></equality></mujoco>"""
LOOP = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 0 .5"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1"/>
<body name="b" pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.1" mass="1"
  contype="0" conaffinity="0"/>
</body></body><body name="c" pos=".6 0 .4"><freejoint/><geom size=".06" mass="1"/></body></worldbody>
<equality><connect body1="b" body2="c" anchor=".3 0 -.1"/></equality></mujoco>"""
#: Scenes that take long under an integrator, or are not moved by it under soft contact.
SLOW = {"moreau_jean": ("bounded",), "dopri5": ("bounded",), "discrete": ("actuators",)}
#: Scenes in which contacts share impulses, or begin at one instant, as rounding decides: only the motion is recorded.
SHARED = {f"{name}, moreau_jean" for name in ("heap", "humanoid", "three boxes", "all on a box")} | {"all on a box"}
LAWS = {
    "simultaneous": {},
    "poisson": {"impact": "poisson"},
    "moreau": {"treatment": "moreau"},
    "sequential": {"treatment": "sequential"},
    "superball": {"tangential_restitution": 0.6},
}


def hard(
    xml: str, integrator: str | None = None, qvel: Any = (), *, h: float | None = None, qpos: Any = (), **law: Any
) -> Callable[[], saltus.Simulation]:
    """A function that makes a simulation with hard contact whose first positions and velocities are these."""

    def make() -> saltus.Simulation:
        sim = saltus.Simulation(xml, integrator, contact=saltus.Hard(**law), timestep=h)
        sim.qpos[: len(qpos)], sim.qvel[: len(qvel)] = qpos, qvel
        return sim

    return make


def touching(law: truth_scenes.Law, place: str, shapes: tuple[str, ...]) -> Callable[[], saltus.Simulation]:
    """Bodies of the table of truth 2 mm above a surface, on their way down at 0.3 m/s and along it at 0.5 m/s."""
    start = truth_scenes.at(place, shapes, above=0.002, speed=0.5)
    for state in start.values():
        state[5] = -0.3
    return lambda: truth_scenes.simulation(law, shapes, start, friction=0.5, restitution=0.3)


def moving(xml: str, integrator: str, seed: int = 1, speed: float = 1.0) -> Callable[[], saltus.Simulation]:
    """A mechanism under soft contact in random motion, with random inputs."""

    def make() -> saltus.Simulation:
        sim, rng = saltus.Simulation(xml, integrator, timestep=0.01), np.random.default_rng(seed)
        sim.qvel[:], sim.ctrl[:] = speed * rng.normal(size=sim.qvel.shape), rng.normal(size=sim.ctrl.shape)
        sim.act[:], sim.qfrc_applied[:] = rng.uniform(size=sim.act.shape), rng.normal(size=sim.qvel.shape)
        return sim

    return make


def settled(k: int) -> Callable[[], saltus.Simulation]:
    """One of the bodies of `hard_scenes` just above the floor, in motion."""

    def make() -> saltus.Simulation:
        scene = hard_scenes.settling()[k]
        sim = scene.simulation()
        if k < 7 and sim.model.nq == 7:
            sim.qpos[2] -= 0.33
            sim.qvel[:] = 0.5, 0.1, -1.5, 0.2, 0.5, 0.1
        return sim

    return make


def hard_table() -> dict[str, Scene]:
    """Scenes of hard contact."""
    laws = {law.name: law for law in truth_scenes.LAWS}
    located, rk4, stepped = (laws[f"hard, {method}"] for method in ("dopri5", "rk4", "moreau_jean"))
    sphere, block = (hard_models.floor(body, friction=0.2) for body in (hard_models.SPHERE, hard_models.BLOCK))
    oblique = hard_models.OBLIQUE
    found: dict[str, Scene] = {
        "bounces": (hard(DROP, h=0.02, restitution=0.5), 40),
        "bounces to rest": (hard(DROP, h=0.02, restitution=0.3), 30),
        "bounces, rk4": (hard(DROP, "rk4", h=0.02, restitution=0.5), 20),
        "bounces, moreau_jean": (hard(DROP, "moreau_jean", h=0.01, restitution=0.5), 50),
        "block": (hard(block, qvel=[3.0, 0.5], h=0.05), 40),
        "roll": (hard(sphere, qvel=[3.0, 1.0], h=0.05), 14),
        "backspin, rk4": (hard(sphere, "rk4", [3.0, 0, 0, 0, -60.0, 0], h=0.05), 4),
        "leaves a sphere": (hard(hard_models.on_a_sphere(0.3, 0.5), h=0.05), 16),
        "rocking block": (hard(hard_models.rocking_block(0.35), h=0.05, qpos=hard_models.tilted(0.35, 0.2)), 12),
        "cradle": (hard(hard_models.CRADLE, qvel=[1.0], h=0.05, restitution=1.0), 8),
        "cradle of two": (hard(hard_models.CRADLE_OF_TWO, qvel=[1.0, 1.0], h=0.05, restitution=0.9), 8),
        "two balls": (hard(hard_models.TWO_BALLS, qvel=[2.0, -1.0], h=0.05, restitution=0.7), 8),
        "rod": (hard(hard_models.sliding_rod(0.5), qvel=[-1.0], h=0.005), 20),
        "rod, moreau_jean": (hard(hard_models.sliding_rod(0.5), "moreau_jean", [-1.0], h=0.005), 20),
        "limits": (hard(BOUNDED, qvel=[1.0, 2.0, 1.0, 2.0, 1.0], limits=0.4), 4),
        "limits, rk4": (hard(BOUNDED, "rk4", [1.0, 2.0, 1.0, 2.0, 1.0], limits=0.4), 4),
        "limits, moreau_jean": (hard(BOUNDED, "moreau_jean", [1.0, 2.0, 1.0, 2.0, 1.0], limits=0.4), 30),
        "loop": (hard(LOOP, qvel=[1.0, 2.0], restitution=0.2), 40),
        "loop, moreau_jean": (hard(LOOP, "moreau_jean", [1.0, 2.0], restitution=0.2), 60),
        "heap, moreau_jean": (hard(heap("elliptic"), "moreau_jean", [0.1] * 12, restitution=0.2), 40),
        "humanoid, moreau_jean": (lambda: saltus.Simulation("humanoid", "moreau_jean", contact="hard"), 20),
        "three boxes, moreau_jean": (lambda: hard_scenes.three_boxes().simulation("moreau_jean"), 60),
        "cylinder": (settled(4), 15),
        "box": (settled(1), 15),
        "capsule": (settled(6), 25),
        "all on a box, moreau_jean": (touching(stepped, "box", truth_scenes.ALL), 30),
        "all on a box": (touching(located, "box", truth_scenes.ALL), 9),
        "small on a box, rk4": (touching(rk4, "box", truth_scenes.SMALL), 9),
    }
    for name, law in LAWS.items():
        for mu in (0.02, 0.3):
            found[f"oblique, {name}, {mu}"] = (
                hard(oblique, qvel=[1.0, 0.2, -2.0, 0.5, 0.0, 1.0], h=0.05, restitution=0.5, friction=mu, **law),
                4,
            )
        found[f"cradle, {name}"] = (hard(hard_models.CRADLE, qvel=[1.0], h=0.05, restitution=0.6, **law), 8)
    return found


def smooth_table() -> dict[str, Scene]:
    """Mechanisms moved by each integrator."""
    models = {name: mechanisms.MECHANISMS[name] for name in ("references and springs", "several joints", "actuators")}
    models["tree"] = random_tree(4, bodies=4)
    models["bounded"] = BOUNDED
    found: dict[str, Scene] = {}
    for integrator in saltus.integrators():
        for name, xml in models.items():
            if name not in SLOW.get(integrator, ()):
                found[f"{name}, {integrator}"] = (moving(xml, integrator), 3)
    return found


def end(name: str, scene: Scene) -> dict[str, list[float]]:
    """State after the scene's steps, and the events up to there where they are determined."""
    make, steps = scene
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = make()
        sim.step(steps)
        motion = {"qpos": sim.qpos.tolist(), "qvel": sim.qvel.tolist(), "act": sim.act.tolist()}
        if name in SHARED:
            return motion
        return motion | {
            "forces": sim.data.qfrc_constraint.tolist(),
            "times": [float(event["time"]) for event in sim.events],
            "impulses": np.ravel(sim.events["impulse"]).tolist(),
        }


def recorded() -> dict[str, dict[str, list[float]]]:
    """Ends as they were recorded, by name."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def _record() -> None:
    made = {}
    with plain_python():
        for name, scene in {**hard_table(), **smooth_table()}.items():
            made[name] = end(name, scene)
            print(f"{name}: {len(made[name].get('times', ()))} events", flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in made.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__" and "--record" in sys.argv:
    _record()
