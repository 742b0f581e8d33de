"""Fixtures that tests of several folders share."""

import contextlib

import pytest
from helpers.browser import launched
from helpers.hard_layout import share_layout
from helpers.plain_or_slow import PLAIN
from helpers.plain_python import plain_python
from helpers.time_left import pytest_runtest_setup, pytest_terminal_summary  # noqa: F401  (hooks)

collect_ignore = ["helpers"]  # no tests, whatever its files are called


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process; a page has a context of its own (`new_context`, `new_page`)."""
    with launched() as found:
        yield found


@pytest.fixture
def saltus_command(capsys, monkeypatch):
    """Run a command line in this process, as wide as without a terminal: exit code, stdout, stderr."""
    from saltus.cli import main

    monkeypatch.delenv("COLUMNS", raising=False)

    def command(*arguments):
        with pytest.raises(SystemExit) as exit_:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return exit_.value.code or 0, captured.out, captured.err

    return command


@pytest.fixture
def way(request):
    """The way in which a test runs that is plain Python or slow: one of those of `helpers.plain_or_slow`."""
    with plain_python() if request.param == PLAIN else contextlib.nullcontext():
        yield request.param


@pytest.fixture
def by_trees(monkeypatch):
    """Newton's method by trees, and conjugate gradients, also where so few trees are solved faster as one matrix."""
    from saltus.model.compile.constraints import many_trees

    monkeypatch.setattr(many_trees, "FEWEST_TREES", 12)
    monkeypatch.setattr(many_trees, "FEWEST_DOFS", 200)
    monkeypatch.setattr(many_trees, "FEWEST_IN_LANES", 200)
    monkeypatch.setattr(many_trees, "FEW_TREES", 3)
    monkeypatch.setattr(many_trees, "DOMAIN", 3)


@pytest.fixture
def one_hard_layout(monkeypatch):
    """All models under located hard contact need the same kernels, which are compiled once for all tests."""
    share_layout(monkeypatch)
