"""Progress of a run: a function hears the fraction done, never more than 1; a bar comes only to those who wait."""

import pytest

from saltus.errors import OptionError
from saltus.terminal.progress import PATIENCE, Progress


def test_a_function_hears_the_fraction_done():
    heard = []
    with Progress(heard.append, 4.0) as progress:
        for done in (0.0, 1.0, 4.0, 4.0 + 1e-9):
            progress.update(done)
    assert heard == [0.0, 0.25, 1.0, 1.0]


@pytest.mark.parametrize(
    ("choice", "waited", "bar"), [(True, 0, True), (None, 2, True), (None, 0, False), (False, 9, False)]
)
def test_a_bar_comes_to_those_who_wait(monkeypatch, choice, waited, bar):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    now = [0.0]
    monkeypatch.setattr("saltus.terminal.progress.time.perf_counter", lambda: now[0])
    with Progress(choice, 1.0) as progress:
        now[0] = waited * PATIENCE
        monkeypatch.undo()  # Rich has a clock of its own
        progress_shown = []
        monkeypatch.setattr(Progress, "_start", lambda self: progress_shown.append(self))
        monkeypatch.setattr("saltus.terminal.progress.time.perf_counter", lambda: now[0])
        progress.update(0.5)
    assert bool(progress_shown) == bar


@pytest.mark.parametrize("choice", ["yes", 1, []])
def test_what_is_no_choice(choice):
    with pytest.raises(OptionError, match="progress must be True, False, None or a function"):
        Progress(choice, 1.0)
