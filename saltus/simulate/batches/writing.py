"""Setting states and inputs of simulations of a batch from arrays of any strides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import refuse_without_room
from saltus.errors import OptionError
from saltus.simulate.batches.arrays import SupportsDLPack, given
from saltus.simulate.batches.copying import scatter
from saltus.simulate.batches.fields import check_state
from saltus.simulate.batches.memory import table_of
from saltus.simulate.engine.batch.states import FORGETTING, BatchStates
from saltus.simulate.engine.switches import check_switches

COPIED = 1e-9  # s, about the time to copy a number


def write(
    lanes: BatchStates, name: str, values: ArrayLike | SupportsDLPack, ids: NDArray[np.int64] | None = None
) -> None:
    """Set a field of the simulations `ids` (None: all) to values [ids, ...], or to one row for all of them."""
    check_state(name)
    array = given(name, values)
    count = lanes.n if ids is None else len(ids)
    wanted = (count, *lanes.shape(name))
    if count:
        refuse_without_room(name, wanted, array)
    try:
        array = np.broadcast_to(array, wanted)
    except ValueError:
        raise OptionError(f"{name} has shape {wanted}, not {array.shape}") from None
    if name == "eq_active":
        check_switches(lanes.model, lanes.m, array)
    simulations = lanes.everyone if ids is None else ids
    if name == "time":
        lanes.clock.reshape(-1)[simulations] = array  # in double precision
    span = lanes.span(name)
    rows = np.arange(span.start, span.stop)
    forgotten = lanes.remembered if name in FORGETTING else lanes.remembered[:0]
    table = table_of([array], [0])

    def work(worker: int, first: int, last: int) -> bool:
        places = (first * lanes.width, min(last * lanes.width, lanes.n)) if ids is None else (0, count)
        return scatter(lanes.states, simulations, *places, lanes.width, table, rows, forgotten)

    # given ids are written by one thread: threads must not share a group, and order matters if an id occurs twice
    anything = lanes.share(work, 0.0 if ids is not None else COPIED * count * len(rows))
    if name in ("qfrc_applied", "xfrc_applied") and any(anything):
        lanes.forced = True
