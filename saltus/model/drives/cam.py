"""Cams: joints that follow others along smooth curves through points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import numbers, text_of
from saltus.errors import OptionError
from saltus.model.compile.constraints.cams import ADVANCING, ENDS, PERIODIC, TITLE, Curve, cam_curves
from saltus.model.drives.custom import custom_tuple, put_curve
from saltus.model.enums import HINGE, JOINT, SLIDE
from saltus.model.load import ModelSource, load
from saltus.model.model import Model
from saltus.model.xml_overrides import rewritten


@dataclass(frozen=True)
class CamCurve:
    """Positions of a follower by those of its cam: the cubic spline s through points, with continuous s''.

    A curve with two ends is "not-a-knot", so that points of a cubic polynomial give that polynomial, and goes on
    straight beyond them. Source: de Boor, A Practical Guide to Splines (1978), chapter IV.

    Attributes:
        angles: increasing positions of the cam (rad; m of a slide); at least two, three of a periodic curve.
        lifts: position of the follower at each (m; rad of a hinge).
        periodic: the curve repeats itself with the period `angles[-1] - angles[0]`; its last lift is the first one.
        advances: the curve is periodic but for `lifts[-1] - lifts[0]`, by which each period takes the follower on, as
            in gears that are not round and in indexing drives.
    """

    angles: Sequence[float] | NDArray[np.float64]
    lifts: Sequence[float] | NDArray[np.float64]
    periodic: bool = False
    advances: bool = False

    def __post_init__(self) -> None:
        for name in ("angles", "lifts"):
            object.__setattr__(self, name, tuple(numbers(name, getattr(self, name)).reshape(-1).tolist()))
        for name in ("periodic", "advances"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if len(self.angles) != len(self.lifts):
            raise OptionError(f"{len(self.angles)} angles, but {len(self.lifts)} lifts; expected as many")
        if why := self._curve.why_none():
            hint = "; advances=True for a follower that goes on" if "repeats" in why else ""
            raise OptionError(f"no curve of a cam: {why}{hint}")

    @property
    def kind(self) -> float:
        """The number of its kind in a model file, the prm of its numeric."""
        return ADVANCING if self.advances else PERIODIC if self.periodic else ENDS

    @property
    def _curve(self) -> Curve:
        return Curve(np.column_stack([self.angles, self.lifts]), self.kind)


def cam(model: ModelSource, follower: str, cam: str, curve: CamCurve) -> Model:
    """A copy of a model in which a hinge or slide follows another one along a curve.

        turn = numpy.linspace(0, 2 * numpy.pi, 73)
        curve = saltus.CamCurve(turn, 0.01 * (1 - numpy.cos(turn)), periodic=True)
        model = saltus.cam("valve.xml", "follower", "shaft", curve)

    The model gets an equality `follower_cam` of the two joints, q₁ - q₁⁰ = s(q₂ - q₂⁰) with their reference positions
    (`ref`), and its curve as numbers in <custom>, which MuJoCo ignores; see `saltus.model.compile.constraints.cams`. It
    acts as equalities do: softly under soft contact laws, without deviation under `contact="hard"` and time stepping.
    The curve of a follower that has one on this cam is replaced.

    Args:
        model: source of MJCF, as for `saltus.load`; a Model keeps its changes, muscles and ignored features.
        follower: name of the joint that follows.
        cam: name of the joint that it follows.
        curve: lifts by angles.

    Raises:
        OptionError: no such joint, a joint that is no hinge or slide, the same joint twice, an equality of that name
            which is no cam's, or a model without MJCF text.
    """
    if not isinstance(curve, CamCurve):
        raise OptionError(f"curve must be a CamCurve, not {curve!r}")
    before = model if isinstance(model, Model) else load(model)
    for name, value in (("follower", follower), ("cam", cam)):
        if before.jnt_type[before.id("joint", text_of(name, value))] not in (HINGE, SLIDE):
            raise OptionError(f"a cam couples hinges and slides, and joint {value!r} is none")
    if follower == cam:
        raise OptionError(f"joint {cam!r} cannot follow itself")
    equality, given = f"{follower}_cam", f"cam of joint {follower!r}"
    there = equality in before.names("equality")
    if there and not _is_cam(before, equality, follower, cam):
        raise OptionError(f"{given}: there is an equality {equality!r} already that is no cam on {cam!r}; rename it")

    def change(root: ElementTree.Element) -> None:
        numeric = f"{equality}_curve"
        put_curve(root, TITLE, numeric, list(zip(curve.angles, curve.lifts, strict=True)), given)
        if not there:
            section = ElementTree.SubElement(root, "equality")
            coupled = {"name": equality, "joint1": follower, "joint2": cam, "polycoef": "0 1 0 0 0", "active": "true"}
            ElementTree.SubElement(section, "joint", coupled)
            found = custom_tuple(root, TITLE)
            ElementTree.SubElement(found, "element", objtype="equality", objname=equality)
            ElementTree.SubElement(found, "element", objtype="numeric", objname=numeric)
        for element in (e for e in root.iter("element") if e.get("objname") == numeric):
            element.set("prm", repr(curve.kind))

    return rewritten(before, change, given)


def _is_cam(model: Model, equality: str, follower: str, cam: str) -> bool:
    """Whether an equality is that of a follower on a cam, along a curve."""
    k = model.id("equality", equality)
    joints = [model.id("joint", follower), model.id("joint", cam)]
    coupled = model.eq_type[k] == JOINT and [model.eq_obj1id[k], model.eq_obj2id[k]] == joints
    return bool(coupled) and k in cam_curves(model.mj_model)
