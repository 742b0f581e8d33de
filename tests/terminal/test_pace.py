"""Rates and remaining times. Reference: a clock that the test moves."""

import pytest

from saltus.terminal.pace import WINDOW, Pace, rate_words, time_words


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("saltus.terminal.pace.time.perf_counter", lambda: now[0])
    return now


def test_the_rate_is_of_what_was_done_here_and_lately(clock):
    pace = Pace("runs")
    assert pace.words(400, 1000) == ""  # done before: that took no time here
    clock[0] += 10
    assert pace.words(420, 1000) == "2 runs/s, 5 min left"  # 580 runs, 290 s
    clock[0] += WINDOW
    pace.words(430, 1000)
    clock[0] += 5
    assert pace.words(450, 1000) == "0.86 runs/s, 11 min left"  # 30 runs in the last 35 s; 550 runs, 642 s
    assert pace.words(1000, 1000) == ""


def test_nothing_is_said_of_nothing(clock):
    pace = Pace("runs")
    pace.words(0, 10)
    clock[0] += 20
    assert pace.words(0, 10) == ""


@pytest.mark.parametrize(
    ("rate", "left", "words"),
    [
        (123.4, 1234, "123 runs/s, 10 s left"),
        (0.01, 6, "0.6 runs/min, 10 min left"),
        (2.5, 100, "2.5 runs/s, 40 s left"),
    ],
)
def test_rates_in_words(rate, left, words):
    assert rate_words(rate, left, "runs") == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(7.6, "8 s"), (89, "89 s"), (91, "2 min"), (3570, "1 h 0 min"), (12000, "3 h 20 min"), (187200, "2 days 4 h")],
)
def test_times_in_words(seconds, words):
    assert time_words(seconds) == words
