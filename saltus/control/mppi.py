"""Model predictive path integral control, and predictive sampling: plans from many simulations of a batch.

From the plan u_k, samples u_k + ε_k with ε ~ N(0, σ²) run side by side; with costs S the new plan is

    u_k ← Σ w (u_k + ε_k),   w = exp(-(S - min S) / λ) / Σ exp(-(S - min S) / λ)

(Williams, Wagener, Goldfain, Drews, Rehg, Boots & Theodorou, Information theoretic MPC for model-based reinforcement
learning (2017), algorithm 2, with γ = 0). As λ goes to zero the best sample is the plan: predictive sampling (Howell et
al., Predictive sampling: real-time behaviour synthesis with MuJoCo (2022), algorithm 1). Each plan begins with the one
before, moved by the time that has gone. Noise is a spline through a few knots, held or smooth, so that samples are few
numbers and differ over a long time. Costs of recorded fields take one call for all samples and steps
(`Batch.rollout`), those of a batch a call at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import function, numbers, positive, several, whole_number
from saltus.control.horizon import steps_of
from saltus.control.noise_spline import INTERPOLATIONS, NoiseSpline
from saltus.control.tangent_states import check_simulation, control_ranges
from saltus.errors import DivergenceError, OptionError
from saltus.simulate.batch import Batch
from saltus.simulate.batches.fields import check_name
from saltus.simulate.batches.rollout import Rollout
from saltus.simulate.derivatives.linearize import check_chain

if TYPE_CHECKING:
    from saltus.simulate.simulation import Simulation

Array = NDArray[np.float64]
BatchCost: TypeAlias = Callable[[Batch], ArrayLike]  # costs [samples] of the states and controls of a batch
RolloutCost: TypeAlias = Callable[[Rollout], ArrayLike]  # costs [samples, T] or [samples] of recorded fields


class SamplingPlanner:
    """Plans controls by sampling, made by `saltus.mppi`; a control function: `sim.run(5, control=planner)`.

    Called with a simulation of the same kind, it improves its plan from that simulation's state and returns the
    controls [nu] for now. The simulation is only read.

    Attributes:
        controls: the plan [T, nu], from the last call's time on.
        costs: of the last samples [samples]; inf where they diverged.
        weights: of the last samples [samples], which sum to 1.
    """

    controls: Array
    costs: Array
    weights: Array

    def __init__(
        self,
        sim: Simulation,
        costs: tuple[Callable[..., ArrayLike], BatchCost | None],
        controls: Array,
        sampling: tuple[int, Array, NoiseSpline, float | None, int, int],
        batch: Batch,
        record: Sequence[str] | str | None,
    ):
        self._cost, self._final = costs
        self._record = record
        self._samples, self._noise, self._spline, self._temperature, self._every, self._seed = sampling
        self._low, self._high = control_ranges(sim)
        self._batch, self._model, self._timestep = batch, sim.model, sim.timestep
        self._rng = np.random.default_rng(self._seed)
        self._time: float | None = None
        self._age = 0
        self._first = controls
        self.controls = np.clip(controls, self._low, self._high)
        self.costs, self.weights = np.zeros(self._samples), np.full(self._samples, 1.0 / self._samples)

    def __repr__(self) -> str:
        how = "the best" if self._temperature is None else f"temperature {self._temperature:g}"
        return f"SamplingPlanner({self._samples} samples of {len(self.controls)} steps, {how})"

    def reset(self) -> None:
        """Forget the plan and what the samples were drawn with: a run from the same state is the same again."""
        self._rng = np.random.default_rng(self._seed)
        self._time, self._age = None, 0
        self.controls = np.clip(self._first, self._low, self._high)

    def __call__(self, sim: Simulation) -> Array:
        """Controls [nu] at the present state of a simulation, from the improved plan.

        A call at the time of the last one improves the plan again, from the state that is there now.

        Raises:
            OptionError: the simulation is of another model or timestep, or costs are no numbers.
            DivergenceError: all samples diverge.
        """
        check_simulation(sim)
        if sim.model.nq != self._model.nq or sim.model.nu != self._model.nu or sim.timestep != self._timestep:
            raise OptionError("mppi: the planner is for simulations of its own model and timestep")
        steps = 0 if self._time is None else round((sim.time - self._time) / self._timestep)
        if self._time is None or steps <= 0 or self._age + steps >= self._every:
            self._shift(max(steps + self._age, 0))
            self._improve(sim)
            self._age = 0
        else:
            self._age += steps
        self._time = float(sim.time)
        return self.controls[min(self._age, len(self.controls) - 1)].copy()

    def _shift(self, steps: int) -> None:
        """Move the plan by steps; its last controls are held."""
        places = np.minimum(np.arange(len(self.controls)) + steps, len(self.controls) - 1)
        self.controls = self.controls[places]

    def _improve(self, sim: Simulation) -> None:
        """Sample about the plan and weigh what it costs; the first sample is the plan itself."""
        shape = self._samples, self._spline.knots, self.controls.shape[1]
        noise = self._rng.standard_normal(shape) * self._noise
        noise[0] = 0.0
        tried = self._spline(noise)
        tried += self.controls
        np.clip(tried, self._low, self._high, out=tried)
        self._batch.set_from(sim)
        self.costs = self._of_steps(tried) if self._record is None else self._of_rollout(tried, self._record)
        if not np.isfinite(self.costs).any():
            raise DivergenceError(float(sim.time), what="all samples of mppi diverge; lower the noise or the timestep")
        least = self.costs.min()
        if self._temperature is None:
            self.weights = np.eye(self._samples)[int(self.costs.argmin())]
        else:
            self.weights = np.exp(-(self.costs - least) / self._temperature)
            self.weights /= self.weights.sum()
        self.controls = np.tensordot(self.weights, tried, axes=1)

    def _of_rollout(self, tried: Array, record: Sequence[str] | str) -> Array:
        """Costs [samples] of controls [samples, T, nu], from all fields at once; inf where samples diverge."""
        found = self._batch.rollout(tried, record, on_divergence="flag")
        costs = numbers("mppi: cost", self._cost(found))
        if costs.shape not in ((self._samples,), tried.shape[:2]):
            raise OptionError(
                f"mppi: cost must return [samples, T] or [samples], {tried.shape[:2]} or ({self._samples},), not "
                f"{costs.shape}"
            )
        if not np.isfinite(costs[~found.diverged]).all():
            raise OptionError("mppi: cost must be finite")
        return np.where(found.diverged, np.inf, costs.sum(axis=1) if costs.ndim == 2 else costs)

    def _of_steps(self, tried: Array) -> Array:
        """Costs [samples] of controls [samples, T, nu], from the batch at each step; inf where samples diverge."""
        batch = self._batch
        total = np.zeros(self._samples)
        for k in range(tried.shape[1]):
            batch.ctrl = tried[:, k]
            total += self._evaluated("cost", self._cost)
            try:
                batch.step()
            except DivergenceError:  # the others have taken their steps
                if batch.diverged.all():
                    break
        if self._final is not None:
            total += self._evaluated("final", self._final)
        return np.where(batch.diverged, np.inf, total)

    def _evaluated(self, name: str, cost: BatchCost) -> Array:
        """Costs [samples] at the batch's present states."""
        found = numbers(f"mppi: {name}", cost(self._batch))
        if found.shape != (self._samples,):
            raise OptionError(
                f"mppi: {name} must return one number for each sample, ({self._samples},), not {found.shape}"
            )
        if not np.isfinite(found[~self._batch.diverged]).all():
            raise OptionError(f"mppi: {name} must be finite")
        return found


def mppi(
    sim: Simulation,
    cost: BatchCost | RolloutCost,
    horizon: int | float,
    *,
    noise: ArrayLike,
    record: Sequence[str] | str | None = None,
    final: BatchCost | None = None,
    samples: int = 64,
    temperature: float | None = None,
    hold: int = 1,
    interpolation: str = "zero",
    every: int = 1,
    controls: ArrayLike | None = None,
    threads: int | None = None,
    precision: str = "float64",
    seed: int = 0,
) -> SamplingPlanner:
    """Model predictive control by sampling: a control function that plans anew from each state it is called with.

    `cost`, `final`: f(batch) -> [samples], costs of states and controls of a `saltus.Batch` at each step, and of states
    at the end (`batch.qpos` [samples, nq], `batch.ctrl`, `batch.read("site_xpos")`). `horizon`: steps (int) or s
    (float). `noise`: standard deviation of the controls, a number or [nu], drawn anew each `hold` steps, and between
    these knots by `interpolation`: "zero" (held), "linear" or "cubic" (a natural spline). `temperature` λ, in the
    cost's unit: weights are exp(-cost / λ); None: the best sample alone (predictive sampling). `every`: steps between
    plans. `controls` [T, nu]: of the first plan; by default the present ones, held. Controls stay in their
    ranges. `threads`, `precision` as of `saltus.Batch`. `seed`: of the noise. The simulation is not changed.

    `record`: names of fields such as ("qpos", "site_xpos"), with which all steps are one compiled call, and costs too:
    `cost` is then f(rollout) -> [samples, T] or [samples], of a `Rollout`, whose `rollout.qpos` [samples, T, nq] and
    so on are those after each step under `rollout.ctrl`. There is no `final`: the end is part of the rollout.

    Raises:
        OptionError: a batch does not take the model (it says why), steps remember more than the state, or there are
            events, or an argument has the wrong shape or sign.
    """
    check_simulation(sim)
    steps, costs = steps_of("mppi", sim, horizon), (function("cost", cost), final and function("final", final))
    check_chain(sim.engine, "mppi")
    nu = sim.model.nu
    if not nu:
        raise OptionError("mppi: the model has no controls")
    if record is not None and final is not None:
        raise OptionError("mppi: with record, cost sees the whole rollout: add the cost of its end there, not in final")
    if sim.engine.setup.events:
        raise OptionError("mppi: samples have no events; leave the simulation's events out")
    sigma = numbers("noise", noise)
    if sigma.shape not in ((), (nu,)) or not np.isfinite(sigma).all() or sigma.min() < 0.0 or not sigma.any():
        raise OptionError(f"mppi: noise must be a positive number, or {nu} numbers, none negative")
    first = np.tile(sim.ctrl, (steps, 1)) if controls is None else numbers("controls", controls)
    if first.shape != (steps, nu) or not np.isfinite(first).all():
        raise OptionError(f"mppi: controls must have shape {(steps, nu)}, not {first.shape}")
    weighing = None if temperature is None else positive("temperature", temperature, "")
    if interpolation not in INTERPOLATIONS:
        raise OptionError(f"mppi: interpolation must be one of {', '.join(INTERPOLATIONS)}, not {interpolation!r}")
    count, least = whole_number("samples", samples, 2), (whole_number("hold", hold, 1), whole_number("every", every, 1))
    present = {"contact": sim.law, "integrator": sim.integrator, "control": sim.control, "timestep": sim.timestep}
    batch = Batch(
        **(sim.engine.setup.arguments() | present | {"tolerance": None}), n=count, threads=threads, precision=precision
    )
    if record is not None:
        for name in [record] if isinstance(record, str) else several("record", record):
            check_name(name)
    sampling = (
        count,
        sigma,
        NoiseSpline(steps, least[0], interpolation),
        weighing,
        least[1],
        whole_number("seed", seed),
    )
    return SamplingPlanner(sim, costs, first, sampling, batch, record)
