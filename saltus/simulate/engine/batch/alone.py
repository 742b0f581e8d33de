"""One simulation of a batch by itself: an engine whose steps have the batch's bits."""

import functools

from saltus.contact.counts import NUNSOLVED
from saltus.model.layout import DATA
from saltus.simulate.engine.batch.lanes import REMEMBERED, Lanes
from saltus.simulate.engine.batch.states import FIELDS
from saltus.simulate.engine.engine import Engine
from saltus.solve.status import DIVERGED, STEP_TOO_SMALL

_HAS_XFRC = DATA.slot["has_xfrc"]


def go_on_in(engine: Engine, lanes: Lanes) -> None:
    """Let an engine continue from the first state in `lanes`, which take its steps from then on."""
    for name in (*FIELDS, *REMEMBERED):
        row = lanes.states[0, lanes.span(name), 0]
        engine.d.views[name].reshape(-1)[: len(row)] = row
    engine.d.views["time"][...] = lanes.clock[0, 0]
    engine.other_loop = functools.partial(_advance, lanes)
    engine.keep_left()


def _advance(lanes: Lanes, engine: Engine, n: int, h: float) -> tuple[int, int]:
    """Take n steps of an engine in the compiled loop of batches, in place of `Engine.advance`.

    As after that, the engine holds the state after the step that diverged, if one does.
    """
    lanes.forced = bool(engine.d.ints[_HAS_XFRC])
    # fields with more room in the engine, for other controllers, have the same beginning
    fields = [(lanes.states[0, lanes.span(x)], engine.d.views[x].reshape(-1)) for x in (*FIELDS, *REMEMBERED)]
    for row, own in fields:
        row[:] = own[: len(row), None]
    lanes.clock[:] = start = engine.time
    lanes.flags[:] = False
    status = lanes.advance(n, h)
    for row, own in fields:
        own[: len(row)] = row[:, 0]
    engine.d.views["time"][...] = lanes.clock[0, 0]
    engine.d.views["count"][NUNSOLVED] += lanes.take_unsolved()
    if not lanes.flags[0, 0]:
        return n, status
    taken = round((lanes.clock[0, 0] - start) / h)
    if lanes.stuck(0):
        return taken, STEP_TOO_SMALL
    for name, after in lanes.failed_step(0, h).items():
        engine.d.views[name].reshape(-1)[: after.size] = after.reshape(-1)
    return taken + 1, DIVERGED
