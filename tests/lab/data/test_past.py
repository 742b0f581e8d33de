"""What is kept of a run's past is bounded. Reference: the times that were put in."""

import numpy as np
import pytest

import saltus
from saltus.lab.data import past as past_module
from saltus.lab.data.past import Past
from saltus.lab.messages.protocol import Frame


def frame(time):
    return Frame(time, True, np.zeros(2), np.zeros((3, 7)), np.zeros((0, 2)), np.zeros(3))


@pytest.fixture
def sim():
    return saltus.Simulation("pendulum", "rk4")


def test_the_last_frame_not_later_is_seen(sim):
    past = Past()
    for k in range(5):
        past.keep(frame(0.1 * k), sim)
    for time, expected in ((-1.0, 0.0), (0.15, 0.1), (0.3 + 1e-9, 0.3)):
        past.look(time)
        assert past.at.frame.time == pytest.approx(expected)
    past.look(0.4)
    assert past.at is None and past.span == [0.0, 0.4]
    past.keep(frame(0.4), sim)  # nothing has moved
    assert len(past) == 5


@pytest.mark.parametrize("name, most", [("MOST_FRAMES", 64), ("MOST_BYTES", 120_000)])
def test_the_oldest_moments_go(sim, monkeypatch, name, most):
    monkeypatch.setattr(past_module, name, most)
    past = Past()
    for k in range(2000):
        past.keep(frame(0.1 * k), sim)
    assert 10 < len(past) < 100
    assert past.span == [pytest.approx(0.1 * (2000 - len(past))), pytest.approx(199.9)]
    past.look(0.0)
    assert past.at.frame.time == past.span[0]
