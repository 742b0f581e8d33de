"""Samples of signals that pages take. Reference: the samples that were put in."""

import numpy as np
from helpers.lab import decoded_samples

from saltus.lab.data import history as history_module
from saltus.lab.data.history import History


def everything(history, place=None):
    """Messages from a place on."""
    messages, until = [], history.end
    while (found := history.since(place, 1, until)) is not None:
        data, place = found
        messages.append(decoded_samples(data))
    return messages, place


def filled(count, most=100, **more):
    history = History(["a", "b", "c"], [2, 0], most, 10**6)
    for k in range(count):
        history.append(0.1 * k, np.array([k, -k, 10 * k]))
    return history


def test_samples_go_out_once_each():
    history = filled(5)
    (first,), place = everything(history)
    assert first["anew"] and first["places"] == [2, 0]
    np.testing.assert_allclose(first["times"], 0.1 * np.arange(5))
    np.testing.assert_array_equal(first["values"], [10.0 * np.arange(5), np.arange(5)])
    assert everything(history, place)[0] == []
    history.append(0.5, np.array([5, -5, 50]))
    (second,), _ = everything(history, place)
    assert not second["anew"] and second["values"].tolist() == [[50], [5]]


def test_who_was_away_too_long_gets_what_is_left(monkeypatch):
    history = filled(3)
    _, place = everything(history)
    for k in range(3, 400):
        history.append(0.1 * k, np.array([k, -k, 10 * k]))
    assert 100 <= len(history) <= 125
    (message,), _ = everything(history, place)
    assert message["anew"] and message["values"][1, -1] == 399 and len(message["times"]) == len(history)


def test_much_goes_out_in_pieces(monkeypatch):
    monkeypatch.setattr(history_module, "PIECE", 200)
    pieces, _ = everything(filled(50))
    assert len(pieces) > 5 and [piece["anew"] for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    np.testing.assert_array_equal(np.concatenate([p["values"][1] for p in pieces]), np.arange(50))


def test_another_choice_gives_the_whole_past_of_it():
    history = filled(5)
    _, place = everything(history)
    history.show([1])
    (message,), _ = everything(history, place)
    assert message["anew"] and message["values"].tolist() == [[0, -1, -2, -3, -4]]


def test_samples_of_a_list_that_the_page_has_not_got_wait():
    history = filled(5)
    history.relay(["c", "d"], [0, 1], revision=2)
    assert history.since(None, 1, history.end) is None
    data, _ = history.since(None, 2, history.end)
    values = decoded_samples(data)["values"]
    assert values[0].tolist() == [0, 10, 20, 30, 40] and np.isnan(values[1]).all()
