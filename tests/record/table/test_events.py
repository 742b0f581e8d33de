"""The event log: nothing that was noted is cut, changed or lost, and what is not known is nan."""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record.table.events import (
    EVENT_DTYPE,
    EventLog,
    cells,
    completed,
    contact_labels,
    counts,
    heading,
    known_fields,
    narrowed,
)


def noted(count=5):
    log = EventLog()
    for k in range(count):
        log.append(0.1 * k, ["impact", "slip"][k % 2], f"foot{k}", "floor", velocity=-1.0 * k, impulse=(k, 0.0, 0.0))
    return log


def test_events_come_out_in_their_order():
    log = noted()
    assert len(log) == 5
    events = log.array()
    assert events.dtype == EVENT_DTYPE
    np.testing.assert_array_equal(events["time"], 0.1 * np.arange(5))
    np.testing.assert_array_equal(events["impulse"][:, 0], np.arange(5))
    assert events["name"].tolist() == ["foot0", "foot1", "foot2", "foot3", "foot4"]
    assert np.isnan(events["gap"]).all()
    log.append(1.0, "zeno")
    assert log.array()["kind"][-1] == "zeno" and len(events) == 5


def test_text_is_never_cut_off():
    log = noted()
    log.append(1.0, "a kind with more than sixteen letters", "n" * 100)
    log.extend(np.array([(2.0, "user", "m" * 200)], [("time", "f8"), ("kind", "U4"), ("name", "U200")]))
    events = log.array()
    assert events["kind"][5] == "a kind with more than sixteen letters"
    assert events["name"][5:].tolist() == ["n" * 100, "m" * 200] and events["name"][0] == "foot0"


def test_what_was_noted_does_not_change_with_the_array_it_came_in():
    block = np.zeros(2, EVENT_DTYPE)
    log = EventLog()
    log.extend(block)
    block["time"] = 7.0
    assert log.array()["time"].tolist() == [0.0, 0.0]


def test_missing_fields_are_filled_and_others_kept():
    given = np.array([(1, "impact", 4, True)], [("time", ">i4"), ("kind", "U9"), ("count", ">i8"), ("sticks", "?")])
    events = completed(given)
    assert events.dtype.names == (*EVENT_DTYPE.names, "count", "sticks")
    assert events["time"].dtype == np.float64 and events["time"][0] == 1.0
    assert events["count"].dtype == np.dtype("=i8") and events["count"][0] == 4 and events["sticks"][0]
    assert np.isnan(events["impulse"]).all() and events["other"][0] == ""


def test_narrow_text_widens_again():
    events = noted().array()
    narrow = narrowed(events)
    assert narrow.dtype["kind"] == np.dtype("U6") and narrow.dtype["name"] == np.dtype("U5")
    assert narrow.nbytes < events.nbytes / 3
    assert completed(narrow).tobytes() == events.tobytes()
    assert narrowed(events[:0]).dtype["kind"] == np.dtype("U1")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (np.zeros(3), "structured array"),
        (np.zeros((2, 2), EVENT_DTYPE), "structured array"),
        (np.zeros(1, [("kind", "U4")]), "fields time and kind"),
        (np.zeros(1, [("time", "f8"), ("kind", "i4")]), "field 'kind' must hold text"),
        (np.zeros(1, [("time", "f8"), ("kind", "U4"), ("gap", "f8", 2)]), "field 'gap' must hold numbers"),
        (np.zeros(1, [("time", "f8"), ("kind", "U4"), ("x", "O")]), "field 'x' of type object"),
        (np.zeros(1, [("time", "f8"), ("kind", "U4"), ("gap", "c16")]), "field 'gap'"),
    ],
)
def test_what_is_no_event_is_named(bad, why):
    with pytest.raises(OptionError, match=why):
        completed(bad)


def test_one_log_has_one_kind_of_rows():
    log = noted()
    with pytest.raises(OptionError, match="'mine'"):
        log.extend(np.zeros(1, [("time", "f8"), ("kind", "U4"), ("mine", "f8")]))
    with pytest.raises(OptionError, match=r"impulse must have shape \[3\]"):
        log.append(1.0, "impact", impulse=4.0)
    assert len(log.array()) == 5


def test_counts_and_what_is_known():
    events = noted().array()
    assert counts(events) == {"impact": 3, "slip": 2}
    assert known_fields(events) == ["time", "kind", "name", "other", "velocity", "impulse"]
    assert known_fields(events[:0]) == ["time", "kind"]
    assert cells(events[1], known_fields(events)) == ["0.1", "slip", "foot1", "floor", "-1", "1 0 0"]
    assert cells(events[1], ["gap"]) == [""]
    assert cells(events[0], ["velocity"]) == ["0"]  # not -0
    assert [heading(field) for field in ("energy_before", "kind")] == ["energy before (J)", "kind"]


def test_events_belong_to_contacts():
    log = EventLog()
    log.append(0.0, "impact", "ball", "floor")
    log.append(0.0, "user", "mine")
    assert contact_labels(log.array()) == ["floor ball", "mine"]
