"""Frames of a running motion at the displayed time: interpolated positions, energies, ghosts, contacts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from saltus.errors import SaltusError, SaltusWarning
from saltus.lab.motion import Motion
from saltus.lab.view.show import Show, stack
from saltus.simulate.analysis.current_contacts import NONE, Present, present_contacts


def live_frame(motion: Motion, show: Show, ghosts: Iterable[str], compiled: bool) -> dict[str, Any]:
    """Fields of a `Frame` except its motors and whether it plays.

    ghosts: names of all possible ghosts. compiled: whether energies and contacts are available without waiting.
    """
    sim = motion.sim
    qpos = show.between(motion.before, sim.qpos, motion.fraction)
    qvel = motion.before_rate + motion.fraction * (sim.qvel - motion.before_rate)
    seen = [_ghost(motion, show, name) for name in ghosts]
    contacts, axes, pressure = _touching(sim) if compiled else NONE
    return {
        "time": motion.shown,
        "energy": sim.energy() if compiled else np.full(2, np.nan),
        "dofs": show.coordinates(qpos, qvel),
        "ghost_energy": stack([ghost[0] for ghost in seen], (2,)),
        "ghost_bodies": stack([ghost[1] for ghost in seen], (sim.model.nbody, 7)),
        "ghost_dofs": stack([ghost[2] for ghost in seen], (len(show.dofs), 2)),
        **{"contacts": contacts, "contact_axes": axes, "cop": pressure},
        **show.pose(qpos, sim.mocap_pos, sim.mocap_quat),
    }


def _touching(sim: Any) -> Present:
    """Present contacts; none if they cannot be computed."""
    # an error here recurs in the next step, which reports it
    with suppress(SaltusError), warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)
        return present_contacts(sim.engine)
    return NONE


def _ghost(motion: Motion, show: Show, name: str) -> tuple[Any, Any, Any]:
    """Energy, poses and coordinates of a ghost; nan if it does not exist."""
    sim = motion.sim
    ghost = next((g for g in motion.ghosts if g.name == name and g.alive), None)
    if ghost is None:
        return np.full(2, np.nan), np.full((sim.model.nbody, 7), np.nan), np.full((len(show.dofs), 2), np.nan)
    qpos = show.between(ghost.before, ghost.sim.qpos, motion.fraction)
    qvel = ghost.before_rate + motion.fraction * (ghost.sim.qvel - ghost.before_rate)
    bodies = show.pose(qpos, sim.mocap_pos, sim.mocap_quat)["bodies"]
    return ghost.sim.energy(), bodies, show.coordinates(qpos, qvel)
