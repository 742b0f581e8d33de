"""Warnings of what a certificate cannot vouch for, from recordings whose events and steps are made up.

Law: the definitions in `saltus.simulate.running.blind_spots`; each table of events says by itself who meets whom.
"""

import numpy as np
from helpers.recordings import recorded

from saltus.record.table.events import EventLog
from saltus.simulate.running.blind_spots import dense_phases, failed_steps, missed_events, other_order

TIMESTEP = 0.01


def with_events(*events, **attrs):
    """A recording of 2 s with events (time, kind, name, other)."""
    log = EventLog()
    for time, kind, name, other, *since in events:
        log.append(time, kind, name, other, **({"since": since[0]} if since else {}))
    return recorded(events=log.array(), attrs=attrs)


BOUNCE = [(0.5, "impact", "ball", "table"), (0.9, "impact", "ball", "table"), (1.0, "touchdown", "ball", "table")]


def test_a_contact_that_one_run_lacks_is_named():
    run, other = with_events(), with_events(*BOUNCE)
    assert missed_events(run, other, TIMESTEP) == [
        "the contact of ball and table at t = 0.5 s is in the repetition alone"
    ]
    assert missed_events(other, run, TIMESTEP) == ["the contact of ball and table at t = 0.5 s is in the run alone"]
    assert missed_events(other, other, TIMESTEP) == other_order(other, other, TIMESTEP) == []


def test_the_users_events_count_as_well():
    run, other = with_events((0.5, "user", "crossing", "")), with_events()
    assert missed_events(run, other, TIMESTEP) == ["the event of crossing at t = 0.5 s is in the run alone"]
    twice = with_events((0.5, "user", "crossing", ""), (0.7, "user", "crossing", ""))
    assert "crossing" in other_order(run, twice, TIMESTEP)[0]


def test_what_may_differ():
    """Points of one pair, bounces in a row, and events at the end, which rounding puts before or behind it."""
    run = with_events((0.5, "impact", "box.0", "floor"), (0.5, "impact", "box.3", "floor"))
    other = with_events((0.5, "impact", "box.2", "floor"), (1.999, "impact", "ball", "wall"))
    assert missed_events(run, other, TIMESTEP) == other_order(run, other, TIMESTEP) == []
    assert other_order(with_events(*BOUNCE), with_events(*BOUNCE[1:]), TIMESTEP) == []


def test_a_pair_that_touches_from_the_start_is_not_missed():
    """Rounding makes an event of its contact in one run and none in the other, which has it in its samples."""
    begins = with_events((0.0, "touchdown", "box.1", "floor"))
    assert missed_events(begins, with_events((0.9, "stick", "box.0", "floor")), TIMESTEP) == []
    rests = with_events()
    rests.names["contact"] = ["floor box.0", "floor box.1", "floor ball.0"]
    rests.contact_state[:] = [True, False, False]
    assert missed_events(begins, rests, TIMESTEP) == []
    rests.contact_state[:] = [False, False, True]
    assert "box and floor at t = 0 s is in the run alone" in missed_events(begins, rests, TIMESTEP)[0]


def test_another_order_is_said():
    parts = with_events(*BOUNCE, (1.5, "liftoff", "ball", "table"))
    assert other_order(with_events(*BOUNCE), parts, TIMESTEP) == [
        "contact begins and ends in another order in the repetition: ball and table"
    ]


def test_many_are_counted():
    run = with_events(*((0.1 * k, "impact", f"ball{k}", "table") for k in range(1, 7)))
    found = missed_events(run, with_events(), TIMESTEP)
    assert len(found) == 3 and "as in 3 more contacts" in found[-1]


def test_dense_phases_have_number_and_length():
    run = with_events((0.5, "dense", "", "", 0.4), (1.0, "dense", "", "", 0.75))
    assert "2 phases, 0.35 s in all" in dense_phases(run)[0]
    assert dense_phases(with_events()) == []


def test_steps_that_failed():
    assert failed_steps(with_events()) == ([], [])
    solves, apart = failed_steps(with_events(unconverged=3, unproved=2))
    assert "in 3 steps a solver" in solves[0] and "in 2 steps not all pairs" in apart[0]
    relaxed, _ = failed_steps(with_events(unconverged=1, integrator="dopri5"))
    assert "in 1 step a solver" in relaxed[0] and "relaxed" in relaxed[0] and "relaxed" not in solves[0]
    assert np.all([isinstance(text, str) for text in (*solves, *apart)])
