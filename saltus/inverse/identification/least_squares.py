"""Gauss-Newton's method for parameters and the starts of windows, by maximum likelihood.

With normal errors of unknown size σ_c in each channel, the likelihood is largest where Σ_c N_c log σ_c is least, with
σ_c the root mean square of the channel's residuals (Bard, Nonlinear Parameter Estimation (1974), 4.9). The starts of
the windows are eliminated from each linear problem by orthogonal projections (Golub & Pereyra (1973)), so that its size
is that of the parameters. Steps keep to the bounds and are damped (Levenberg & Marquardt), by how well the linear
problem foretold what the last one gained (Nielsen, Damping parameter in Marquardt's method (1999)). A trial and the
derivatives there are one run of the motion, and none is spent on steps that the linear problem knows to gain nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.control.tangent_states import State
from saltus.errors import DivergenceError, EventError, OptionError, SaltusError
from saltus.inverse.identification.prediction import Begun, Predictor
from saltus.inverse.identification.recorded_motion import Window

Array = NDArray[np.float64]
FLOOR = 1e-11  # of a channel's range: residuals below this are rounding
GAIN = 1e-6  # of the logarithm of the likelihood, for each channel: a search that gains less has converged
# damping, relative to the information: at first, at most while a search may count as converged, and at most at all
FIRST_DAMPING, SMALL_DAMPING, MOST_DAMPING = 1e-3, 1e-2, 1e12
IDLE = 3  # steps in a row that gain nothing under more damping, as at the kinks of dry friction: converged


@dataclass(eq=False)
class Fit:
    """Values [k] of the parameters and starts of the windows, with residuals [windows][samples, channels] there."""

    values: Array
    starts: list[State]
    residuals: list[Array]
    sigma: Array  # [channels]
    objective: float
    begun: list[Begun]  # motions of the windows, whose derivatives may be incomplete; emptied by `Problem.slopes`
    slopes: list[WindowSlopes] | None = None


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

    def evaluated(self, values: Array, starts: list[State], by_parameters: bool = True) -> Fit | None:
        """Residuals and objective there, with derivatives begun; None where a motion diverges or cannot be."""
        begun: list[Begun] = []
        try:
            for window, start in zip(self.windows, starts, strict=True):
                one = self.predictor.begun(window, start, values, self.estimate_start, by_parameters)
                if one is None or not np.isfinite(one.residual).all():
                    return None
                begun.append(one)
        except DivergenceError:
            return None
        residuals = [one.residual for one in begun]
        sigma = self._sigma(np.sum([(r * r).sum(axis=0) for r in residuals], axis=0))
        return Fit(values, starts, residuals, sigma, self._objective(sigma), begun)

    def _sigma(self, squares: Array) -> Array:
        """Deviations σ [channels], from sums of squares of the residuals."""
        return np.maximum(np.sqrt(squares / self.samples), self.floor)

    def _objective(self, sigma: Array) -> float:
        """Minus the logarithm of the likelihood."""
        return float(self.samples * np.log(sigma).sum())

    def begin(self, values: Array, starts: list[State]) -> Fit:
        """The fit at the start of a search. OptionError: its motion diverges."""
        fit = self.evaluated(values, starts)
        if fit is None:
            raise OptionError("identify: the motion diverges with the values at the start; choose shorter windows")
        return fit

    def slopes(self, fit: Fit) -> list[WindowSlopes]:
        """Residuals and slopes of all windows about a fit, which keeps them."""
        if fit.slopes is None:
            fit.slopes = []
            for one in fit.begun:
                r, X, J = self.predictor.completed(one)
                flat = [(part / fit.sigma[:, None]).reshape(r.size, -1) for part in (X, J)]
                fit.slopes.append(WindowSlopes((r / fit.sigma).reshape(-1), *flat))
            fit.begun = []
        return fit.slopes

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

    def search(self, fit: Fit, iterations: int, gain: float = GAIN) -> tuple[Fit, Reduced, bool, int]:
        """The fit of greatest likelihood from one at the start, its linear problem, whether it converged, iterations.

        gain: of the logarithm of the likelihood, for each channel, below which the search ends. Raises what a motion
        without derivatives raises, if no shorter step avoids it.
        """
        damping, growth, scale, least = FIRST_DAMPING, 2.0, self.high - self.low, gain * len(fit.sigma)
        idle = 0  # steps in a row that gained no more than the least
        refused: SaltusError | None = None  # why a trial near the fit has no derivatives
        for done in range(1, iterations + 1):
            slopes = self.slopes(fit)
            while damping < MOST_DAMPING:
                step, reduced = self._step(slopes, fit.values, damping)
                changes = self._changes(slopes, reduced, step)
                foretold = fit.objective - self._foretold(fit, slopes, step, changes)
                moved = np.max(abs(np.concatenate([step / scale, *changes])))
                if damping <= SMALL_DAMPING and (foretold <= least or moved <= 1e-10):
                    return fit, self.reduced(slopes, 0.0), True, done - 1
                values = np.clip(fit.values + step, self.low, self.high)
                try:
                    tried = self.evaluated(values, self._moved(fit.starts, changes))
                except (OptionError, EventError) as error:
                    tried, refused = None, error
                if tried is not None and tried.objective <= fit.objective + 1e-12 * self.samples:
                    break
                damping, growth = damping * growth, 2.0 * growth
            else:
                if refused is not None:
                    raise refused
                return fit, self.reduced(slopes, 0.0), False, done
            gained = fit.objective - tried.objective
            idle, refused = (idle + 1, refused) if gained <= least else (0, None)
            if idle == IDLE and refused is not None:
                raise refused
            if idle and (damping <= SMALL_DAMPING or idle == IDLE):
                return tried, self.reduced(self.slopes(tried), 0.0), True, done
            share = float(np.clip(gained / foretold, 0.0, 2.0)) if foretold > 0.0 else 0.0
            damping, growth = max(damping * max(0.1, 1.0 - (2.0 * share - 1.0) ** 3), 1e-12), 2.0
            fit = tried
        return fit, self.reduced(self.slopes(fit), 0.0), False, iterations

    def _foretold(self, fit: Fit, slopes: list[WindowSlopes], step: Array, changes: list[Array]) -> float:
        """The objective of the linear problem behind steps of the parameters and of the starts."""
        squares = np.zeros(len(fit.sigma))
        for w, change in zip(slopes, changes, strict=True):
            left = w.residual - w.by_parameters @ step - (w.by_start @ change if self.estimate_start else 0.0)
            squares += (left.reshape(-1, len(fit.sigma)) ** 2).sum(axis=0)
        return self._objective(self._sigma(squares * fit.sigma**2))

    def _step(self, slopes: list[WindowSlopes], values: Array, damping: float) -> tuple[Array, Reduced]:
        """The damped step of the parameters within their bounds, and the problem that it solves."""
        from scipy.optimize import lsq_linear

        reduced, scale = self.reduced(slopes, damping), self.high - self.low
        sizes = np.maximum(np.linalg.norm(reduced.R * scale, axis=0), 1e-12)
        rows = np.vstack([reduced.R * scale, np.sqrt(damping) * np.diag(sizes)])
        right = np.concatenate([reduced.right, np.zeros(len(scale))])
        bounds = np.minimum((self.low - values) / scale, -1e-14), np.maximum((self.high - values) / scale, 1e-14)
        return lsq_linear(rows, right, bounds, tol=1e-13).x * scale, reduced

    def _changes(self, slopes: list[WindowSlopes], reduced: Reduced, step: Array) -> list[Array]:
        """Changes (dq, dv) of the starts of the windows that go with a step of the parameters."""
        if not self.estimate_start:
            return [np.zeros(0)] * len(slopes)
        left = [w.residual - w.by_parameters @ step for w in slopes]
        return [inverse @ r for inverse, r in zip(reduced.inverses, left, strict=True)]

    def _moved(self, starts: list[State], changes: list[Array]) -> list[State]:
        """Starts of the windows, changed by (dq, dv)."""
        if not self.estimate_start:
            return starts
        return [self.predictor.moved(start, change) for start, change in zip(starts, changes, strict=True)]

    def settled(self, values: Array) -> Fit | None:
        """The fit of the windows' starts alone, at given values; None where a motion diverges."""
        fit = self.evaluated(values, [self.predictor.start_of(window) for window in self.windows], False)
        if fit is None or not self.estimate_start:
            return fit
        still = np.zeros(len(values))
        for damping in (1e-2, 1e-4, 1e-6):
            slopes = self.slopes(fit)
            changes = self._changes(slopes, self.reduced(slopes, damping), still)
            if fit.objective - self._foretold(fit, slopes, still, changes) <= GAIN * len(fit.sigma):
                break
            tried = self.evaluated(values, self._moved(fit.starts, changes), False)
            if tried is not None and tried.objective < fit.objective:
                fit = tried
        return fit
