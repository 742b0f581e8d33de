"""The user is told that the computer does not keep up: after two seconds, once, and again after it kept up."""

from saltus.lab.lateness import AFTER, LATE, Lateness


def told(lateness, share, seconds=AFTER + 0.1, speed=1.0):
    return lateness.warning(share * seconds, seconds, speed)


def test_a_late_motion_is_told_once():
    lateness = Lateness()
    assert lateness.warning(0.5, 1.0, 1.0) is None  # too soon to say
    assert lateness.warning(1.0, 2.0, 3.0) == "This computer manages 1.5 times real time here, not 3."
    assert told(lateness, 0.5) is None
    assert told(lateness, 0.9 * LATE) is None
    assert "0.5 times real time here, not 1." in told(lateness, 0.5)


def test_a_motion_that_keeps_up_is_no_news():
    lateness = Lateness()
    assert [told(lateness, share) for share in (0.0, 0.9 * LATE, 0.0)] == [None] * 3
