"""Checks of the initial state for located events: no penetration, no violated equality."""

from collections.abc import Iterator

import numpy as np

from saltus.contact.counts import NBLOCK
from saltus.errors import EventError, warn
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.simulate.engine import loops
from saltus.simulate.engine.events.located import mode_names

WIDE = 1e-3  # m, rad: loops with wider gaps are refused
REFUSED = ", too much to start with hard contact"


def check_start(model: Model, m: Struct, d: Struct, said: set[str], *, started: bool = False) -> None:
    """Raise EventError for deep overlaps or open loops before modes are found; warn of small overlaps, once for each.

    Bodies that overlap by no more than the law's `overlap_depth` are moved apart. `said` keeps the warnings.
    `started`: the motion had begun when something was moved, so that overlaps only give a warning.
    """
    time = float(d.views["time"])
    for fault, refused in start_faults(model, m, d):
        if refused and not started:
            raise EventError(fault, time=time)
        text = f"{fault.partition(REFUSED)[0]}, since a mocap body was put there at once" if refused else fault
        text = f"at t = {time:.6g} s: {text}"
        if text not in said:
            said.add(text)
            warn(text)


def start_faults(model: Model, m: Struct, d: Struct) -> Iterator[tuple[str, bool]]:
    """Faults of a state from which events are to be located, and whether each is too large to start there.

    Bodies with a small overlap are moved apart.
    """
    if overlap := _overlap(model, m, d):
        depth, text = overlap
        if depth > float(m.opt_overlap_depth):
            yield f"{text}{REFUSED}; {_remedies()}", True
            return
        before = d.views["qpos"].copy()
        loops.separate(m, d)
        if left := _overlap(model, m, d):
            d.views["qpos"][:] = before
            yield f"{text}, and is not separated within reach ({left[1]} then); {_remedies()}", True
            return
        moved = float(np.abs(d.views["qpos"] - before).max(initial=0.0))
        yield f"{text}; separated by the least motion, up to {moved:.2g} in qpos", False
    if m.neq:
        error, name = _worst_equality(model, m, d)
        fault = f"equality {name} is violated by {error:.3g}"
        if error > WIDE:
            yield f"{fault}{REFUSED}; set qpos so that the loop is closed", True
        elif error > float(m.opt_gap_tolerance):
            yield f"{fault}; positions are projected onto it", False


def points(m: Struct) -> int:
    """Number of gaps: of all contact points and of both ends of all limits."""
    return m.nslot + 2 * m.nlimit


def _overlap(model: Model, m: Struct, d: Struct) -> tuple[float, str] | None:
    """The deepest overlap of bodies, or excess of a limit (m, rad), and its description; None if there is none."""
    loops.gaps(m, d)
    gap = d.views["gap"][: points(m)]
    worst = int(np.argmin(gap)) if gap.size else -1
    if worst < 0 or not gap[worst] < -float(m.opt_gap_tolerance):
        return None
    name, other = mode_names(model, m)[worst]
    depth = -float(gap[worst])
    fault = f"{name} and {other} overlap by {depth:.3g} m" if worst < m.nslot else f"{name} is beyond its {other}"
    if worst >= m.nslot:
        fault += f" by {depth:.3g}"
    return depth, fault


def _remedies() -> str:
    """Remedies for a start with too deep an overlap."""
    return (
        "set qpos so that they are apart, exclude the pair in the model, start from a run under soft contact, "
        "or choose a larger saltus.Hard(overlap_depth=...)"
    )


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
