"""Checks of the initial state for located events: no penetration, no violated equality."""

from collections.abc import Iterator

import numpy as np

from saltus.contact.counts import NBLOCK
from saltus.errors import EventError, warn
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.simulate.engine import loops
from saltus.simulate.engine.events.located import mode_names

REFUSED = ", too much to start with hard contact"
DEEP = 1e-3  # m, rad: bodies that lie deeper in each other than this, or loops that gape wider, are refused


def check_start(model: Model, m: Struct, d: Struct, *, started: bool = False) -> None:
    """Before modes are found: EventError where bodies lie deep in each other or loops gape, a warning for a little.

    `started`: the motion has begun and something was put elsewhere, which is a warning in any case.
    """
    for fault, refused in start_faults(model, m, d):
        if refused and not started:
            raise EventError(fault, time=float(d.views["time"]))
        warn(f"{fault.removesuffix(REFUSED)}, since a mocap body was put there at once" if refused else fault)


def start_faults(model: Model, m: Struct, d: Struct) -> Iterator[tuple[str, bool]]:
    """What is wrong with a state from which events are to be located, and whether it is too much to start there."""
    loops.gaps(m, d)
    time, gap = float(d.views["time"]), d.views["gap"]
    tolerance = float(m.opt_gap_tolerance)
    gap = gap[: points(m)]
    worst = int(np.argmin(gap)) if gap.size else -1
    if worst >= 0 and gap[worst] < -tolerance:
        name, other = mode_names(model, m)[worst]
        overlap = worst < m.nslot
        what = f"{name} and {other} overlap by {-gap[worst]:.3g} m" if overlap else f"{name} is beyond its {other}"
        remedy = "they are separated" if overlap else "it is moved back"
        yield _fault(-gap[worst], f"{what} at t = {time:g} s", remedy)
    if m.neq:
        error, name = _worst_equality(model, m, d)
        what = f"equality {name} is violated by {error:.3g} at t = {time:g} s"
        if error > tolerance:
            yield _fault(error, what, "positions are projected onto it")


def points(m: Struct) -> int:
    """How many gaps there are: of all contact points and of both ends of all limits."""
    return m.nslot + 2 * m.nlimit


def _worst_equality(model: Model, m: Struct, d: Struct) -> tuple[float, str]:
    """The largest violation of an equality (m, rad), and its name."""
    loops.closed_rows(m, d)
    views = d.views
    blocks = [b for b in range(views["count"][NBLOCK]) if views["block_item"][b] < 0]
    errors = [np.abs(views["row_pos"][views["block_row"][b] :][: views["block_dim"][b]]).max() for b in blocks]
    if not errors:
        return 0.0, ""
    worst = int(np.argmax(errors))
    k = m.eq_id[views["block_id"][blocks[worst]]]
    return float(errors[worst]), model.names("equality")[k]


def _fault(error: float, what: str, remedy: str) -> tuple[str, bool]:
    """What to say of an error (m, rad), and whether it is refused."""
    refused = error > DEEP
    return f"{what}{REFUSED}" if refused else f"{what}; {remedy}", refused
