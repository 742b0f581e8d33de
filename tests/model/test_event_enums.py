"""Kinds of events and modes keep their numbers, which recordings hold, and their fields have room for all places."""

from saltus.model import event_enums
from saltus.model.event_enums import (
    ACTUATOR,
    AFTER,
    COLLIDED,
    DENSE,
    DENSE_NUMBERS,
    DENSE_WAYS,
    ENERGETIC,
    EVENT_COUNTS,
    EVENT_WIDTH,
    IMPACT,
    JAM,
    KINDS,
    LEFTOVER,
    LIFTOFF,
    LOCATE,
    NO_MODE,
    OPEN,
    SEPARATED,
    SLIP,
    SLIPS,
    STEP,
    STICK,
    STICKS,
    STOP,
    TOUCHDOWN,
    USER,
    WORST,
    ZENO,
)
from saltus.model.fields.constraint import event


def test_each_kind_has_its_name():
    named = {
        **{"impact": IMPACT, "liftoff": LIFTOFF, "touchdown": TOUCHDOWN, "stick": STICKS, "slip": SLIPS, "zeno": ZENO},
        **{"user": USER, "actuator": ACTUATOR, "energetic": ENERGETIC, "leftover": LEFTOVER, "dense": DENSE},
        **{"jammed": JAM, "separated": SEPARATED},
    }
    assert {name: k for k, name in enumerate(KINDS)} == named


def test_modes_are_what_recordings_hold():
    assert (OPEN, STICK, SLIP, NO_MODE) == (0, 1, 2, -1)


def test_fields_have_room_for_all_places():
    assert (EVENT_WIDTH, EVENT_COUNTS, DENSE_NUMBERS) == (AFTER + 1, WORST + 1, COLLIDED + 1)
    assert event.SCRATCH["event_log"].shape == ("nevent_log", EVENT_WIDTH)
    assert event_enums.NOTHING < 0


def test_ways_have_their_names():
    assert {name: k for k, name in enumerate(DENSE_WAYS)} == {"step": STEP, "locate": LOCATE, "stop": STOP}
