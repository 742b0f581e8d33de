"""Prescribed motions of joints and mocap bodies, as users give them: functions of time, by name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numba import types

from saltus.arguments import mapping
from saltus.dynamics.user_laws import CHANGED, feature_key, user_kernel
from saltus.errors import OptionError, warn
from saltus.integrate.integrator import Integrator
from saltus.model.compile.prescribed import PrescribedMotions
from saltus.model.enums import BALL, FREE, HINGE, SLIDE
from saltus.model.model import Model
from saltus.number.internals import NumbaError
from saltus.number.jets.functions_of_time import JOINT, POSE, joint_numbers, pose_numbers
from saltus.number.jets.jet import jet_at
from saltus.number.kernels import Entry
from saltus.number.structs import Struct
from saltus.simulate.laws.control import Controller

#: q(t) of a hinge (rad) or slide (m); of a mocap body (x, y, z) (m), or this and its quaternion (w, x, y, z).
Motion: TypeAlias = Callable[[float], float] | Callable[[float], Sequence[float | Sequence[float]]]
#: Motions by the names of joints and mocap bodies.
Motions: TypeAlias = Mapping[str, Motion]

INTEGRATORS = ("euler", "implicitfast", "implicit", "dopri5", "moreau_jean")
FORM = "f(t), a function of the time (s) alone"
HINT = (
    "it must be made of numbers, arithmetic, branches, loops and functions of math or NumPy, and give the position of "
    "a joint (rad, m), or of a mocap body (x, y, z) in m or ((x, y, z), (w, x, y, z))"
)


class MotionLaws:
    """The prescribed motions of a simulation: joints, then mocap bodies, each with the kernel of its function."""

    def __init__(self, given: Any, model: Model):
        self.given: dict[str, Any] = dict(mapping("motions", {} if given is None else given))
        self._model = model
        joints, bodies = model.names("joint"), model.names("body")
        self.joints: dict[str, int] = {}
        self.bodies: dict[str, int] = {}
        self.laws: dict[str, Any] = {}
        for name, motion in self.given.items():
            if name in joints and (name not in bodies or not _is_mocap(model, bodies.index(name))):
                self.joints[name] = _checked_joint(model, name, joints.index(name))
            elif name in bodies:
                self.bodies[name] = _checked_body(model, name, bodies.index(name))
            else:
                movers = [body for b, body in enumerate(bodies) if body and _is_mocap(model, b)]
                raise OptionError.unknown("joint or mocap body in motions", name, [n for n in joints if n] + movers)
            self.laws[name] = _kernel(name, motion)
        self._key = self.key
        self._entries: list[Entry] = []

    def __bool__(self) -> bool:
        return bool(self.given)

    @property
    def names(self) -> list[str]:
        """Names of joints, then of mocap bodies."""
        return [*self.joints, *self.bodies]

    @property
    def key(self) -> str:
        """Key that tells the motions from others; "" without motions."""
        return ",".join(f"{name}={feature_key(law)}" for name, law in self.laws.items())

    def prescribed(self) -> PrescribedMotions:
        """The motions in the form of the kernels' Model."""
        joints = tuple(self.joints.values())
        inertias = np.array(self._model.dof_M0)
        free = inertias.sum() - inertias[self._model.jnt_dofadr[list(joints)]].sum() if joints else inertias.sum()
        rescaled = float(inertias.sum() / free) if free > 0 else 1.0
        return PrescribedMotions(joints, tuple(self.bodies.values()), rescaled)

    def addresses(self) -> dict[str, list[int]]:
        """Addresses of the motions' machine code, by fields of Data; OptionError if one cannot be compiled."""
        if self.key != self._key:
            raise OptionError(f"motions: {', '.join(map(repr, self.laws))}: {CHANGED}")
        return {
            "motion_address": [self._address(name, joint_numbers, JOINT) for name in self.joints],
            "carrier_address": [self._address(name, pose_numbers, POSE) for name in self.bodies],
        }

    def _address(self, name: str, numbers: Any, count: int) -> int:
        """Address of the machine code of a motion: a function of time that returns `count` numbers."""
        body, law = "return numbers(law(jet_at(time)))", self.laws[name]
        made = Entry("motion", "time", body, short=(), numbers=numbers, law=law, jet_at=jet_at)
        self._entries.append(made)  # keeps the compiled code alive
        try:
            return made.address(0.0, result=types.UniTuple(types.float64, count))
        except NumbaError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            why = next((line for line in lines if not line.startswith("Failed in nopython")), "")
            raise OptionError(f"motions[{name!r}] cannot be compiled; {HINT} ({why})") from None


def _is_mocap(model: Model, body: int) -> bool:
    return bool(model.body_mocapid[body] >= 0)


def _checked_joint(model: Model, name: str, joint: int) -> int:
    kind = model.jnt_type[joint]
    if kind not in (HINGE, SLIDE):
        what = {BALL: "ball", FREE: "free"}[int(kind)]
        remedy = "make the body a mocap body, or give it hinges and slides"
        raise OptionError(f"motions: joint {name!r} is a {what} joint, but a hinge or slide is needed; {remedy}")
    return joint


def _checked_body(model: Model, name: str, body: int) -> int:
    if not _is_mocap(model, body):
        remedy = 'give the motion of one of its joints, or make it a mocap body (mocap="true")'
        raise OptionError(f"motions: body {name!r} is no mocap body; {remedy}")
    return int(model.body_mocapid[body])


def _kernel(name: str, motion: Any) -> Any:
    """The kernel of a motion; OptionError unless it is a function of time."""
    what = f"motions[{name!r}]"
    if not callable(motion):
        raise OptionError(f"{what} must be {FORM}, got {type(motion).__name__}")
    try:
        wanted = [
            p.name
            for p in inspect.signature(getattr(motion, "py_func", motion)).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        ]
    except (TypeError, ValueError):
        raise OptionError(f"{what} must be {FORM}") from None
    if len(wanted) != 1:
        raise OptionError(f"{what} must be {FORM}, but takes {', '.join(wanted) or 'nothing'}")
    law = user_kernel(what, FORM, motion, inline=True)
    key = feature_key(law)
    if getattr(law, "motion_key", key) != key:
        raise OptionError(f"{what}: {CHANGED}")
    law.motion_key = key  # the code that was compiled on first use
    return law


def check_motions(
    motions: MotionLaws, model: Model, m: Struct, integrator: Integrator, others: dict[str, bool], hard: bool
) -> None:
    """Raise OptionError for conflicts of prescribed motions; `others`: other features in use, by name.

    `hard`: whether the contact law is hard.
    """
    if not motions:
        return
    fixed = integrator.kind == "explicit" and "nstage" in integrator.needs
    if not (fixed or integrator.name in INTEGRATORS):
        raise OptionError(
            f"motions: not under {integrator.name}; choose {', '.join(INTEGRATORS)} or an explicit Runge-Kutta method"
        )
    words = m.layout.features
    others = {
        **others,
        "trees that may sleep (load the model with ignore=['sleep'])": "sleep" in words,
        "so many kinematic trees that the constraint solver goes tree by tree": bool(motions.joints)
        and "many_trees" in words,
        "deformable bodies under implicit integrators (choose RK4 or dopri5)": bool(motions.joints)
        and "flex" in words
        and integrator.kind == "implicit",
    }
    for what, there in others.items():
        if there:
            raise OptionError(f"motions: not together with {what}")
    if hard and (idle := idle_limits(motions, model)):
        warn(f"motions: under hard contact, limits and dry friction of prescribed joints are left out: {idle}")


def idle_limits(motions: MotionLaws, model: Model) -> str:
    """Names of prescribed joints with limits or dry friction, which have no effect there."""
    rubs = model.dof_frictionloss[model.jnt_dofadr] > 0
    return ", ".join(repr(name) for name, j in motions.joints.items() if model.jnt_limited[j] or rubs[j])


def no_motions(motions: object, who: str) -> None:
    """Raise OptionError if motions are given to `who`, which does not support them."""
    if motions is not None and len(mapping("motions", motions)):
        raise OptionError(f"{who}: prescribed motions (motions=...) are for saltus.Simulation alone; make one for each")


def check_bases(control: Controller | None, motions: MotionLaws, model: Model) -> None:
    """Raise OptionError if prescribed motions move what a controller takes for free joints on a base at rest."""
    if control is None or not control.inverts_dynamics or not motions:
        return
    m = model.mujoco
    trees = {int(m.body_mocapid[m.body_rootid[b]]) for b in m.dof_bodyid}
    moved = [*motions.joints, *(name for name, mocap in motions.bodies.items() if mocap in trees)]
    if moved:
        raise OptionError(
            f"{control.title}: the prescribed motion of {', '.join(map(repr, moved))} is not in the law; take it out "
            "of motions=, or use saltus.PID"
        )


def check_values(motions: MotionLaws, time: float, read: Callable[[], Sequence[np.ndarray]]) -> None:
    """Raise OptionError if a motion is not finite at a time (s), or gives other values when it is evaluated again.

    `read`: evaluates all motions at that time; returns positions, velocities and accelerations, one row per motion.
    """
    first, again = read(), read()
    for name, now, then in zip(motions.names, first, again, strict=True):
        if not np.isfinite(now).all():
            what = ", ".join(f"{x:g}" for x in now)
            raise OptionError(
                f"motions[{name!r}] or a derivative of it is not finite at t = {time:g} s: it gives {what}"
            )
        if not np.array_equal(now, then):
            raise OptionError(f"motions[{name!r}] gives another value each time that it is called; it must be {FORM}")
