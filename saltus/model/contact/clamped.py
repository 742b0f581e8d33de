"""Parameters of soft constraints that do not act as a file gives them, since MuJoCo, as Saltus, clamps them."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import SaltusWarning, warn
from saltus.model.contact.contact_parameters import DEFAULT_SOLREF, impedance_parameters

SHOWN = 3  # names in a warning
OFF = mujoco.mjtDisableBit
Parameters = tuple[str, str, NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]


class ClampedWarning(SaltusWarning):
    """Parameters of soft constraints act clamped; `saltus check` lists each."""


def warn_of_clamped(m: mujoco.MjModel, name: str, left_out: frozenset[str]) -> None:
    """Warn once of `solref` and `solimp` that are clamped at the model's timestep, with the names of what has them.

    `name`: of the model; `left_out`: kinds of features that are ignored.
    """
    found: dict[str, list[str]] = {}
    shortest = 0.0 if m.opt.disableflags & OFF.mjDSBL_REFSAFE.value else 2.0 * m.opt.timestep  # s
    for kind, owner, index, solref, solimp in _acting(m, left_out):
        odd = ((solref > 0).sum(axis=1) == 1) | ((solref[:, 0] > 0) & (solref[:, 0] < shortest))
        odd |= (impedance_parameters(solimp) != solimp).any(axis=1)
        for k in np.flatnonzero(odd):
            own = mujoco.mj_id2name(m, getattr(mujoco.mjtObj, f"mjOBJ_{owner}"), int(index[k])) or f"#{index[k]}"
            for text in clamped(solref[k], solimp[k], shortest):
                found.setdefault(text, []).append(f"{kind} {own!r}")
    if found:
        parts = [f"{_some(names)}: {text}" for text, names in found.items()]
        warn(ClampedWarning(f"{name}: parameters of soft constraints act clamped, as in MuJoCo; {'; '.join(parts)}"))


def clamped(solref: NDArray[np.float64], solimp: NDArray[np.float64], shortest: float) -> list[str]:
    """Replacements that act for a solref [2] and a solimp [5], in words; `shortest` time constant (s), 0 for any."""
    found = []
    first, second = (float(x) for x in solref)
    if (first > 0) != (second > 0):
        found.append(f"solref {_row(solref)} has mixed signs and acts as {_row(DEFAULT_SOLREF)}")
    elif 0 < first < shortest:
        found.append(f"solref {_row(solref)} acts as {_row((shortest, second))}, two timesteps (refsafe)")
    acting = impedance_parameters(solimp)
    if not np.array_equal(acting, solimp):
        found.append(f"solimp {_row(solimp)} acts as {_row(acting)}")
    return found


def _acting(m: mujoco.MjModel, left_out: frozenset[str]) -> Iterator[Parameters]:
    """Kind, MuJoCo's name of it, indices and parameters of what may act: geoms, pairs, limits, friction, equalities."""

    def acts(kind: str, flag: mujoco.mjtDisableBit) -> bool:
        return kind not in left_out and not m.opt.disableflags & (flag.value | OFF.mjDSBL_CONSTRAINT.value)

    if acts("contact", OFF.mjDSBL_CONTACT):
        touching = np.flatnonzero((m.geom_contype != 0) | (m.geom_conaffinity != 0))
        yield "geom", "GEOM", touching, m.geom_solref[touching], m.geom_solimp[touching]
        yield "pair", "PAIR", np.arange(m.npair), m.pair_solref, m.pair_solimp
    if acts("limit", OFF.mjDSBL_LIMIT):
        k = np.flatnonzero(m.jnt_limited)
        yield "limit of joint", "JOINT", k, m.jnt_solref[k], m.jnt_solimp[k]
        k = np.flatnonzero(m.tendon_limited)
        yield "limit of tendon", "TENDON", k, m.tendon_solref_lim[k], m.tendon_solimp_lim[k]
    if acts("frictionloss", OFF.mjDSBL_FRICTIONLOSS):
        k = np.flatnonzero(m.dof_frictionloss)
        k = k[np.unique(m.dof_jntid[k], return_index=True)[1]]
        yield "dry friction of joint", "JOINT", m.dof_jntid[k].astype(np.intp), m.dof_solref[k], m.dof_solimp[k]
        k = np.flatnonzero(m.tendon_frictionloss)
        yield "dry friction of tendon", "TENDON", k, m.tendon_solref_fri[k], m.tendon_solimp_fri[k]
    if acts("equality", OFF.mjDSBL_EQUALITY):
        k = np.flatnonzero(m.eq_active0)
        yield "equality", "EQUALITY", k, m.eq_solref[k], m.eq_solimp[k]


def _row(values) -> str:
    return " ".join(f"{x:g}" for x in values)


def _some(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
