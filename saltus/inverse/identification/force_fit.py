"""Parameters from measured joint forces: inverse dynamics compared with what actuators exerted.

Forces are linear in masses, dampers, springs and dry friction, so that one step of Gauss-Newton's method finds these
from anywhere, and no motion has to be predicted (Atkeson, An and Hollerbach, Estimation of inertial parameters of
manipulator loads and links (1986)). The size of the errors is estimated for each degree of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.errors import ModelError, OptionError
from saltus.inverse.dynamics.sample_forces import forces_of
from saltus.inverse.dynamics.unconstrained import constraint_kinds, unconstrained
from saltus.inverse.identification.force_samples import ForceSamples
from saltus.inverse.identification.uncertainty import refuse_silent
from saltus.model.compile.drives.capstans import capstan_friction
from saltus.model.compile.drives.drive_losses import joints_with_losses
from saltus.model.model import Model

Array = NDArray[np.float64]
STEP = 1e-3  # of the distance of the bounds, of central differences, which are exact for forces of second degree
FLOOR = 1e-11  # of a force's range: residuals below this are rounding
MOVED = 1e-9  # of the distance of the bounds: steps below this have converged


class ForceFit(NamedTuple):
    """Values [k], residuals [rows, channels] and their deviations σ [channels], slopes over σ [rows channels, k]."""

    values: Array
    residual: Array
    sigma: Array
    slopes: Array
    converged: bool
    iterations: int


class ForceProblem:
    """Measured forces of degrees of freedom `dofs`, and a model whose parameters are sought within low, high [k]."""

    def __init__(self, model: Model, names: Sequence[str], dofs: NDArray[np.int64], low: Array, high: Array):
        self.model, self.names, self.dofs, self.low, self.high = model, tuple(names), dofs, low, high

    def residual(self, blocks: list[ForceSamples], values: Array) -> Array:
        """Forces that the motion needs less those exerted [rows, channels] (N, N m)."""
        model = unconstrained(self.model_with(values))
        rubbing = np.array(model.dof_frictionloss)
        found = [forces_of(model, b.motion, b.recording) + rubbing * np.sign(b.motion.qvel) - b.exerted for b in blocks]
        return np.concatenate(found)[:, self.dofs]

    def model_with(self, values: Array) -> Model:
        """The model with values of the parameters."""
        return self.model.changed(dict(zip(self.names, values.tolist(), strict=True)))

    def fit(self, blocks: list[ForceSamples], first: Array, iterations: int) -> ForceFit:
        """The values under which Σ log σ of the channels is least (maximum likelihood), within their bounds."""
        from scipy.optimize import lsq_linear

        spans, values = self.high - self.low, first
        floor = FLOOR * np.maximum(np.max([abs(b.exerted[:, self.dofs]).max(axis=0) for b in blocks], axis=0), 1e-6)
        residual = self.residual(blocks, values)
        for done in range(1, iterations + 1):
            slopes = self._slopes(blocks, values)
            if done == 1:
                refuse_silent(self.names, (slopes != 0).any(axis=(0, 1)))
            sigma = np.maximum(np.sqrt((residual**2).mean(axis=0)), floor)
            rows = (slopes / sigma[:, None]).reshape(-1, len(values)) * spans
            bounds = np.minimum((self.low - values) / spans, -1e-14), np.maximum((self.high - values) / spans, 1e-14)
            step = lsq_linear(rows, -(residual / sigma).reshape(-1), bounds, tol=1e-13).x
            values, residual, moved = self._stepped(blocks, values, residual, sigma, step * spans)
            if np.max(abs(moved) / spans) <= MOVED:
                break
        sigma = np.maximum(np.sqrt((residual**2).mean(axis=0)), floor)
        found = (self._slopes(blocks, values) / sigma[:, None]).reshape(-1, len(values))
        return ForceFit(values, residual, sigma, found, bool(np.max(abs(moved) / spans) <= 1e3 * MOVED), done)

    def _stepped(self, blocks: Any, values: Array, residual: Array, sigma: Array, step: Array) -> tuple[Any, ...]:
        """Values, residuals and step [k] of the longest of some steps that lessens the residuals; else of none."""
        before = ((residual / sigma) ** 2).sum()
        for _ in range(30):
            tried = np.clip(values + step, self.low, self.high)
            try:
                found = self.residual(blocks, tried)
            except (ModelError, OptionError):  # inertias that no body has
                step = 0.5 * step
                continue
            if ((found / sigma) ** 2).sum() <= before * (1 + 1e-12):
                return tried, found, tried - values
            step = 0.5 * step
        return values, residual, np.zeros_like(values)

    def _slopes(self, blocks: list[ForceSamples], values: Array) -> Array:
        """Derivatives of residuals [rows, channels, k] by central differences between the bounds."""
        columns = []
        for k, h in enumerate(STEP * (self.high - self.low)):
            ends = []
            for end in (max(values[k] - h, self.low[k]), min(values[k] + h, self.high[k])):
                moved = values.copy()
                moved[k] = end
                ends.append((end, self.residual(blocks, moved)))
            (a, before), (b, after) = ends
            columns.append((after - before) / (b - a))
        return np.stack(columns, axis=-1)


def refuse_loops(model: Model) -> None:
    """OptionError for models with equality constraints, whose forces are not measured."""
    if "equality" in constraint_kinds(model):
        raise OptionError(
            "identify: the model has equality constraints, whose forces are neither measured nor told by motion; use "
            "data='motion', or disable them in the model and give their forces as wrenches"
        )


def refuse_drives(model: Model) -> None:
    """OptionError for drives and ropes with losses: their friction is not Coulomb's, which forces here contain."""
    if names := joints_with_losses(model.mj_model):
        raise OptionError(
            f"identify: the drives of joints {', '.join(names)} have losses, whose friction depends on velocity and "
            "load; use data='motion'"
        )
    if ropes := [model.names("tendon")[t] for t in capstan_friction(model.mj_model)]:
        raise OptionError(
            f"identify: the friction of tendons {', '.join(ropes)} on what they wrap depends on their tension; use "
            "data='motion'"
        )
