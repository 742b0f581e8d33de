"""Many states of one mechanism in memory, in the lanes of SIMD registers, and the threads that move them."""

import os
import time as clock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
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
from saltus.simulate.engine.varied_model import VariedModel

WORTH_A_THREAD = 1e-4  # s of work below which a second thread costs more than it saves
FIELDS = (
    *("time", "qpos", "qvel", "act", "history", "mocap_pos", "mocap_quat", "userdata", "control_prm", "ctrl"),
    *("qfrc_applied", "xfrc_applied"),
)
REMEMBERED = ("memory", "qacc_warmstart")  # what is kept between steps for them alone
FORGETTING = ("qpos", "qvel", "act", "time", "mocap_pos", "mocap_quat")  # fields whose change makes it void
Result = TypeVar("Result")


class Lanes:
    """n states of a model; below `saltus.Batch`.

    States lie in groups of as many as a register has lanes. Each thread has a workspace, a Data of its own, into which
    it loads one group after the other. `m`: the Model as kernels take it. `states` [groups, rows, width], `clock`
    [groups, width] (s, in double precision whatever the states are in), `flags` [groups, width]: who has diverged.
    `forced`: whether forces are applied from outside at all.
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
        self.model, self.n, self.precision, self.integrator, self.laws = model, n, precision, integrator, laws
        self._timestep = timestep
        self.m = model.struct(precision, integrator.law_timestep(timestep), laws, frozenset(vary))
        self.width = LANES[precision].width
        self.groups = -(-n // self.width)
        sizes = integrator.data_sizes(model.sizes(), control_states=self.m.ncontrol_state, control_prm=parameters)
        kind = "lane64" if precision == "float64" else "lane32"
        self.workspaces = [Struct(DATA, sizes, kind) for _ in range(min(threads, self.groups))]
        for workspace in self.workspaces:
            attach(model, workspace)
            if "sensor_delay" in self.m.layout.features:
                attach_sense(model, workspace)  # steps look, too
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
        self.everyone = np.arange(n)
        self._rows = first.span("time", "xfrc_applied").stop
        self._unforced_rows = first.span("time", "ctrl").stop
        dtype = np.float64 if precision == "float64" else np.float32
        self.states = aligned_zeros((self.groups, self._rows, self.width), dtype)
        self.clock = np.zeros((self.groups, self.width))
        self.flags = np.zeros((self.groups, self.width), bool)
        self.forced = False
        self._none_varied = np.zeros((self.groups, 0, self.width), dtype), np.zeros(0, np.int64)
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0  # whose threads these are
        self._loop = loops.advance_batch(integrator)
        self.pace = 1e-6  # s for a step of a group, as last measured

    # ------------------------------------------------------------ state

    def shape(self, field: str) -> tuple[int, ...]:
        """The shape of a field in one state."""
        return DATA.shape(field, self.workspaces[0].sizes)

    def span(self, field: str) -> slice:
        """The rows of a state in which a field of it lies."""
        return self._spans[field]

    def forget_forces(self) -> None:
        """No forces are applied any more, in any state."""
        self.forced = False
        for workspace in self.workspaces:
            workspace.real[workspace.span("qfrc_applied", "xfrc_applied")] = 0.0

    def fill_spare_lanes(self) -> None:
        """Let lanes beyond n do what the first state does from here on."""
        spare = np.arange(self.n, self.groups * self.width)
        self.states[spare // self.width, :, spare % self.width] = self.states[0, :, 0]
        self.clock.reshape(-1)[self.n :] = self.clock[0, 0]
        if self.varied_model is not None:
            self.varied_model.fill_spare_lanes()

    def diverged(self) -> NDArray[np.bool_]:
        """Which states have diverged [n]: a copy."""
        return self.flags.reshape(-1)[: self.n].copy()

    def stuck(self) -> NDArray[np.bool_]:
        """Whose step control asked for too small steps [groups, width]."""
        return self.states[:, self._spans["memory"]][:, STUCK] > 0.5

    def flag_stuck(self) -> None:
        """Count those as diverged whose step control asked for too small steps."""
        self.flags |= self.stuck()

    def alone(self, i: int) -> "Lanes":
        """State i in lanes of its own, on one thread; it goes on with the bits that it has among the others."""
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

    def advance(self, n: int, h: float) -> int:
        """n steps of h seconds; returns the worst status."""

        def work(worker: int, first: int, last: int, n: int = n) -> int:
            counts = (first, last, self.present_rows(), self.width, n, h)
            workspace = self.prepared(worker)
            arrays = (self.states, self.clock, self.flags, *self.varied())
            return self._loop(self.models[worker], workspace, *arrays, *counts, *self.integrator.parameters)

        workers = len(self.workspaces)
        if self.pace * self.groups * n < WORTH_A_THREAD * workers:
            workers = 1
        began = clock.perf_counter()
        if workers > 1 and self._pool is None:
            work(0, 0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        status = max(self._shared_out(work, workers))
        if n:
            self.pace = (clock.perf_counter() - began) * workers / (self.groups * n)
        return status

    def varied(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the model by simulation, and their places in its memory, for loops; none where none vary."""
        if self.varied_model is None:
            return self._none_varied
        return self.varied_model.rows, self.varied_model.places

    def take_unsolved(self) -> int:
        """How often constraint solvers did not converge since the last call."""
        failed = 0
        for workspace in self.workspaces:
            failed += int(workspace.views["count"][NUNSOLVED])
            workspace.views["count"][NUNSOLVED] = 0
        return failed

    def prepared(self, worker: int) -> Struct:
        """The workspace of a thread, which knows whether there are forces from outside."""
        workspace = self.workspaces[worker]
        workspace.ints[DATA.slot["has_xfrc"]] = self.forced
        return workspace

    @contextmanager
    def looking(self, workspace: Struct) -> Iterator[None]:
        """While inside, solves in a workspace that do not converge are not counted: looking is not a step."""
        count = workspace.views["count"]
        unsolved = int(count[NUNSOLVED])
        try:
            yield
        finally:
            count[NUNSOLVED] = unsolved

    def present_rows(self) -> int:
        """How many numbers of a state go into a workspace: none of forces where there are none."""
        return self._rows if self.forced else self._unforced_rows

    def share(self, work: Callable[[int, int, int], Result], seconds: float) -> list[Result]:
        """What `work(worker, first group, last group)` returns, on all threads if it takes that many seconds or so."""
        workers = len(self.workspaces)
        if seconds < WORTH_A_THREAD * workers:
            workers = 1
        if workers > 1:
            work(0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        return self._shared_out(work, workers)

    def _shared_out(self, work: Callable[[int, int, int], Result], workers: int) -> list[Result]:
        """What `work(worker, first group, last group)` returns, each worker with its share of the groups."""
        edges = [self.groups * k // workers for k in range(workers + 1)]
        if workers == 1:
            return [work(0, 0, self.groups)]
        pool = self._threads()
        rest = [pool.submit(work, k, edges[k], edges[k + 1]) for k in range(1, workers)]
        mine = work(0, edges[0], edges[1])
        return [mine, *(job.result() for job in rest)]

    def _threads(self) -> ThreadPoolExecutor:
        """The pool; another one in a process that was forked since, which has none of its parent's threads."""
        if self._pool is None or self._pool_process != os.getpid():
            self._pool = ThreadPoolExecutor(len(self.workspaces) - 1, thread_name_prefix="saltus")
            self._pool_process = os.getpid()
        return self._pool
