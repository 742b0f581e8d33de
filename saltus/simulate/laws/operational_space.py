"""Controller in the time loop for tasks of a site: its position, and the orientation of its body."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import numbers, positive, words
from saltus.dynamics.control import READS_BODIES
from saltus.dynamics.controllers.operational_space import damped_inverse, operate
from saltus.errors import OptionError
from saltus.integrate.integrator import Kernel
from saltus.model.actuator_enums import (
    OSC_ACCELERATION,
    OSC_AXES,
    OSC_DAMPING,
    OSC_KD,
    OSC_KP,
    OSC_PARAMETERS,
    OSC_POSITION,
    OSC_QUATERNION,
    OSC_RATE,
)
from saltus.number.kernels import interpret, kernel
from saltus.simulate.laws.model_based_control import ModelBasedControl
from saltus.spatial.motions import add3
from saltus.spatial.quaternions import quat_multiply
from saltus.spatial.vectors import matrix_times_vector

if TYPE_CHECKING:
    from saltus.model.model import Model

Array = NDArray[np.float64]
TITLE = "operational_space"
POSITIONS, ROTATIONS = ("x", "y", "z"), ("rotation x", "rotation y", "rotation z")
_damped_inverse = interpret(damped_inverse)
QUATERNION_LENGTH = 1e-6  # by which the length of a quaternion may differ from 1


@functools.cache
def law_of(site: int) -> Kernel:
    """The kernel of the controller of a site."""

    @kernel
    def operational_space(m, d, z):
        b = m.site_bodyid[site]
        point = add3(d.xpos[b], matrix_times_vector(d.xmat[b], m.site_pos[site]))
        operate(m, d, b, point, quat_multiply(d.xquat[b], m.site_quat[site]))

    return operational_space


class OperationalSpace(ModelBasedControl):
    """A law that moves a site as asked, made by `operational_space`.

    The law is that of the site's number in the model of the simulation that takes it.
    """

    reads = frozenset({READS_BODIES})

    def __init__(self, site: str, task: dict[str, Array], posture: dict[str, ArrayLike]):
        super().__init__(TITLE, law_of(0), posture, None)
        self.site, self.task = site, task

    def __repr__(self) -> str:
        return f"{TITLE}({self.site!r}, axes={self._names()})"

    def _names(self) -> list[str]:
        """Names of the controlled axes."""
        names = (*POSITIONS, *ROTATIONS)
        return [names[k] for k in np.flatnonzero(self.task["axes"])]

    def parameters(self, model: Model) -> Array:
        """Parameters of the posture for each actuator, then gains, target and axes of the task."""
        site = model.id("site", self.site)
        if _stands(model, site):
            raise OptionError(f"{TITLE}: no joint moves site {self.site!r}; choose one that does")
        if self.law is not law_of(site):
            self.law, self._word = law_of(site), ""
        own = np.zeros(OSC_PARAMETERS)
        places = {"kp": OSC_KP, "kd": OSC_KD, "target": OSC_POSITION, "orientation": OSC_QUATERNION}
        places |= {"rate": OSC_RATE, "acceleration": OSC_ACCELERATION, "axes": OSC_AXES, "damping": OSC_DAMPING}
        for name, place in places.items():
            value = np.atleast_1d(self.task[name])
            own[place : place + len(value)] = value
        return np.concatenate([super().parameters(model), own])

    def damped_axes(self, model: Model, qpos: ArrayLike) -> list[str]:
        """Names of the axes ("x", ..., "rotation z") that are given up in part or wholly at qpos [nq] (rad, m).

        There the mechanism is near a singular configuration: its joints hardly move the site along them.
        """
        on = np.flatnonzero(self.task["axes"])
        mobility = task_mobility(model, qpos, model.id("site", self.site))[np.ix_(on, on)]
        means = [float(self.task["damping"]) * mobility[np.ix_(k, k)].trace() / 3.0 for k in (on < 3, on >= 3)]
        found = []
        for k, axis in enumerate(on):
            pivot, least = mobility[k, k], means[int(axis >= 3)]
            if pivot < least:
                found.append((*POSITIONS, *ROTATIONS)[axis])
            inverse = _damped_inverse(pivot, least, 1.0)
            mobility = mobility - inverse * np.outer(mobility[:, k], mobility[k])
        return found


def task_mobility(model: Model, qpos: ArrayLike, site: int) -> Array:
    """J M⁻¹ Jᵀ [6, 6] of a site at positions qpos [nq]: its inverse is the task's inertia Λ (kg, kg m, kg m²)."""
    m = model.mj_model
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_forward(m, data)
    jacobian, M = np.zeros((6, m.nv)), np.zeros((m.nv, m.nv))
    mujoco.mj_jacSite(m, data, jacobian[:3], jacobian[3:], site)
    mujoco.mj_fullM(m, data, M)
    return jacobian @ np.linalg.solve(M, jacobian.T)


def _stands(model: Model, site: int) -> bool:
    """Whether no joint is between the world and a site."""
    m = model.mujoco
    b = int(m.site_bodyid[site])
    while b:
        if m.body_dofnum[b]:
            return False
        b = int(m.body_parentid[b])
    return True


def operational_space(
    site: str,
    kp: ArrayLike,
    kd: ArrayLike,
    target: ArrayLike | None = None,
    *,
    orientation: ArrayLike | None = None,
    axes: Sequence[str] | str = "",
    rotation_axes: Sequence[str] | str = "",
    target_rate: ArrayLike = 0.0,
    target_acceleration: ArrayLike = 0.0,
    posture: ArrayLike = 0.0,
    posture_kp: ArrayLike = 0.0,
    posture_kd: ArrayLike = 5.0,
    damping: float = 0.02,
) -> OperationalSpace:
    """Controller in the time loop that moves a site as asked: its errors e follow e'' + kd e' + kp e = 0.

    tau = Jᵀ Λ (a - J' v - J q₀'') + M q₀'' + bias - passive forces, with Λ = (J M⁻¹ Jᵀ)⁻¹ and a = target_acceleration +
    kd (target_rate - velocity) + kp e (Khatib 1987), evaluated with every acceleration. `target` [3] (m) is a place in
    the world, `orientation` [4] a unit quaternion (w, x, y, z) of the site's frame there; one of them or both. `axes`
    and `rotation_axes`: those of x, y, z of the world that are controlled, by default all of what has a target; a
    planar arm has fewer. `kp` (1/s²), `kd` (1/s), `target_rate` (m/s, rad/s) and `target_acceleration` (m/s², rad/s²)
    are numbers for all or one for each of x, y, z, rotations about x, y, z [6]. Errors of orientation are rotation
    vectors, whose angle follows the same law where it turns about a fixed axis.

    What the task leaves free follows q₀'' = posture_kp (posture - q) - posture_kd v, of the joints in the order of the
    actuators (rad, m), without disturbing the task. Where the joints hardly move the site along an axis, its mobility
    below a share `damping` of the mean, that axis is given up smoothly, towards a singular configuration wholly, in
    favour of the posture (positions keep precedence over rotations): its error is then not exact, and
    `damped_axes(model, qpos)` names it. A target beyond reach is met with singular configurations at speed, which
    may diverge. Every degree of freedom of the mechanism must be a hinge or slide with one
    motor. Contacts, limits, dry friction, applied forces and the ranges of controls disturb the errors.

    Raises:
        OptionError: no target, no such axis, a value that is not finite; from the simulation, a site, degree of freedom
            or actuator that does not fit, and prescribed motions.
    """
    if not isinstance(site, str):
        raise OptionError(f"{TITLE}: site must be the name of a site, got {site!r}")
    if target is None and orientation is None:
        raise OptionError(f"{TITLE}: give a target, an orientation, or both")
    on = np.zeros(6)
    on[:3] = _chosen("axes", axes, target is not None)
    on[3:] = _chosen("rotation_axes", rotation_axes, orientation is not None)
    quat = _vector("orientation", (1.0, 0.0, 0.0, 0.0) if orientation is None else orientation, 4)
    if abs(np.linalg.norm(quat) - 1.0) > QUATERNION_LENGTH:
        raise OptionError(f"{TITLE}: orientation must be a unit quaternion (w, x, y, z), got {quat}")
    task = {
        "kp": _vector("kp", kp, 6),
        "kd": _vector("kd", kd, 6),
        "target": _vector("target", 0.0 if target is None else target, 3),
        "orientation": quat / np.linalg.norm(quat),
        "rate": _vector("target_rate", target_rate, 6),
        "acceleration": _vector("target_acceleration", target_acceleration, 6),
        "axes": on,
        "damping": np.array(positive(f"{TITLE}: damping", damping, "")),
    }
    gains: dict[str, ArrayLike] = {"posture_kp": posture_kp, "posture_kd": posture_kd, "posture": posture}
    return OperationalSpace(site, task, gains)


def _vector(name: str, value: ArrayLike, count: int) -> Array:
    """Finite numbers [count], or one for all where it is not a place or an orientation."""
    given = numbers(f"{TITLE}: {name}", value)
    if not np.isfinite(given).all() or given.shape not in (
        (count,),
        () if count == 6 or name == "target" else (count,),
    ):
        what = f"a finite number or {count} of them" if count == 6 else f"{count} finite numbers"
        raise OptionError(f"{TITLE}: {name} must be {what}, got {value}")
    return np.array(np.broadcast_to(given, (count,)), float)


def _chosen(name: str, given: Sequence[str] | str, there: bool) -> Array:
    """1 for each of x, y, z that is controlled."""
    chosen = list(given) if isinstance(given, str) else words(f"{TITLE}: {name}", given)
    if not set(chosen) <= set(POSITIONS):
        raise OptionError(f"{TITLE}: {name} must be some of x, y, z, got {given!r}")
    if chosen and not there:
        raise OptionError(f"{TITLE}: {name} without {'a target' if name == 'axes' else 'an orientation'}")
    return np.array([float(there and (not chosen or axis in chosen)) for axis in POSITIONS])
