"""The result of `saltus.ik`."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from saltus.inverse.kinematics.kinds import ANGLES
from saltus.inverse.kinematics.problem import Problem

AT_LIMIT = 1e-6  # rad or m: a coordinate this near to the end of its range is at it
NAMED = 5  # residuals and limits that a text names


class IkSolution:
    """Configurations that meet targets, or come as near as the mechanism can.

    Attributes:
        qpos: positions [nq], or [n, nq] for n problems (m, rad, quaternions).
        residual: what is left of each target, by name: m for "hand", rad for "hand:orientation", "look:eye" and
            "axis:hand"; of closed loops for "equality:name". Numbers, or arrays [n]; NaN where a marker is not known.
        reached: whether all residuals are within the tolerances; a bool, or bools [n].
        iterations: how many were needed, a number or numbers [n].
    """

    def __init__(
        self,
        problem: Problem,
        qpos: NDArray[np.float64],
        norms: NDArray[np.float64],
        counts: NDArray[np.int64],
        tolerances: tuple[float, float],
        single: bool,
    ):
        self._problem, self._norms, self._rows, self._tolerances = problem, norms, qpos, tolerances
        self.qpos = qpos[0] if single else qpos
        self.residual: dict[str, float | NDArray[np.float64]]
        self.reached: bool | NDArray[np.bool_]
        self.iterations: int | NDArray[np.int64]
        if single:
            self.residual = dict(zip(problem.keys, norms[0].tolist(), strict=True))
            self.iterations, self.reached = int(counts[0, 0]), bool(counts[0, 1])
        else:
            self.residual = {key: norms[:, k] for k, key in enumerate(problem.keys)}
            self.iterations, self.reached = counts[:, 0], counts[:, 1].astype(bool)

    @cached_property
    def failed(self) -> str:
        """The targets that could not be met, how far they are off, the joints at a limit there; "" if all is reached.

        Of many problems the text says how many failed, and describes the worst of them.
        """
        missed = np.flatnonzero(~np.atleast_1d(self.reached))
        if not missed.size:
            return ""
        worst = int(missed[np.argmax(np.nanmax(self._norms[missed], axis=1))])
        text = "; ".join(part for part in (self._left(worst), self._limits(worst)) if part)
        if len(self._rows) == 1:
            return text
        return f"{missed.size} of {len(self._rows)} not reached; the worst is number {worst}: {text}"

    def _left(self, row: int) -> str:
        """The residuals of a row above their tolerances, the largest first."""
        parts = []
        for key, kind, norm in zip(self._problem.keys, self._problem.kinds, self._norms[row], strict=True):
            angle = kind in ANGLES
            if norm > self._tolerances[angle]:
                parts.append((norm, f"{key} is {norm:.3g} {'rad' if angle else 'm'} off"))
        parts.sort(reverse=True)
        return ", ".join(text for _, text in parts[:NAMED])

    def _limits(self, row: int) -> str:
        """The joints of a row that are at the end of their ranges."""
        if not self._problem.ranges:
            return ""
        model, qpos, parts = self._problem.model, self._rows[row], []
        names = model.names("joint")
        dofs, bounds = self._problem.arrays[4], self._problem.arrays[5]
        for i, (address, _) in enumerate(dofs.tolist()):
            if address < 0:
                continue
            for end, side in enumerate(("lower", "upper")):
                if abs(qpos[address] - bounds[i, end]) < AT_LIMIT:
                    parts.append(f"{names[model.dof_jntid[i]]} ({side}, {bounds[i, end]:.3g})")
        more = f" and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
        return f"at limits: {', '.join(parts[:NAMED])}{more}" if parts else ""

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        count = int(np.count_nonzero(self.reached))
        left = ", ".join(
            f"{key} {np.nanmax(norms):.3g}" for key, norms in zip(self._problem.keys, self._norms.T, strict=True)
        )
        return f"IkSolution({count} of {len(self)} reached; largest residuals: {left})"
