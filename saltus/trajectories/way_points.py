"""Reference motions through way points: with the least jerk, as cubic splines, and periodic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import flag, number, numbers, positive, words
from saltus.errors import OptionError, warn
from saltus.model.enums import BALL, FREE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.trajectories.reference_motion import ReferenceMotion, turns

if TYPE_CHECKING:
    from scipy.interpolate import BSpline, PPoly

Array = NDArray[np.float64]
FARTHEST = 1.5 * np.pi  # rad: rotations from the first way point beyond this come near to the full turn, where none are
UNIT = 1e-3  # by which the length of a quaternion may differ from 1


def minimum_jerk(
    model: ModelSource,
    points: ArrayLike,
    times: ArrayLike,
    *,
    joints: Sequence[str] | str | None = None,
) -> ReferenceMotion:
    """The motion through way points that begins and ends at rest with the least integral of squared jerk.

    Between two points each joint moves as 10 s³ - 15 s⁴ + 6 s⁵ of its way, with s from 0 to 1 (Flash & Hogan 1985);
    through more it is the spline of fifth order with four continuous derivatives. Ball and free joints turn by rotation
    vectors from the first point, between two points about one axis. `points` [n, nq]: positions; with `joints`, names
    of joints, theirs alone, side by side; other joints stay at the model's qpos0. `times` [n]: s, rising. A joint that
    leaves its range on the way is warned of.

    Raises:
        OptionError: shapes, times that do not rise, quaternions that are no unit ones, a rotation by more than 270°
            from the first point.
    """
    from scipy.interpolate import make_interp_spline

    who = "minimum_jerk"
    made, at, named = _given(who, model, points, joints)
    t = _times(who, times, len(at))
    p = _displacements(who, made, at)
    rest = [(1, np.zeros(made.nv)), (2, np.zeros(made.nv))]
    curve = _pieces(make_interp_spline(t, p, k=5, bc_type=(rest, rest)), t)
    return _checked(who, ReferenceMotion(made, at[0], curve, 0.0, named))


def spline(
    model: ModelSource,
    points: ArrayLike,
    times: ArrayLike,
    *,
    joints: Sequence[str] | str | None = None,
    at_rest: bool = True,
) -> ReferenceMotion:
    """The cubic spline through way points: positions, velocities and accelerations are continuous between its ends.

    `at_rest`: it begins and ends without velocity; otherwise without acceleration (natural spline). The other arguments
    and errors are those of `minimum_jerk`, in whose motion accelerations are continuous at the ends, too.
    """
    from scipy.interpolate import CubicSpline

    who = "spline"
    made, at, named = _given(who, model, points, joints)
    t = _times(who, times, len(at))
    curve = CubicSpline(t, _displacements(who, made, at), bc_type="clamped" if flag("at_rest", at_rest) else "natural")
    return _checked(who, ReferenceMotion(made, at[0], curve, 0.0, named))


def gait(
    model: ModelSource,
    points: ArrayLike,
    phases: ArrayLike,
    period: float,
    *,
    joints: Sequence[str] | str | None = None,
    start: float = 0.0,
) -> ReferenceMotion:
    """The periodic cubic spline through way points at phases of a period, as of walking, for ever from `start` (s) on.

    Positions, velocities and accelerations are continuous, from period to period too. `phases` [n]: from 0 up, rising,
    below 1; `points` as of `minimum_jerk`, without the first again at the end; `period`: s.

    Raises:
        OptionError: as of `minimum_jerk`; phases not from 0 to below 1, fewer than three points.
    """
    from scipy.interpolate import CubicSpline

    who = "gait"
    made, at, named = _given(who, model, points, joints)
    share = numbers(f"{who}: phases", phases)
    if (
        share.shape != (len(at),)
        or len(at) < 3
        or share[0] != 0.0
        or not share[-1] < 1.0
        or (np.diff(share) <= 0).any()
    ):
        raise OptionError(
            f"{who}: phases must be {max(len(at), 3)} numbers that rise from 0 to below 1, got {phases!r:.80}"
        )
    length, begin = positive(f"{who}: period", period), number(f"{who}: start", start)
    if not np.isfinite(begin):
        raise OptionError(f"{who}: start must be a finite time (s), got {start!r}")
    p = _displacements(who, made, np.vstack([at, at[:1]]))
    if abs(p[-1]).max() > 1e-9:
        raise OptionError(f"{who}: a ball or free joint makes a full turn in a period; split it into hinges")
    p[-1] = p[0]
    t = _times(who, begin + length * np.append(share, 1.0), len(p))
    return _checked(who, ReferenceMotion(made, at[0], CubicSpline(t, p, bc_type="periodic"), length, named))


def _pieces(curve: BSpline, t: Array) -> PPoly:
    """A spline of fifth order with knots at times t [n] as polynomials between them."""
    from scipy.interpolate import PPoly

    powers = [curve(t[:-1], nu=k) / math.factorial(k) for k in range(5, -1, -1)]
    return PPoly(np.stack(powers), t)


def _given(
    who: str, model: ModelSource, points: ArrayLike, joints: Sequence[str] | str | None
) -> tuple[Model, Array, tuple[str, ...]]:
    """The model, positions [n, nq] and the names of the joints that move."""
    made = load(model)
    m, names = made.mj_model, made.names("joint")
    given = numbers(f"{who}: points", points)
    if given.ndim == 1 and joints is not None and len(words("joints", joints)) == 1:
        given = given[:, None]
    chosen = names if joints is None else words("joints", joints)
    places: list[int] = []
    for name in chosen if joints is not None else ():
        j = made.id("joint", name)
        places += range(m.jnt_qposadr[j], m.jnt_qposadr[j] + {int(FREE): 7, int(BALL): 4}.get(int(m.jnt_type[j]), 1))
    width = made.nq if joints is None else len(places)
    if given.ndim != 2 or given.shape[1] != width or len(given) < 2 or not width or not np.isfinite(given).all():
        raise OptionError(
            f"{who}: points must be finite numbers [n, {width}], n at least 2, for {', '.join(map(str, chosen))}; "
            f"they have shape {given.shape}"
        )
    at = np.tile(m.qpos0, (len(given), 1))
    at[:, places if joints is not None else slice(None)] = given
    for j in np.flatnonzero(np.isin(m.jnt_type, (BALL, FREE))):
        first = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == FREE else 0)
        length = np.linalg.norm(at[:, first : first + 4], axis=1)
        if (abs(length - 1.0) > UNIT).any():
            raise OptionError(
                f"{who}: joint {names[j]!r} has quaternions of length {length.min():g} to {length.max():g}"
            )
        at[:, first : first + 4] /= length[:, None]
    return made, at, tuple(chosen)


def _times(who: str, times: ArrayLike, count: int) -> Array:
    """Times [n] that rise, checked."""
    t = numbers(f"{who}: times", times)
    if t.shape != (count,) or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise OptionError(f"{who}: times must be {count} finite times (s) that rise, got {times!r:.80}")
    return t


def _displacements(who: str, model: Model, at: Array) -> Array:
    """Displacements [n, nv] from the first of positions [n, nq]; rotation vectors do not jump by a full turn."""
    m = model.mj_model
    p = np.zeros((len(at), m.nv))
    for row, qpos in zip(p, at, strict=True):
        mujoco.mj_differentiatePos(m, row, 1.0, at[0], qpos)
    for j in np.flatnonzero(np.isin(m.jnt_type, (BALL, FREE))):
        i = turns(m, int(j))
        for k in range(1, len(p)):
            p[k, i] = _nearest(p[k, i], p[k - 1, i])
        if np.linalg.norm(p[:, i], axis=1).max() > FARTHEST:
            raise OptionError(
                f"{who}: joint {model.names('joint')[j]!r} turns by more than 270° from the first way point; split the "
                "motion there"
            )
    return p


def _nearest(p: Array, before: Array) -> Array:
    """The rotation vector of the same rotation as p that is nearest to another."""
    angle = float(np.linalg.norm(p))
    axis = p / angle if angle > 1e-12 else before / max(float(np.linalg.norm(before)), 1e-300)
    choices = [p, (angle - 2 * np.pi) * axis, (angle + 2 * np.pi) * axis]
    return min(choices, key=lambda choice: float(np.linalg.norm(choice - before)))


def _checked(who: str, motion: ReferenceMotion) -> ReferenceMotion:
    """The motion, with a warning of joints that leave their range."""
    if beyond := motion.beyond_limits():
        told = ", ".join(f"{name!r} by {most:.3g}" for name, most in beyond.items())
        warn(f"{who}: joints leave their range on the way: {told} (rad, m); add way points or other times")
    return motion
