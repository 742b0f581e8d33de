"""The planned motion in the view: paths of sites and bodies over the horizon, as lines that fade towards its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.errors import DivergenceError, EventError, OptionError, proposal
from saltus.lab.view.drawings import Drawing, line
from saltus.simulate.transfer_state import carry

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.simulation import Simulation

MOST_PATHS = 8
MOST_POINTS = 48  # of a path
PIECES = 12  # of a path, each fainter than the one before
COLOR, WIDTH = (1.0, 0.42, 0.1), 0.008  # width: of the model's extent
FIRST, LAST = 0.95, 0.08  # opacity at the beginning and at the end of the horizon

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlannedPath:
    """Places (m) [n, paths, 3] of sites and bodies at times (s) [n] of a planned motion; width of its lines (m)."""

    times: Array
    places: Array
    width: float

    def drawings(self, now: float) -> list[Drawing]:
        """Lines that begin at the last place before the time `now` (s) and fade towards the end of the horizon."""
        found, n = [], len(self.times)
        first = int(np.searchsorted(self.times, now, "right")) - 1
        bounds = np.unique(np.linspace(0, n - 1, min(PIECES, n - 1) + 1).round().astype(int)) if n > 1 else []
        for k, (i, j) in enumerate(pairwise(bounds)):
            opacity = FIRST + (LAST - FIRST) * k / max(len(bounds) - 2, 1)
            left = self.places[max(i, first) : j + 1]
            if len(left) > 1:
                found += [line(left[:, p], (*COLOR, opacity), self.width) for p in range(self.places.shape[1])]
        return found


class Preview:
    """Predicts the motion under planned controls, with a simulation of its own. Not thread-safe.

    sites, bodies: indices of what is followed; of bodies, the centres of mass.
    """

    def __init__(self, sim: Simulation, names: Sequence[str] | None):
        """`sim`: the simulation to predict with. `names`: of sites and bodies; None: the ends of its chains."""
        self._sim, m = sim, sim.model
        self.sites, self.bodies = ([], ends(m)) if names is None else followed(m, names)
        self._mujoco, self._data = m.mujoco, mujoco.MjData(m.mujoco)

    def path(self, source: Simulation, controls: Array) -> PlannedPath:
        """The motion from the present state of a simulation under controls [T, nu]; up to where it diverges."""
        sim, data = self._sim, self._data
        carry(source.engine, sim.engine)
        stride = -(-len(controls) // MOST_POINTS)
        times, places = [], []
        for k in range(len(controls) + 1):
            if k % stride == 0 or k == len(controls):
                data.qpos[:], data.mocap_pos[:], data.mocap_quat[:] = sim.qpos, sim.mocap_pos, sim.mocap_quat
                mujoco.mj_kinematics(self._mujoco, data)
                times.append(sim.time)
                places.append(np.concatenate([data.site_xpos[self.sites], data.xipos[self.bodies]]))
            if k < len(controls):
                sim.ctrl[:] = controls[k]
                try:
                    sim.step()
                except (DivergenceError, EventError):  # the run itself will tell, should it come there
                    break
        return PlannedPath(np.array(times), np.array(places), WIDTH * float(sim.model.stat.extent))


def ends(model: Model) -> list[int]:
    """Moving bodies without children, the heaviest MOST_PATHS of them, in the order of the model."""
    parents = set(model.body_parentid[1:].tolist())
    leaves = [b for b in range(1, model.nbody) if b not in parents and model.body_weldid[b] and model.body_mass[b] > 0]
    heaviest = sorted(leaves, key=lambda b: -float(model.body_mass[b]))[:MOST_PATHS]
    return sorted(heaviest)


def followed(model: Model, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Indices of the sites and of the bodies with these names; sites take precedence. OptionError: unknown names."""
    sites, bodies = model.names("site"), model.names("body")
    if len(names) > MOST_PATHS:
        raise OptionError(f"plan: at most {MOST_PATHS} sites and bodies are followed, got {len(names)}")
    for name in names:
        if name not in sites and name not in bodies:
            known = [known for known in (*sites, *bodies) if known]
            raise OptionError(f"plan: there is no site or body {name!r}{proposal(name, known)}")
    found = [name for name in names if name in sites]
    return [sites.index(name) for name in found], [bodies.index(name) for name in names if name not in found]
