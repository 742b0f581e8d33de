"""Delays of actuators in predictions: controls of the past, from the recording, with derivatives by the delay.

An actuator with a delay τ acts in the step from t by the control that its history of steps has at t - τ, the newest
being that of the step before (see `saltus.dynamics.history`): τ below one step h acts as h. With linear interpolation,

    u(t_k - τ) = (1 - f) u_(k-n) + f u_(k-n-1)        τ = (n + f) h,

which is also the mean over the step of held controls that are τ late, so that motion depends continuously on τ, with
the derivative ∂u/∂τ = (u_(k-n-1) - u_(k-n)) / h. With held controls (zero-order hold) it depends on whole steps alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from saltus.dynamics.history import CUBIC, HOLD, LINEAR
from saltus.errors import OptionError
from saltus.inverse.identification.recorded_motion import Window
from saltus.model.model import Model

Array = NDArray[np.float64]
FIELD = "actuator_delay["  # with which names of delays begin
WHOLE = 1e-9  # of a step: delays this close to whole steps are whole


class Held(NamedTuple):
    """Steps under the same controls: their number, the controls [nu], and the slopes [nu] of these by the delays."""

    steps: int
    ctrl: Array
    slope: Array


class ControlDelays:
    """Delays of a model's actuators; `sought`: places in `names` of those that are parameters, by actuator."""

    def __init__(self, model: Model, names: Sequence[str]):
        self._model = model
        actuators = model.names("actuator")
        self.sought: dict[int, int] = {}
        for place, name in enumerate(names):
            if name.startswith(FIELD):
                key = name.removeprefix(FIELD).removesuffix("]")
                k = actuators.index(key) if key in actuators else int(key.removeprefix("#"))
                if k in self.sought:
                    raise OptionError(f"identify: {names[self.sought[k]]} and {name} are one number; give one")
                self.sought[k] = place
        m = model.mj_model
        known = np.flatnonzero(m.actuator_delay > 0.0).tolist() if model.nu else []
        self.actuators: list[int] = sorted({*known, *self.sought})
        for k in self.actuators:
            _check_interpolation(model, k, names[self.sought[k]] if k in self.sought else "")

    def check_bounds(self, names: Sequence[str], low: Array, high: Array, h: float) -> None:
        """OptionError for bounds (s) below a step of h seconds, the least delay, or beyond what histories hold."""
        for k, place in self.sought.items():
            most = int(self._model.mj_model.actuator_history[k, 0])
            if low[place] < h * (1 - WHOLE):
                raise OptionError(f"identify: bounds of {names[place]} begin at {h:g} s, one step, the least delay")
            if high[place] > most * h * (1 + WHOLE):
                needed = int(np.ceil(high[place] / h - WHOLE))
                raise OptionError(
                    f"identify: {names[place]} up to {high[place]:g} s needs nsample={needed} in the model, not {most}"
                )

    def none(self) -> dict[str, float]:
        """Values for `Model.changed` under which no actuator has a delay."""
        return {f"{FIELD}#{k}]": 0.0 for k in self.actuators}

    def longest(self, high: Array) -> float:
        """The longest delay (s) within the upper bounds of the parameters."""
        own = self._model.mj_model.actuator_delay
        return max((float(high[self.sought[k]]) if k in self.sought else own[k] for k in self.actuators), default=0.0)

    def held(self, window: Window, steps: int, values: Array) -> list[list[Held]]:
        """Controls of a window from each sample to the next, which is `steps` steps later; one step for the last."""
        recorded, count = window.motion.ctrl, window.last - window.first
        if not self.actuators:
            zero = np.zeros(recorded.shape[1])
            return [[Held(steps, recorded[window.first + k], zero)] for k in range(count + 1)]
        ctrl, slope = self._of_steps(window, steps, values)
        changes = np.ones(len(ctrl), bool)
        changes[1:] = (ctrl[1:] != ctrl[:-1]).any(axis=1) | (slope[1:] != slope[:-1]).any(axis=1)
        changes[::steps] = True
        found: list[list[Held]] = [[] for _ in range(count + 1)]
        firsts = np.flatnonzero(changes)
        for first, last in zip(firsts, [*firsts[1:], len(ctrl)], strict=True):
            found[first // steps].append(Held(int(last - first), ctrl[first], slope[first]))
        return found

    def _of_steps(self, window: Window, steps: int, values: Array) -> tuple[Array, Array]:
        """Controls [n, nu] that act in the steps of a window, and their slopes by the delays."""
        m, recorded, h = self._model.mj_model, window.motion.ctrl, window.motion.interval / steps
        now = np.arange(window.first * steps, window.last * steps + 1)
        ctrl, slope = recorded[now // steps], np.zeros((len(now), recorded.shape[1]))
        for k in self.actuators:
            delay = float(values[self.sought[k]]) if k in self.sought else float(m.actuator_delay[k])
            whole, part = _split(max(delay / h, 1.0))
            own = self.controls_of(k)
            newer, older = (recorded[np.maximum(now - n, 0) // steps, own] for n in (whole, whole + 1))
            if m.actuator_history[k, 1] == HOLD:
                ctrl[:, own] = older if part else newer
            else:
                ctrl[:, own] = (1.0 - part) * newer + part * older
                slope[:, own] = (older - newer) / h
        return ctrl, slope

    def controls_of(self, k: int) -> slice:
        """The controls of an actuator."""
        m = self._model.mj_model
        return slice(int(m.actuator_ctrladr[k]), int(m.actuator_ctrladr[k] + m.actuator_ctrlnum[k]))


def _split(steps: float) -> tuple[int, float]:
    """Whole steps of a delay, and the part of a step that is left."""
    whole = int(np.floor(steps + WHOLE))
    part = steps - whole
    return whole, part if part > WHOLE else 0.0


def _check_interpolation(model: Model, k: int, name: str) -> None:
    """OptionError for an actuator by whose delay, `name` if it is a parameter, motion cannot be predicted here."""
    way = int(model.mj_model.actuator_history[k, 1])
    actuator = model.names("actuator")[k]
    if way == CUBIC:
        raise OptionError(
            f"identify: delayed controls of {actuator} are interpolated by cubics; choose interp='linear'"
        )
    if name and way != LINEAR:
        raise OptionError(
            f"identify: motion depends on {name} by whole steps, without a derivative, as delayed controls are held; "
            "choose interp='linear' in the model, by which whole steps act alike and parts of a step by the mean"
        )
