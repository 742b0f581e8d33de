"""The report on a simulation's next impact."""

from typing import Any

from saltus.errors import OptionError
from saltus.model.event_enums import PAUSED
from saltus.record.table.events import contact_label
from saltus.simulate.analysis.impact_report import ImpactReport, impact_report
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.events.located import mode_names
from saltus.simulate.engine.snapshot import peeking
from saltus.solve.status import AT_IMPACT


def report_of_next_impact(engine: Engine, duration: float) -> ImpactReport:
    """Outcomes of the next impact by all laws and treatments; the simulation stays where it is."""
    if not engine.locates_events:
        raise OptionError("impact_report: requires located events (contact='hard', dopri5)")
    count = engine.d.views["event_count"]
    with peeking(engine):
        count[PAUSED] = 1
        try:
            engine.prepare()
            _, status = engine.advance(1, duration)
            if status != AT_IMPACT:
                raise OptionError(f"impact_report: there is no impact within {duration:g} s")
            return impact_report(**_posed(engine))
        finally:
            count[PAUSED] = 0


def _posed(engine: Engine) -> dict[str, Any]:
    """The impact that Data poses, for `impact_report`."""
    d = engine.d.views
    blocks, rows = (int(n) for n in d["hard_count"])
    items = d["block_item"][d["hard_block"][d["hard_row"][:blocks]]]
    names = mode_names(engine.model, engine.m)
    return {
        "W": d["hard_W"][: rows * rows].reshape(rows, rows).copy(),
        "before": d["hard_q"][:rows].copy(),
        "restitution": d["hard_restitution"][:blocks].copy(),
        "tangential_restitution": d["hard_tangential"][:blocks].copy(),
        "friction": d["hard_mu"][:blocks].copy(),
        "names": [contact_label(*names[i]) if i >= 0 else "equality" for i in items],
        "kinds": d["hard_kind"][:blocks].tolist(),
    }
