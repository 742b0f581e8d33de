"""Parameters of soft constraints for the kernels: each distinct set once.

A file gives them as `solref` and `solimp`; MuJoCo's documentation (Computation: Parameters) says what they mean. With
T the time constant, z the damping ratio and w = solimp[1], the reference acceleration's stiffness and damping are

    K = 1 / (w² T² z²),  B = 2 / (w T)          for solref = (T, z), both positive,
    K = -solref[0] / w²,  B = -solref[1] / w    for solref = (-stiffness, -damping).
"""

from dataclasses import dataclass, field

import numpy as np

from saltus.number.functions import MINVAL

IMPEDANCE_RANGE = 0.0001, 0.9999
DEFAULT_SOLREF = 0.02, 1.0


@dataclass(frozen=True)
class Law:
    """One set of parameters; those after `impedance` matter to contacts alone."""

    stiffness: float
    damping: float
    impedance: tuple[float, ...]  # at no violation, at full width, width, midpoint, power
    damping_tangent: float = 0.0
    dim: int = 1
    margin: float = 0.0
    reach: float = 0.0  # margin + gap
    friction: tuple[float, ...] = (0.0,) * 5
    mu: float = 0.0
    restitution: float = 0.0  # of the hard law
    direct: bool = False  # stiffness and damping are given, not a time constant and a damping ratio


@dataclass
class LawTable:
    """Laws in order of their first use."""

    place: dict[Law, int] = field(default_factory=dict)

    def index(self, law: Law) -> int:
        return self.place.setdefault(law, len(self.place))

    def values(self) -> dict[str, list]:
        """The Model's fields."""
        fields = (
            "stiffness damping damping_tangent impedance dim margin reach friction mu restitution direct".split()  # noqa: SIM905
        )
        return {f"law_{name}": [getattr(law, name) for law in self.place] for name in fields}


def reference(solref, width_impedance: float, safe_timestep: float) -> tuple[float, float]:
    """(K in 1/s², B in 1/s) of the reference acceleration.

    Parameters of mixed sign are replaced by the default, time constants under `safe_timestep` (two steps, or 0 where
    the flag `refsafe` is off) by that, both as MuJoCo does.
    """
    first, second = (float(x) for x in solref)
    if (first > 0) != (second > 0):
        first, second = DEFAULT_SOLREF
    if first > 0:
        first = max(first, safe_timestep)
        # products, which may overflow to infinity, where a power would raise
        stiffness = 1.0 / max(MINVAL, width_impedance * width_impedance * first * first * second * second)
        return stiffness, 2.0 / max(MINVAL, width_impedance * first)
    return -first / max(MINVAL, width_impedance**2), -second / max(MINVAL, width_impedance)


def impedance_parameters(solimp) -> tuple[float, ...]:
    """solimp within its limits."""
    low, high = IMPEDANCE_RANGE
    first, full, width, midpoint, power = (float(x) for x in solimp)
    clip = lambda x: min(high, max(low, x))  # noqa: E731
    return clip(first), clip(full), max(0.0, width), clip(midpoint), max(1.0, power)


def soft_law(solref, solimp, safe_timestep: float, **contact) -> Law:
    """The law of a file's parameters."""
    impedance = impedance_parameters(solimp)
    stiffness, damping = reference(solref, impedance[1], safe_timestep)
    tangent = contact.pop("solreffriction", None)
    damping_tangent = damping
    if tangent is not None and np.any(tangent):
        # mixed signs mean none
        tangent = np.asarray(tangent) if (tangent[0] > 0) == (tangent[1] > 0) else np.zeros(2)
        if np.any(tangent):
            damping_tangent = reference(tangent, impedance[1], safe_timestep)[1]
    direct = solref[0] <= 0 and solref[1] <= 0
    return Law(stiffness, damping, impedance, damping_tangent, **contact, direct=bool(direct))
