"""Many states of one mechanism whose steps go over impacts, moved side by side in the lanes of SIMD registers."""

import time as clock
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.contact.counts import NUNSOLVED
from saltus.contact.mujoco.collision import attach
from saltus.contact.mujoco.rays import attach_sense
from saltus.model.layout import DATA
from saltus.number.kinds import LANES
from saltus.number.structs import Struct, aligned_zeros
from saltus.simulate.engine.batch import one_by_one
from saltus.simulate.engine.batch.lane_loop import FOLLOWED, advance_lanes
from saltus.simulate.engine.batch.log import COLUMNS
from saltus.simulate.engine.batch.one_by_one import OneByOne
from saltus.simulate.engine.engine import Engine
from saltus.simulate.laws.contact import Hard
from saltus.simulate.laws.control import room_of
from saltus.solve.status import EVENTS_FULL, OK

WIDTH = LANES["float64"].width
#: Features of models whose steps have no kernels for lanes, and what they stand for.
ALONE = {
    "event": "events are located in time",
    "seams": "geoms that move together and touch each other",
    "adhere": "actuators that make bodies adhere",
    "adhesive": "adhesive contacts",
    "broad": "pairs of geoms that are found at run time",
    "flex": "deformable bodies",
    "flexrod": "rods",
    "foreign": "pairs of geoms that MuJoCo's functions collide",
}


def why_alone(engine: Engine) -> str:
    """Why simulations with this engine cannot take their steps in lanes; empty if they can."""
    if not engine.steps_over_events:
        return ALONE["event"]
    if engine.m.neq:
        return "equality constraints"
    if engine.dynamics is not None:
        return "user-defined equations of motion"
    found = [reason for word, reason in ALONE.items() if word in engine.step_m.layout.features]
    return found[0] if found else ""


class SteppedLanes(OneByOne):
    """n states of a model under time stepping (`moreau_jean`), which take their steps side by side.

    States, logs and what is read from them are those of `OneByOne`; only steps differ. Each thread has a Data of lanes,
    into which it loads one group of states after the other, and sweeps over their contacts until the last of them has
    converged. A simulation does not depend on its neighbours, to the bit. Where simulations have their own restitution
    or friction, they move one by one.
    """

    def __init__(self, engines: Sequence[Engine], n: int, law: Hard, parameters: int):
        super().__init__(engines, n, law, parameters)
        engine = self.engine
        room = room_of(engine.model, engine.control)
        sizes = engine.integrator.data_sizes(engine.m.sizes, lanes=True, **room)
        self._lanes = [Struct(DATA, sizes, "lane64") for _ in engines]
        for f in self._lanes:
            attach(engine.model, f)
            if "sensor_delay" in engine.m.layout.features:
                attach_sense(engine.model, f)  # steps of this model read sensors
            rows = f.span("time", "xfrc_applied")
            assert (rows.start, rows.stop) == (0, self._rows.shape[1])
        self._followed = np.zeros((n, FOLLOWED))

    def _take_steps(self, status: np.ndarray, taken: np.ndarray, n: int, h: float) -> int:
        own = self._own
        if any((numbers != numbers[:1]).any() for numbers in own[1::2]):
            return super()._take_steps(status, taken, n, h)
        for engine in self.engines:
            engine.m.real[own[0]], engine.m.ints[own[2]] = own[1][0], own[3][0]
        forced = self._simulations()[1].astype(bool)
        worst = np.full(self.n, OK)
        went = status == EVENTS_FULL
        began = clock.perf_counter()
        expected = self.pace * int(went.sum()) * n
        for having in (False, True):
            # with equally many steps to take in a group
            index = np.flatnonzero(went & (forced == having))
            for count in np.unique(n - taken[index]):
                which = index[n - taken[index] == count]
                self._take_steps_of(which, (status, taken, worst), having, n, h)
        self.pace = (clock.perf_counter() - began) * self._worth(expected) / (self.n * n)
        return 0

    def _take_steps_of(
        self, which: NDArray[np.int64], progress: tuple[np.ndarray, ...], forced: bool, n: int, h: float
    ) -> None:
        """Take steps of h seconds of simulations, all with or without Cartesian forces, until they have taken n."""
        loop, parameters = advance_lanes(self.engine.integrator), self.engine.integrator.parameters

        def work(worker: int, first: int, last: int) -> None:
            engine, f = self.engines[worker], self._lanes[worker]
            f.fill("timestep", h)
            f.ints[DATA.slot["has_xfrc"]] = forced
            room = WIDTH * f.sizes["nevent_log"]
            log = np.empty((max(one_by_one.LOG_ROOM, room), COLUMNS))
            marks = (np.zeros(WIDTH, int), np.zeros(WIDTH, bool), np.zeros(WIDTH, bool))
            scratch = (*marks, aligned_zeros((self._rows.shape[1], WIDTH), np.float64))
            while True:
                how = (self._rows, which, progress, self._followed, log, scratch, (first, last, n, room), h)
                first, rows, unsolved = loop(engine.step_m, f, engine.d, *how, *parameters)
                engine.d.views["count"][NUNSOLVED] += unsolved
                self._log.add(log[:rows].copy())
                if first == last:
                    return

        self.share_among(work, -(-len(which) // WIDTH), self.pace * len(which) * n)
