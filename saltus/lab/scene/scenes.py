"""The scenes of the lab: models, initial states and keys.

Each scene is an entry of SCENES or made by `bundled` for a bundled model. Its `open` returns a session (see
`saltus.lab.base_session.Session`): a `LiveSession` of a `LabStart`, or a subclass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from saltus.lab.base_session import Session
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.scene.humanoid_mppi import TITLE as CATCHES_ITSELF
from saltus.lab.scene.humanoid_mppi import humanoid_mppi
from saltus.lab.scene.pendularm import GHOSTS, Pendularm
from saltus.lab.scene.pendularm import setup as pendularm_setup
from saltus.lab.scene.servo import Knob, Servo, ServoSession, pid_servo
from saltus.lab.scene.sit_to_stand import clocked
from saltus.lab.scene.swing_up import TITLE as SWUNG_UP
from saltus.lab.scene.swing_up import swing_up
from saltus.lab.session import LiveSession
from saltus.model.load import BUNDLED, load, models
from saltus.number.functions import clip, where
from saltus.simulate.laws.contact import Hard
from saltus.simulate.laws.control import PID, controller
from saltus.simulate.simulation import Simulation

LECTURE, SCENES_GROUP, MODELS = "The lecture", "Scenes", "Models"


@dataclass(frozen=True)
class Scene:
    """A named scene; `open(downloads, options)` starts its session, with `options` replacing fields of its LabStart.

    standalone: whether a page that contains its simulation can show it, without Python.
    """

    name: str
    title: str
    group: str
    open: Callable[[Downloads, Mapping[str, object]], Session]
    standalone: bool = True

    def entry(self) -> dict[str, str]:
        """The scene's entry in the page's list."""
        return {"name": self.name, "title": self.title, "group": self.group}


def scenes() -> dict[str, Scene]:
    """All scenes by name, in the order of the page's list: those made for the lab, then the other bundled models."""
    made = {scene.name: scene for scene in SCENES}
    return made | {name: bundled(name) for name in models() if name not in made}


def bundled(name: str) -> Scene:
    """Make the scene of a bundled model, without additions."""
    title = f"{name.replace('_', ' ').capitalize()}: {first_words(name)}"
    return Scene(name, title, MODELS, lambda downloads, options: plain(name, title, downloads, options))


def first_words(name: str) -> str:
    """First words of the comment in a bundled model's file."""
    text = (BUNDLED / f"{name}.xml").read_text(encoding="utf-8")
    found = re.search(r"<!--\s*(.*?)[.;]\s", text, re.DOTALL)
    sentence = " ".join(found[1].split()) if found else ""
    return (sentence.partition(": ")[2] or sentence).partition(", ")[0]


def plain(name: str, title: str, downloads: Downloads, options: Mapping[str, Any], **given: Any) -> LiveSession:
    """Open a session of a bundled model; `given`: fields of its LabStart."""
    ghosts = GHOSTS if load(name).nbody < 10 else ()
    return LiveSession(LabStart(name, title, load(name), **{"ghosts": ghosts, **given, **options}), downloads)


# ---------------------------------------------------------------- the lecture's pendulum


def _pendularm(joints: int, name: str, title: str, on: bool = False, ghosts: bool = False) -> Scene:
    def open_scene(downloads: Downloads, options: Mapping[str, Any]) -> Session:
        return Pendularm(joints, pendularm_setup(joints, name, title, **options), downloads, on, ghosts)

    return Scene(name, title, LECTURE, open_scene)


# ---------------------------------------------------------------- with a servo


def _arm(downloads: Downloads, options: Mapping[str, Any]) -> Session:
    model = load("arm")
    control = PID(kp=[60.0, 20.0], ki=[40.0, 20.0], kd=[6.0, 1.5], target=[0.6, 1.2])
    given = dict(control=control, timestep=0.002, ghosts=GHOSTS)
    setup = LabStart("arm", "Two-link arm with servos", model, **{**given, **options})
    limits = {"kp": (0.0, 200.0), "ki": (0.0, 200.0), "kd": (0.0, 20.0), "target": (-3.1, 3.1)}
    targets = {
        **{"1": ("target 1", -0.02), "2": ("target 1", 0.02)},
        **{"3": ("target 2", -0.02), "4": ("target 2", 0.02)},
    }
    return ServoSession(setup, downloads, pid_servo(model, limits, push=(0, 5.0), targets=targets))


BALANCE = (-1.0, -2.2, 31.0, 8.6, 0.0, 1.0, 20.0)  # gains of x, x', θ, θ'; the target (m); on; the largest force (N)


@controller(parameters=BALANCE)
def balance(m, d, z):
    """Balance a pole on a cart by linear state feedback: the force F = k1 (x* - x) - k2 x' + k3 θ + k4 θ' (N)."""
    p = d.control_prm
    force = p[0] * (p[4] - d.qpos[0]) - p[1] * d.qvel[0] + p[2] * d.qpos[1] + p[3] * d.qvel[1]
    d.ctrl[0] = where(p[5] > 0.5, clip(force, -p[6], p[6]), d.ctrl[0])


POLE = {"control": balance, "integrator": "rk4", "phase": "theta"}


def _cart_pole(downloads: Downloads, options: Mapping[str, Any]) -> Session:
    model = load("cart_pole")
    setup = LabStart("cart_pole", "Cart and pole, balanced", model, **{**POLE, **options})
    knobs = (
        Knob("target", 4, -2.0, 2.0, "m"),
        Knob("x gain", 0, -10.0, 0.0, "N/m"),
        Knob("x_dot gain", 1, -10.0, 0.0, "N s/m"),
        Knob("theta gain", 2, 0.0, 100.0, "N/rad"),
        Knob("theta_dot gain", 3, 0.0, 30.0, "N s/rad"),
    )
    targets = {"q": ("target", -0.05), "e": ("target", 0.05)}
    return ServoSession(setup, downloads, Servo(knobs, (5,), (0,), (0, 5.0), targets))


# ---------------------------------------------------------------- a muscle

FOREARM = """
<mujoco model="forearm">
  <option timestep="0.0005" integrator="RK4"/>
  <default><geom rgba="0.85 0.65 0.5 1" contype="0" conaffinity="0"/></default>
  <worldbody>
    <geom name="upper arm" type="capsule" size="0.035" fromto="0 0 0.35 0 0 0" rgba="0.2 0.45 0.7 1"/>
    <site name="shoulder" pos="0.05 0 0.3" size="0.008"/>
    <body name="forearm">
      <joint name="elbow" axis="0 -1 0" damping="0.2" range="-5 150" limited="true"/>
      <geom name="forearm" type="capsule" size="0.02" fromto="0 0 0 0 0 -0.28" mass="1.2"/>
      <geom name="load" size="0.05" pos="0 0 -0.32" mass="4" rgba="0.3 0.33 0.37 1"/>
      <site name="radius" pos="0.03 0 -0.04" size="0.008"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="biceps" width="0.012" rgba="0.8 0.2 0.2 1"><site site="shoulder"/><site site="radius"/></spatial>
  </tendon>
  <actuator><muscle name="biceps" tendon="biceps" lengthrange="0.2 0.36"/></actuator>
</mujoco>"""


def _muscle(downloads: Downloads, options: Mapping[str, Any]) -> Session:
    from saltus.model.compile.hill import HillMuscle

    biceps = HillMuscle(max_isometric_force=1500, optimal_fiber_length=0.12, tendon_slack_length=0.21)
    model = load(FOREARM, muscles={"biceps": biceps})

    def start(sim: Simulation) -> None:
        sim.ctrl[:] = EXCITATION

    return LiveSession(
        LabStart("muscle", MUSCLE, model, **{"start": start, "plots": CONTRACTION, **options}), downloads
    )


def _sit_to_stand(downloads: Downloads, options: Mapping[str, Any]) -> Session:
    setup = LabStart(
        "sit_to_stand",
        STANDING_UP,
        load("sit_to_stand"),
        **{"control": clocked, "contact": "hard", "plots": RISE, "phase": "hip", **options},
    )
    return LiveSession(setup, downloads)


CONTRACTION = ("qpos[elbow]", "ctrl[biceps]", "act[biceps]", "actuator_force[biceps]")
EXCITATION = 0.3  # initial excitation of the muscle
MUSCLE = "A muscle with an elastic tendon"
STANDING_UP = "Standing up by eight muscles, hard contact"
FREE_BODY = "A free body about its middle axis"
HUMANOID = "Humanoid on the floor"
CRADLE, BALL = "Newton's cradle, hard contact", "A ball that bounces, hard contact"
SPINS = tuple(f"qvel[free.w{axis}]" for axis in "xyz")
SWINGS = tuple(f"qpos[theta{k}]" for k in range(1, 6))
POSTURE = ("qpos[root.z]", "qpos[waist_bend]", "qpos[neck_nod]")
BOUNCE = ("qpos[height]", "contact_force[floor ball]")
RISE = ("qpos[hip]", "qpos[knee]", "qpos[ankle]", "ctrl[gluteus]", "ctrl[vasti]", "ctrl[soleus]")
ELASTIC, LIVELY = Hard(restitution=1.0), Hard(restitution=0.8)
SCENES = (
    _pendularm(1, "pendularm", "Pendularm, one joint"),
    _pendularm(2, "pendularm2", "Pendularm, two joints"),
    _pendularm(1, "pendulum_ghosts", "Pendulum under four integrators", ghosts=True),
    _pendularm(2, "double_pendulum_ghosts", "Double pendulum under four integrators: chaos", ghosts=True),
    Scene("arm", "Two-link arm with servos", SCENES_GROUP, _arm),
    Scene("cart_pole", "Cart and pole, balanced", SCENES_GROUP, _cart_pole),
    Scene("swing_up", SWUNG_UP, SCENES_GROUP, swing_up, standalone=False),
    Scene("free_body", FREE_BODY, SCENES_GROUP, lambda d, o: plain("free_body", FREE_BODY, d, o, plots=SPINS)),
    Scene("humanoid_mppi", CATCHES_ITSELF, SCENES_GROUP, humanoid_mppi, standalone=False),
    Scene("humanoid", HUMANOID, SCENES_GROUP, lambda d, o: plain("humanoid", HUMANOID, d, o, plots=POSTURE)),
    Scene(
        "newtons_cradle",
        CRADLE,
        SCENES_GROUP,
        lambda d, o: plain("newtons_cradle", CRADLE, d, o, contact="hard", hard=ELASTIC, plots=SWINGS),
    ),
    Scene(
        "bouncing_ball",
        BALL,
        SCENES_GROUP,
        lambda d, o: plain("bouncing_ball", BALL, d, o, contact="hard", hard=LIVELY, plots=BOUNCE),
    ),
    Scene("muscle", MUSCLE, SCENES_GROUP, _muscle),
    Scene("sit_to_stand", STANDING_UP, SCENES_GROUP, _sit_to_stand),
)
