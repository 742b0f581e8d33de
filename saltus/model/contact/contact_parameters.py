"""Parameters of soft constraints for the kernels, without duplicates.

A file gives them as `solref` and `solimp`; MuJoCo's documentation (Computation: Parameters) defines them. With
T the time constant, z the damping ratio and w = solimp[1], the reference acceleration's stiffness and damping are

    K = 1 / (w² T² z²),  B = 2 / (w T)          for solref = (T, z), both positive,
    K = -solref[0] / w²,  B = -solref[1] / w    for solref = (-stiffness, -damping).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus.number.functions import MINVAL

IMPEDANCE_RANGE = 0.0001, 0.9999
DEFAULT_SOLREF = 0.02, 1.0


@dataclass(frozen=True)
class Law:
    """A set of parameters; those after `impedance` apply only to contacts."""

    stiffness: float
    damping: float
    impedance: tuple[float, ...]  # at no violation, at full width, width, midpoint, power
    damping_tangent: float = 0.0
    dim: int = 1
    margin: float = 0.0
    reach: float = 0.0  # margin + gap
    friction: tuple[float, ...] = (0.0,) * 5
    mu: float = 0.0
    static: float = 0.0  # static friction, for the hard law; 0 without one in the model
    adhesion: float = 0.0  # N
    restitution: float = 0.0  # for the hard law
    tangential: float = 0.0
    direct: bool = False  # stiffness and damping are given, not a time constant and a damping ratio


@dataclass
class LawTable:
    """Laws in order of their first use; with `distinct` each use has its own law."""

    distinct: bool = False
    laws: list[Law] = field(default_factory=list)
    _place: dict[Law, int] = field(default_factory=dict)

    def index(self, law: Law) -> int:
        if self.distinct or law not in self._place:
            self._place[law] = len(self.laws)
            self.laws.append(law)
        return self._place[law]

    def indices(self, values: Mapping[str, np.ndarray]) -> list[int]:
        """Numbers of laws, from the arrays of their parameters, each with a leading axis of laws."""
        columns = [value.tolist() for value in values.values()]
        rows = [dict(zip(values, map(_plain, row), strict=True)) for row in zip(*columns, strict=True)]
        return [self.index(Law(**row)) for row in rows]

    def values(self) -> dict[str, list]:
        """The Model's fields."""
        fields = "stiffness damping damping_tangent impedance dim margin reach friction mu static adhesion restitution "
        fields += "tangential direct"
        return {f"law_{name}": [getattr(law, name) for law in self.laws] for name in fields.split()}


def reference(solref: ArrayLike, width_impedance: ArrayLike, safe_timestep: float) -> tuple[np.ndarray, np.ndarray]:
    """(K in 1/s², B in 1/s) [...] of the reference acceleration, for solref [..., 2].

    As in MuJoCo, parameters of mixed sign are replaced by the default, and time constants are at least `safe_timestep`
    (two steps, or 0 if the flag `refsafe` is off).
    """
    first, second = np.moveaxis(_numbers(solref), -1, 0)
    w = _numbers(width_impedance)
    mixed = (np.real(first) > 0) != (np.real(second) > 0)
    first, second = (np.where(mixed, x, y) for x, y in zip(DEFAULT_SOLREF, (first, second), strict=True))
    time = np.maximum(first, safe_timestep)
    with np.errstate(over="ignore"):
        standard = 1.0 / np.maximum(MINVAL, w * w * time * time * second * second), 2.0 / np.maximum(MINVAL, w * time)
        direct = -first / np.maximum(MINVAL, w * w), -second / np.maximum(MINVAL, w)
    stiffness, damping = (np.where(np.real(first) > 0, x, y) for x, y in zip(standard, direct, strict=True))
    return stiffness[()], damping[()]  # plain numbers for a single law


def _numbers(values: ArrayLike) -> np.ndarray:
    """Real numbers, or complex ones, of whose real parts all conditions are, for derivatives by complex steps."""
    return np.asarray(values, complex if np.iscomplexobj(values) else float)


def impedance_parameters(solimp: ArrayLike) -> np.ndarray:
    """solimp [..., 5], clamped to its limits."""
    low, high = IMPEDANCE_RANGE
    return np.clip(_numbers(solimp), [low, low, 0.0, low, 1.0], [high, high, np.inf, high, np.inf])


def soft_laws(
    solref: ArrayLike, solimp: ArrayLike, safe_timestep: float, *, solreffriction: ArrayLike = (0.0, 0.0)
) -> dict[str, np.ndarray]:
    """Stiffness, damping, tangential damping, impedance and format of laws from a file's parameters [..., 2 and 5].

    `solreffriction`: parameters of the tangential damping; zeros and mixed signs mean those of the normal.
    """
    solref, tangent = _numbers(solref), _numbers(solreffriction)
    impedance = impedance_parameters(solimp)
    stiffness, damping = reference(solref, impedance[..., 1], safe_timestep)
    plain = np.real(tangent)
    own = plain.any(axis=-1) & ((plain[..., 0] > 0) == (plain[..., 1] > 0))
    across = reference(tangent, impedance[..., 1], safe_timestep)[1]
    return {
        "stiffness": stiffness,
        "damping": damping,
        "damping_tangent": np.where(own, across, damping),
        "impedance": impedance,
        "direct": np.asarray((np.real(solref) <= 0).all(axis=-1)),
    }


def soft_law(solref: ArrayLike, solimp: ArrayLike, safe_timestep: float, **contact: Any) -> Law:
    """The law for a file's parameters."""
    tangent = contact.pop("solreffriction", (0.0, 0.0))
    return one_law(soft_laws(solref, solimp, safe_timestep, solreffriction=tangent) | contact)


def one_law(values: Mapping[str, Any]) -> Law:
    """A law from its parameters: arrays with one entry, or plain numbers."""
    return Law(**{name: _plain(np.asarray(value).tolist()) for name, value in values.items()})


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
