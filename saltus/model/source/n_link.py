"""The planar n-link pendulum as an MJCF text, for any number of links."""

import math
import operator
from collections.abc import Sequence
from typing import TypedDict

from saltus.errors import OptionError

__all__ = ["n_link"]

# a body needs a positive inertia; this one is below the rounding of realistic links
POINT_MASS_INERTIA = 1e-15
MOST = 496  # links
WHY = "each stands inside the one before it, and MuJoCo reads at most 500 elements inside each other"

Link = tuple[float, float, float, float]  # mass, length, centre of mass as a fraction of the length, inertia about it

FILE = """\
<!--
  The planar {n}-link pendulum: how the equations of motion grow with the number of links.

  The links hang from (x, y) = ({x}, {y}); x points right and y, the world's z, points up. Each hinge measures its
  link's angle relative to the link before it, positive counter-clockwise, zero when straight. A motor turns each hinge
  against the link before it, and the site "tip" marks the end of the last link, where a force may act.
-->
<mujoco model="n_link_{n}">
  <option timestep="{timestep!r}" gravity="0 0 {g!r}"/>
  <default>
    <geom type="capsule" contype="0" conaffinity="0" rgba="0.2 0.45 0.7 1"/>
    <joint type="hinge" axis="0 -1 0"/>
  </default>
  <worldbody>
{bodies}
  </worldbody>
  <actuator>
{motors}
  </actuator>
</mujoco>
"""


class LinkOptions(TypedDict, total=False):
    """Parameters of the links; see `n_link`."""

    m: float | Sequence[float]
    l: float | Sequence[float]  # noqa: E741
    d: float | Sequence[float]
    inertia: float | Sequence[float]
    g: float
    pivot: tuple[float, float] | None
    timestep: float


def n_link(
    n: int,
    *,
    m: float | Sequence[float] = 1.0,
    l: float | Sequence[float] = 1.0,  # noqa: E741  the tutorial's name of the length
    d: float | Sequence[float] = 0.5,
    inertia: float | Sequence[float] = 0.08,
    g: float = 9.81,
    pivot: tuple[float, float] | None = None,
    timestep: float = 0.01,
) -> str:
    """MJCF text of a planar pendulum of `n` links, at most `MOST`, by default with the tutorial's parameters.

    m [kg], l [m], d [-] and inertia [kg m²] hold for every link, or are sequences of n values, from the pivot outwards:
    the mass, the length, the centre of mass as a fraction of the length, and the moment of inertia about the centre of
    mass (0: the whole mass is a point there). g [m/s²] pulls along -y, `pivot` is (x, y) [m], by default (0, n), and
    `timestep` [s] is the model's. Bodies are named `link1`, ..., joints `theta1`, ..., motors `motor1`, ....

    Source: "Relative vs Absolute Orientations", the n-link pendulum; compare Knemeyer, Shield and Patel, RA-L 5 (2020).
    """
    n = _count(n)
    links = list(
        zip(
            _per_link("m", m, n, low=0.0, open_low=True),
            _per_link("l", l, n, low=0.0, open_low=True),
            _per_link("d", d, n),
            _per_link("inertia", inertia, n, low=0.0),
            strict=True,
        )
    )
    g = _number("g", g)
    timestep = _number("timestep", timestep, low=0.0, open_low=True)
    x, y = _pivot((0.0, float(n)) if pivot is None else pivot)
    for i, (mass, length, fraction, about_centre) in enumerate(links, 1):
        if about_centre + mass * (fraction * length) ** 2 < POINT_MASS_INERTIA:
            raise OptionError(f"n_link: link {i} has no inertia about its hinge: d or inertia must be positive")
    bodies = "\n".join(_bodies(links, x, y))
    motors = "\n".join(f'    <motor name="motor{i}" joint="theta{i}" gear="1"/>' for i in range(1, n + 1))
    return FILE.format(n=n, x=x, y=y, timestep=timestep, g=-g, bodies=bodies, motors=motors)


def _bodies(links: list[Link], x: float, y: float) -> list[str]:
    """Lines of all links, each body inside the one before it, the first at the pivot (x, y)."""
    lines, indent, place = [], "    ", f"{x!r} 0 {y!r}"
    for i, link in enumerate(links, 1):
        lines += [indent + line for line in _link(i, place, *link)]
        indent += "  "
        place = f"0 0 {-link[1]!r}"
    lines.append(f'{indent}<site name="tip" pos="{place}"/>')
    for _ in links:
        indent = indent[2:]
        lines.append(f"{indent}</body>")
    return lines


def _link(i: int, place: str, mass: float, length: float, fraction: float, inertia: float) -> list[str]:
    """Opening lines of link `i`: body, hinge, inertia and appearance."""
    about_centre = max(inertia, POINT_MASS_INERTIA)
    colour = "" if i % 2 else ' rgba="0.95 0.7 0.2 1"'
    return [
        f'<body name="link{i}" pos="{place}">',
        f'  <joint name="theta{i}"/>',
        f'  <inertial pos="0 0 {-fraction * length!r}" mass="{mass!r}"'
        f' diaginertia="{about_centre!r} {about_centre!r} {about_centre!r}"/>',
        f'  <geom name="link{i}" fromto="0 0 0 0 0 {-length!r}" size="{0.03 * length!r}"{colour}/>',
    ]


def _pivot(pivot: tuple[float, float]) -> tuple[float, float]:
    """The position (x, y) of the pivot as floats."""
    try:
        x, y = pivot
    except (TypeError, ValueError):
        raise OptionError(f"n_link: pivot must be a pair (x, y), not {pivot!r}") from None
    return _number("pivot x", x), _number("pivot y", y)


def _per_link(name: str, value: float | Sequence[float], n: int, **bounds) -> list[float]:
    """`value` as n checked floats; a single number applies to every link."""
    if isinstance(value, str):
        raise OptionError(f"n_link: {name} must be a number or {n} numbers, not {value!r}")
    try:
        values = list(value)  # type: ignore[arg-type]
    except TypeError:
        values = [value] * n
    if len(values) != n:
        raise OptionError(f"n_link: {name} has {len(values)} values for {n} links")
    return [_number(name, v, **bounds) for v in values]


def _count(n) -> int:
    """`n` as an int of at least 1."""
    try:
        count = 0 if isinstance(n, bool) else operator.index(n)
    except TypeError:
        count = 0
    if not 1 <= count <= MOST:
        bound = "a whole number of links, at least 1" if count < 1 else f"at most {MOST} links ({WHY})"
        raise OptionError(f"n_link: n must be {bound}, not {n!r}")
    return count


def _number(name: str, value, *, low: float = -math.inf, open_low: bool = False) -> float:
    """`value` as a finite float, at least `low` (greater than it with `open_low`)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise OptionError(f"n_link: {name} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise OptionError(f"n_link: {name} must be finite, not {value!r}")
    if number < low or (open_low and number == low):
        raise OptionError(f"n_link: {name} must be {'above' if open_low else 'at least'} {low:g}, not {value!r}")
    return number
