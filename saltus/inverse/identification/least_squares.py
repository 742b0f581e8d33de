"""Gauss-Newton's method for parameters and the starts of windows, by maximum likelihood.

With normal errors of unknown size σ_c in each channel, the likelihood is largest where Σ_c N_c log σ_c is least, with
σ_c the root mean square of the channel's residuals (Bard, Nonlinear Parameter Estimation (1974), 4.9). The starts of
the windows are eliminated from each linear problem by orthogonal projections (Golub & Pereyra (1973)), so that its size
is that of the parameters. Steps are damped (Levenberg & Marquardt) and keep to the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import State
from saltus.errors import OptionError
from saltus.inverse.identification.prediction import Predictor
from saltus.inverse.identification.recorded_motion import Window

Array = NDArray[np.float64]
FLOOR = 1e-11  # of a channel's range: residuals below this are rounding
GAIN = 1e-6  # of the logarithm of the likelihood, for each channel: a search that gains less has converged


@dataclass(eq=False)
class Fit:
    """Values [k] of the parameters and starts of the windows, with residuals [windows][samples, channels] there."""

    values: Array
    starts: list[State]
    residuals: list[Array]
    sigma: Array  # [channels]
    objective: float


class WindowSlopes(NamedTuple):
    """Residuals [rows] of a window over the σ of their channels, and slopes by its start [rows, 2 nv], parameters."""

    residual: Array
    by_start: Array
    by_parameters: Array


class Reduced(NamedTuple):
    """The linear problem of the parameters alone: R [rows, k] and right side [rows], of unit errors.

    inverses [windows][2 nv, rows]: the start of a window follows from its residuals that are left.
    """

    R: Array
    right: Array
    inverses: list[Array]


class Problem:
    """Windows of data and a predictor, whose parameters are sought within bounds low, high [k]."""

    def __init__(self, predictor: Predictor, windows: list[Window], low: Array, high: Array, estimate_start: bool):
        self.predictor, self.windows, self.low, self.high = predictor, windows, low, high
        self.estimate_start = estimate_start
        self.samples = sum(window.last - window.first + 1 for window in windows)
        scales = [self._range(window) for window in windows]
        self.floor = FLOOR * np.maximum(np.max(scales, axis=0), 1e-6)

    def _range(self, window: Window) -> Array:
        """Sizes of the channels' data, for what counts as rounding."""
        motion, nv = window.motion, self.predictor.model.nv
        qvel = np.zeros((1, nv)) if motion.qvel is None else motion.qvel
        size = np.concatenate([np.full(nv, np.ptp(motion.qpos, axis=0).max()), np.full(nv, np.ptp(qvel, axis=0).max())])
        sensors = self.predictor.sensors.columns
        readings = np.zeros(0) if motion.sensordata is None else np.ptp(motion.sensordata[:, sensors], axis=0)
        return np.concatenate([size[self.predictor.channels], readings])

    def evaluated(self, values: Array, starts: list[State]) -> Fit | None:
        """Residuals and objective there; None where a motion diverges."""
        residuals = []
        for window, start in zip(self.windows, starts, strict=True):
            found = self.predictor.residual(window, start, values)
            if found is None:
                return None
            residuals.append(found)
        square = sum((r * r).sum(axis=0) for r in residuals) / self.samples
        sigma = np.maximum(np.sqrt(square), self.floor)
        return Fit(values, starts, residuals, sigma, float(self.samples * np.log(sigma).sum()))

    def slopes(self, fit: Fit) -> list[WindowSlopes]:
        """Residuals and slopes of all windows about a fit."""
        found = []
        for window, start in zip(self.windows, fit.starts, strict=True):
            r, X, J = self.predictor.predicted(window, start, fit.values, self.estimate_start)
            flat = [(part / fit.sigma[:, None]).reshape(r.size, -1) for part in (X, J)]
            found.append(WindowSlopes((r / fit.sigma).reshape(-1), *flat))
        return found

    def reduced(self, slopes: list[WindowSlopes], damping: float) -> Reduced:
        """The problem without the starts, whose own changes are damped."""
        R, right, inverses = np.zeros((0, len(self.low))), np.zeros(0), []
        for r, X, J in slopes:
            if self.estimate_start:
                sizes = np.maximum(np.linalg.norm(X, axis=0), 1e-12)
                n = X.shape[1]
                Q, T = np.linalg.qr(np.vstack([X, np.sqrt(damping + 1e-20) * np.diag(sizes)]))
                inverses.append(np.linalg.solve(T, Q[: len(r)].T))
                J, r = (np.concatenate([part, np.zeros((n, *part.shape[1:]))]) for part in (J, r))
                J, r = J - Q @ (Q.T @ J), r - Q @ (Q.T @ r)
            R, right = np.vstack([R, J]), np.concatenate([right, r])
            if len(R) > 8 * (1 + R.shape[1]):
                Q, R = np.linalg.qr(R)
                right = Q.T @ right
        return Reduced(R, right, inverses)

    def search(
        self, values: Array, iterations: int, starts: list[State] | None = None, gain: float = GAIN
    ) -> tuple[Fit, Reduced, bool, int]:
        """The fit of greatest likelihood from start values, its linear problem, whether it converged, iterations.

        `starts`: of the windows; by default as measured. gain: of the logarithm of the likelihood, for each channel,
        below which the search ends.
        """
        measured = [self.predictor.start_of(window) for window in self.windows] if starts is None else starts
        fit, damping = self.evaluated(values, measured), 1e-3
        if fit is None:
            raise OptionError("identify: the motion diverges with the values at the start; choose shorter windows")
        scale = self.high - self.low
        for done in range(1, iterations + 1):
            slopes = self.slopes(fit)
            while damping < 1e12:
                step, reduced = self._step(slopes, fit.values, damping)
                values = np.clip(fit.values + step, self.low, self.high)
                tried = self.evaluated(values, self._moved(fit, slopes, reduced, step))
                if tried is not None and tried.objective <= fit.objective + 1e-12 * self.samples:
                    break
                damping *= 10.0
            else:
                return fit, self.reduced(slopes, 0.0), False, done
            gained, moved = fit.objective - tried.objective, np.max(abs(step) / scale, initial=0.0)
            fit, small = tried, damping <= 1e-2
            damping = max(0.1 * damping, 1e-12)
            if small and (gained <= gain * len(fit.sigma) or moved <= 1e-10):
                return fit, self.reduced(self.slopes(fit), 0.0), True, done
        return fit, self.reduced(self.slopes(fit), 0.0), False, iterations

    def _step(self, slopes: list[WindowSlopes], values: Array, damping: float) -> tuple[Array, Reduced]:
        """The damped step of the parameters within their bounds, and the problem that it solves."""
        from scipy.optimize import lsq_linear

        reduced, scale = self.reduced(slopes, damping), self.high - self.low
        sizes = np.maximum(np.linalg.norm(reduced.R * scale, axis=0), 1e-12)
        rows = np.vstack([reduced.R * scale, np.sqrt(damping) * np.diag(sizes)])
        right = np.concatenate([reduced.right, np.zeros(len(scale))])
        bounds = np.minimum((self.low - values) / scale, -1e-14), np.maximum((self.high - values) / scale, 1e-14)
        return lsq_linear(rows, right, bounds, tol=1e-13).x * scale, reduced

    def _moved(self, fit: Fit, slopes: list[WindowSlopes], reduced: Reduced, step: Array) -> list[State]:
        """Starts of the windows that go with a step of the parameters."""
        if not self.estimate_start:
            return fit.starts
        left = [w.residual - w.by_parameters @ step for w in slopes]
        changes = [inverse @ r for inverse, r in zip(reduced.inverses, left, strict=True)]
        return [self.predictor.moved(start, change) for start, change in zip(fit.starts, changes, strict=True)]

    def settled(self, values: Array) -> Fit | None:
        """The fit of the windows' starts alone, at given values; None where a motion diverges."""
        fit = self.evaluated(values, [self.predictor.start_of(window) for window in self.windows])
        if fit is None or not self.estimate_start:
            return fit
        for damping in (1e-2, 1e-4, 1e-6):
            slopes = self.slopes(fit)
            reduced = self.reduced(slopes, damping)
            tried = self.evaluated(values, self._moved(fit, slopes, reduced, np.zeros(len(values))))
            if tried is not None and tried.objective < fit.objective:
                fit = tried
        return fit
