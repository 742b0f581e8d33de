"""Many states of one mechanism in memory, in the lanes of SIMD registers, and the threads that move them."""

import time as clock
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.contact.mujoco.collision import attach
from saltus.contact.mujoco.rays import attach_sense
from saltus.integrate.adaptive.memory import STUCK
from saltus.integrate.integrator import Integrator
from saltus.model.compile.kernel_model import UserLaws
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.number.kinds import LANES
from saltus.number.structs import Struct, aligned_zeros
from saltus.simulate.engine import loops
from saltus.simulate.engine.batch.states import FIELDS, BatchStates, Result
from saltus.simulate.engine.batch.varied_model import VariedModel
from saltus.solve.status import OK, STEP_TOO_SMALL

#: Fields that are kept between steps only for the steps themselves.
REMEMBERED = ("memory", "qacc_warmstart", "slope_matrix", "stage_past")


class Lanes(BatchStates):
    """n states of a model that take their steps side by side.

    A group has as many states as a register has lanes. Each thread has a workspace, a Data of its own, into which it
    loads one group after the other. `m`: the Model as kernels take it. `states` [groups, rows, width], `clock`
    [groups, width] (s, always in double precision), `flags` [groups, width]: marks of diverged states. `forced`:
    whether any external forces are applied.
    """

    def __init__(
        self,
        model: Model,
        n: int,
        threads: int,
        precision: str,
        integrator: Integrator,
        timestep: float,
        laws: UserLaws,
        parameters: int,
        vary: Sequence[str] = (),
    ):
        self.model, self.precision, self.integrator, self.laws = model, precision, integrator, laws
        self._timestep = timestep
        self.m = model.struct(precision, integrator.law_timestep(timestep), laws, frozenset(vary))
        self.width = LANES[precision].width
        self.groups = -(-n // self.width)
        super().__init__(n, min(threads, self.groups))
        room = {"control_states": self.m.ncontrol_state, "control_prm": parameters}
        without = self.m.sizes | {"nact": self.m.nact - self.m.ncontrol_state}  # without the controller's states
        self.sizes = integrator.data_sizes(without, lanes=True, **room)
        kind = "lane64" if precision == "float64" else "lane32"
        self.workspaces = [Struct(DATA, self.sizes, kind) for _ in range(self.workers)]
        for workspace in self.workspaces:
            attach(model, workspace)
            if "sensor_delay" in self.m.layout.features:
                attach_sense(model, workspace)  # steps of this model read sensors
            workspace.fill("timestep", timestep)
        self.models = [self.m] * len(self.workspaces)
        self.varied_model: VariedModel | None = None
        if vary:
            self.models = [self.m.duplicate() for _ in self.workspaces]
            safe = integrator.law_timestep(timestep)
            self.varied_model = VariedModel(model, vary, n, self.groups, safe, self.m)
        first = self.workspaces[0]
        self._spans = {f: first.span(f, f) for f in (*FIELDS, *REMEMBERED)}
        self.remembered = np.concatenate([np.arange(self._spans[f].start, self._spans[f].stop) for f in REMEMBERED])
        self._rows = first.span("time", "xfrc_applied").stop
        self._unforced_rows = first.span("time", "ctrl").stop
        dtype = np.float64 if precision == "float64" else np.float32
        self.states = aligned_zeros((self.groups, self._rows, self.width), dtype)
        self.clock = np.zeros((self.groups, self.width))
        self.flags = np.zeros((self.groups, self.width), bool)
        self._none_varied = np.zeros((self.groups, 0, self.width), dtype), np.zeros(0, np.int64)
        self._loop, self._address = loops.advance_batch(integrator), 0

    # ------------------------------------------------------------ state

    def span(self, field: str) -> slice:
        """The rows of a state that hold a field."""
        return self._spans[field]

    def restart(self, index: np.ndarray) -> None:
        """Restart the states with the given numbers from the fields that have been written."""
        self.flags.reshape(-1)[index] = False
        if len(index) == self.n:
            self._forget_forces()
            self._fill_spare_lanes()
            self.forced = bool(self.states[:, self._unforced_rows :].any())

    def _forget_forces(self) -> None:
        """Clear the external forces of all states."""
        self.forced = False
        for workspace in self.workspaces:
            workspace.real[workspace.span("qfrc_applied", "xfrc_applied")] = 0.0

    def _fill_spare_lanes(self) -> None:
        """Make lanes beyond n copies of the first state."""
        spare = np.arange(self.n, self.groups * self.width)
        self.states[spare // self.width, :, spare % self.width] = self.states[0, :, 0]
        self.clock.reshape(-1)[self.n :] = self.clock[0, 0]
        if self.varied_model is not None:
            self.varied_model.fill_spare_lanes()

    def diverged(self) -> NDArray[np.bool_]:
        """Mask of states that have diverged [n]: a copy."""
        return self.flags.reshape(-1)[: self.n].copy()

    def stuck(self, i: int) -> bool:
        """Whether state i stopped because step control asked for too small steps."""
        return self.integrator.adaptive and bool(self._stuck()[i // self.width, i % self.width])

    def _stuck(self) -> NDArray[np.bool_]:
        return self.states[:, self._spans["memory"]][:, STUCK] > 0.5

    def take_integrator(self, integrator: Integrator) -> None:
        """Take an integrator of the same kind with other parameters."""
        self.integrator = integrator

    def kept(self) -> dict[str, Any]:
        """A copy of all that further steps depend on, for `go_to` of states made in the same way."""
        varied = {} if self.varied_model is None else self.varied_model.fields
        states = {name: getattr(self, name).copy() for name in ("states", "clock", "flags")}
        return states | {"forced": self.forced, "fields": {name: values.copy() for name, values in varied.items()}}

    def go_to(self, kept: dict[str, Any]) -> None:
        """Restore what `kept` returned."""
        for name in ("states", "clock", "flags"):
            getattr(self, name)[...] = kept[name]
        self.forced = kept["forced"]
        if self.varied_model is not None:
            for name, values in kept["fields"].items():
                self.varied_model.fields[name][...] = values

    def alone(self, i: int) -> "Lanes":
        """State i in separate lanes, on one thread; its further steps have the bits that they would have here."""
        vary = () if self.varied_model is None else self.varied_model.names
        spans = len(self.workspaces[0].views["control_prm"])
        own = Lanes(self.model, 1, 1, self.precision, self.integrator, self._timestep, self.laws, spans, vary)
        group, lane = divmod(i, self.width)
        own.states[0] = self.states[group, :, lane : lane + 1]
        own.clock[:] = self.clock[group, lane]
        own.forced = self.forced
        if self.varied_model is not None and own.varied_model is not None:
            own.varied_model.take(self.varied_model, i)
        return own

    # ------------------------------------------------------------ motion

    def advance(self, n: int, h: float, chosen: NDArray[np.int64] | None = None) -> int:
        """Take n steps of h seconds; returns the worst status of the states that have not diverged.

        `chosen`: numbers of the states that take steps; None for all. States that have diverged take none; those that
        diverge now keep the state before the step that failed.
        """
        known = self.flags.copy()
        if known.any():
            ready = np.flatnonzero(~known.reshape(-1)[: self.n])
            chosen = ready if chosen is None else np.intersect1d(chosen, ready)
        if chosen is not None and not len(chosen):
            return OK
        began = self.clock.copy()
        status = self._advance_all(n, h) if chosen is None else self._advance_some(n, h, chosen)
        self.flags.reshape(-1)[self.n :] = False
        lost = self.flags & ~known
        if lost.any():
            self._return_to(began, lost)
            self._advance_validly(np.flatnonzero(lost.reshape(-1)), max(n - 1, 0), h)
        if status >= STEP_TOO_SMALL:
            self.flags |= self._stuck()
            self.flags.reshape(-1)[self.n :] = False
        return status

    def stop(self, index: NDArray[np.int64]) -> None:
        """Mark the states with these numbers as diverged, so that they take no steps until `restart`."""
        self.flags.reshape(-1)[index] = True

    def failed_step(self, i: int, h: float) -> dict[str, NDArray[np.floating]]:
        """qvel, qpos, act and time (s) after a step of state i, which diverged in it and stays as it is."""
        group, lane = divmod(i, self.width)
        states, clock, flags = self.states[group].copy(), self.clock[group].copy(), self.flags[group].copy()
        self.states[group], self.clock[group] = states[:, lane, None], clock[lane]
        with self.looking(self.workspaces[0]):
            self._advance_groups(0, group, group + 1, 1, h)
        self.states[group], self.clock[group], self.flags[group] = states, clock, flags
        rows = self.workspaces[0].real
        after = {name: rows[self._spans[name], lane].copy() for name in ("qvel", "qpos", "act")}
        return after | {"time": np.asarray(rows[self._spans["time"].start, lane])}

    def _return_to(self, began: NDArray[np.float64], lost: NDArray[np.bool_]) -> None:
        """Set the clocks of states that a call has left as they were back to the beginning of the call."""
        self.clock[lost] = began[lost]
        self.states[:, self._spans["time"].start][lost] = began[lost]

    def _advance_validly(self, index: NDArray[np.int64], most: int, h: float) -> None:
        """Take as many steps as the states with these numbers can take without diverging, at most `most`.

        Tries 2ᵏ, ..., 4, 2, 1 steps, and keeps those after which the state is valid. The states stay flagged.
        """
        flags, left = self.flags.copy(), np.full(len(index), most)
        with self.uncounted():
            for count in (1 << k for k in reversed(range(most.bit_length()))):
                trying = index[left >= count]
                if not len(trying):
                    continue
                self.flags.reshape(-1)[trying] = False
                began = self.clock.copy()
                self._advance_some(count, h, trying)
                lost = np.zeros_like(self.flags)
                lost.reshape(-1)[trying] = self.flags.reshape(-1)[trying]
                self._return_to(began, lost)
                left[(left >= count) & ~lost.reshape(-1)[index]] -= count
        self.flags[:] = flags

    def _advance_all(self, n: int, h: float) -> int:
        """Take n steps of all groups; returns the worst status."""

        def work(worker: int, first: int, last: int) -> int:
            return self._advance_groups(worker, first, last, n, h)

        return max(self.share_steps(work, n))

    def share_steps(self, work: Callable[[int, int, int], Result], n: int) -> list[Result]:
        """Results of `work(worker, first group, last group)`, n steps of those groups, on all threads if that pays."""
        workers = self._worth(self.pace * self.groups * n)
        if workers > 1 and not self._threads.made:
            work(0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        began = clock.perf_counter()
        found = self._shared_out(work, workers, self.groups, workers)
        if n:
            self.pace = (clock.perf_counter() - began) * workers / (self.groups * n)
        return found

    def step_address(self) -> int:
        """Address of the compiled loop of `saltus.simulate.engine.loops.advance_batch` for these states."""
        if not self._address:
            arrays = (self.states, self.clock, self.flags, *self.varied())
            counts = (0, 0, self._rows, self.width, 0, self._timestep)
            call = (self.models[0], self.workspaces[0], *arrays, *counts, *self.integrator.parameters)
            self._address = self._loop.address(*call, result=types.int64)
        return self._address

    def _advance_groups(self, worker: int, first: int, last: int, n: int, h: float) -> int:
        """Take n steps of the groups from first up to last (exclusive) on one thread; returns the worst status."""
        counts = (first, last, self.present_rows(), self.width, n, h)
        workspace = self.prepared(worker)
        arrays = (self.states, self.clock, self.flags, *self.varied())
        return self._loop(self.models[worker], workspace, *arrays, *counts, *self.integrator.parameters)

    def _advance_some(self, n: int, h: float, chosen: NDArray[np.int64]) -> int:
        """Take steps of some states; meanwhile the other lanes of their groups hold copies of a chosen state."""
        groups, first = np.unique(chosen // self.width, return_index=True)
        still = np.ones((self.groups, self.width), bool)
        still[chosen // self.width, chosen % self.width] = False
        group, lane = np.nonzero(still & np.isin(np.arange(self.groups), groups)[:, None])
        kept = self.states[group, :, lane].copy(), self.clock[group, lane].copy(), self.flags[group, lane].copy()
        model = (chosen[first] % self.width)[np.searchsorted(groups, group)]
        self.states[group, :, lane], self.clock[group, lane] = self.states[group, :, model], self.clock[group, model]

        def work(worker: int, first: int, last: int) -> int:
            spans = np.split(groups[first:last], np.flatnonzero(np.diff(groups[first:last]) > 1) + 1)
            runs = [(int(span[0]), int(span[-1]) + 1) for span in spans if len(span)]
            return max((self._advance_groups(worker, *run, n, h) for run in runs), default=0)

        workers = min(self._worth(self.pace * len(groups) * n), max(1, len(groups)))
        if workers > 1 and not self._threads.made:
            # compiled before threads start, so that they do not wait for each other
            self._advance_groups(0, 0, 0, 0, h)
        status = max(self._shared_out(work, workers, len(groups), workers), default=0)
        self.states[group, :, lane], self.clock[group, lane], self.flags[group, lane] = kept
        return status

    def varied(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the model by simulation, and their places in its memory, for loops; empty if no fields vary."""
        if self.varied_model is None:
            return self._none_varied
        return self.varied_model.rows, self.varied_model.places

    def take_unsolved(self) -> int:
        """Number of solves that did not converge since the last call."""
        failed = 0
        for workspace in self.workspaces:
            failed += int(workspace.views["count"][NUNSOLVED])
            workspace.views["count"][NUNSOLVED] = 0
        return failed

    def prepared(self, worker: int) -> Struct:
        """The workspace of a thread, informed whether there are external forces."""
        workspace = self.workspaces[worker]
        workspace.ints[DATA.slot["has_xfrc"]] = self.forced
        return workspace

    def present_rows(self) -> int:
        """Number of rows of a state that are loaded into a workspace; forces are left out if there are none."""
        return self._rows if self.forced else self._unforced_rows

    def share(self, work: Callable[[int, int, int], Result], seconds: float) -> list[Result]:
        """Results of `work(worker, first group, last group)`, on all threads if it takes about so many seconds."""
        workers = self._worth(seconds)
        if workers == 1:
            return [work(0, 0, self.groups)]
        work(0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        return self._shared_out(work, workers, self.groups, workers)
