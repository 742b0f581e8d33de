"""Options of pictures: camera, size and drawn objects."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypedDict, Unpack

from saltus.errors import OptionError

#: Most pixels along a side of a picture.
LARGEST = 4096


@dataclass(frozen=True)
class Camera:
    """A camera that looks at a point, with z up.

    lookat: the point, m, world axes. distance: distance from it, m. azimuth, elevation: degrees; the camera looks along
    (cos e cos a, cos e sin a, sin e), so that 0, 0 looks along +x, azimuth 90 along +y and elevation -90 straight down.
    fovy: vertical field of view, degrees.
    """

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    fovy: float = 45.0

    def __post_init__(self) -> None:
        try:
            lookat = tuple(float(x) for x in self.lookat)
        except TypeError:
            raise OptionError(f"camera lookat must be three numbers in m, not {self.lookat!r}") from None
        if len(lookat) != 3 or not all(map(math.isfinite, lookat)):
            raise OptionError(f"camera lookat must be three finite numbers in m, not {self.lookat!r}")
        object.__setattr__(self, "lookat", lookat)
        for name in ("distance", "azimuth", "elevation", "fovy"):
            object.__setattr__(self, name, _number(f"camera {name}", getattr(self, name)))
        if self.distance <= 0:
            raise OptionError(f"camera distance must be positive, not {self.distance:g} m")
        if not 0 < self.fovy < 180:
            raise OptionError(f"camera fovy must be between 0 and 180 degrees, not {self.fovy:g}")


class OtherViewOptions(TypedDict, total=False):
    """Options of a picture without its size and camera; see `View` for their meanings and defaults."""

    follow: str | None
    contacts: bool
    com: bool
    cop: bool
    shadow: bool
    sites: bool
    tendons: bool
    groups: Sequence[int]


class ViewOptions(OtherViewOptions, total=False):
    """Options of a picture; see `View` for their meanings and defaults."""

    width: int
    height: int
    camera: str | int | Camera | None


@dataclass(frozen=True)
class View:
    """Options of a picture of a model.

    width, height: pixels.
    camera: None for the model's default view, of recordings one that keeps the whole motion in the picture; the name or
        number of a camera in the model, or a `Camera`.
    follow: name of a body whose subtree's centre of mass the camera keeps looking at, from the direction and the
        distance of `camera`, which then cannot be one of the model's; or None.
    contacts: whether to mark contact points and draw the forces there as arrows.
    com: whether to mark the centre of mass of the whole mechanism.
    cop: whether to mark the centre of pressure of the contacts with bodies that cannot move, where forces are known.
    shadow: whether objects cast a shadow on the floor.
    sites, tendons: whether to draw them.
    groups: drawn groups of geoms, sites, tendons and flexes; MuJoCo's choice by default.
    """

    width: int = 640
    height: int = 480
    camera: str | int | Camera | None = None
    follow: str | None = None
    contacts: bool = False
    com: bool = False
    cop: bool = False
    shadow: bool = True
    sites: bool = True
    tendons: bool = True
    groups: Sequence[int] = (0, 1, 2)

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            value = getattr(self, name)
            whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            if not whole or not 1 <= int(value) <= LARGEST:
                raise OptionError(f"{name} must be a whole number of pixels from 1 to {LARGEST}, not {value!r}")
            object.__setattr__(self, name, int(value))
        for name in ("contacts", "com", "cop", "shadow", "sites", "tendons"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} must be True or False, not {getattr(self, name)!r}")
        camera = self.camera
        if camera is not None and (isinstance(camera, bool) or not isinstance(camera, str | numbers.Integral | Camera)):
            raise OptionError(f"camera must be None, the name or number of a camera, or a Camera, not {camera!r}")
        if self.follow is not None and not isinstance(self.follow, str):
            raise OptionError(f"follow must be the name of a body, not {self.follow!r}")
        if self.follow is not None and isinstance(camera, str | numbers.Integral):
            raise OptionError("follow requires a Camera or the default view, not a camera of the model")
        object.__setattr__(self, "groups", _groups(self.groups))

    @classmethod
    def of(cls, **options: Unpack[ViewOptions]) -> View:
        """Make a View from keyword arguments; OptionError names an unknown one."""
        known = {f.name for f in fields(cls)}
        for name in options:
            if name not in known:
                raise OptionError.unknown("option of a picture", name, known)
        return cls(**options)


def _number(name: str, value) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise OptionError(f"{name} must be a finite number, not {value!r}")
    return float(value)


def _groups(groups) -> tuple[int, ...]:
    try:
        found = tuple(int(g) for g in groups)
    except (TypeError, ValueError):
        raise OptionError(f"groups must be a sequence of numbers from 0 to 5, not {groups!r}") from None
    if not all(0 <= g <= 5 for g in found):
        raise OptionError(f"groups must be numbers from 0 to 5, not {groups!r}")
    return found
