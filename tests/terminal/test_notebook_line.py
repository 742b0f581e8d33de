"""The line below a notebook's cell. Reference: what a kernel of IPython is sent, by a shell that keeps it."""

import sys
import threading
import time
from types import SimpleNamespace

import pytest

from saltus.terminal import compiling, notebook_line
from saltus.terminal.progress import Progress


class Shell:
    """A shell with a kernel, in which a person runs cells, and what it was asked to display."""

    def __init__(self):
        self.shown, self.kernel = [], self
        self.next_cell()

    def next_cell(self, allow_stdin=True):
        self.number = getattr(self, "number", 0) + 1
        header = {"msg_id": f"cell {self.number}"}
        self.request = {"header": header, "content": {"allow_stdin": allow_stdin}}

    def get_parent(self, channel):
        assert channel == "shell"
        return self.request

    def display(self, data, raw, display_id, update):
        assert raw
        self.shown.append((display_id, update, data["text/plain"], data["text/html"]))

    def words(self):
        return [words for _, _, words, _ in self.shown]


@pytest.fixture
def shell(monkeypatch):
    made = Shell()
    ipython = SimpleNamespace(get_ipython=lambda: made, display=SimpleNamespace(display=made.display))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(notebook_line, "PATIENCE", 0.05)
    monkeypatch.setattr(notebook_line, "TICK", 0.01)
    monkeypatch.setattr(notebook_line, "_clock", notebook_line._Clock())
    return made


def until(condition):
    """Wait for the clock's thread."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_what_is_quick_leaves_nothing(shell, monkeypatch):
    monkeypatch.setattr(notebook_line, "PATIENCE", 1000.0)
    for _ in range(3):
        with Progress(None, 1.0) as progress:
            progress.update(0.5)
    compiling.tell("entry_energy", 1, None)
    compiling.tell(None, 0, None)
    time.sleep(0.05)
    assert shell.shown == []


def test_one_line_moves_and_settles(shell, capsys):
    with Progress(None, 4.0) as progress:
        progress.update(1.0)
        until(lambda: shell.shown)
        progress.update(3.0)
        until(lambda: "simulated 3.00 of 4 s" in shell.words())
        progress.update(5.0)
    first, *rest = shell.shown
    assert (
        first[1] is False and all(update for _, update, _, _ in rest) and len({shown[0] for shown in shell.shown}) == 1
    )
    assert 'value="0.2500"' in first[3] and "<progress" not in rest[-1][3]
    assert rest[-1][2].startswith("simulated 4.00 of 4 s in ") and rest[-1][2].endswith(" s")
    count = len(shell.shown)
    time.sleep(0.1)
    assert len(shell.shown) == count and capsys.readouterr() == ("", "")


def test_tasks_of_a_cell_share_its_line(shell):
    for _ in range(2):
        with Progress(True, 2.0) as progress:
            count = len(shell.shown)
            until(lambda count=count: len(shell.shown) > count)
            compiling.tell("entry_advance_rk4", 1, 7.0)
            compiling.tell("inner", 2, None)
            until(lambda: "compiling the integrator rk4 (once for this machine, about 7 s)" in shell.words()[-1])
            compiling.tell(None, 0, None)
            progress.update(2.0)
    last = shell.words()[-1]
    assert last.startswith("compiled 2 functions in ") and "; simulated, 2 times, in " in last
    assert len({shown[0] for shown in shell.shown}) == 1
    shell.next_cell()
    compiling.tell("entry_energy", 1, None)
    until(lambda: "compiling energy" in shell.words()[-1])
    compiling.tell(None, 0, None)
    assert shell.words()[-1].startswith("compiled energy in ") and len({shown[0] for shown in shell.shown}) == 2


def test_a_picture_stands_below_the_line_until_it_is_over(shell, monkeypatch):
    monkeypatch.setattr(notebook_line, "LOOK", 0.0)
    monkeypatch.setattr(notebook_line, "SHARE", float("inf"))
    pictures = iter("abc")
    with Progress(True, 3.0, "ran {task.completed:.0f}", picture=lambda: f"<p>{next(pictures)}</p>") as progress:
        until(lambda: shell.shown)
        for k, letter in enumerate("abc"):
            progress.update(k + 1.0)
            until(lambda letter=letter: any(f"<p>{letter}</p>" == html for *_, html in shell.shown))
    line = shell.shown[0][0]
    below = [shown for shown in shell.shown if shown[0] != line]
    assert len({shown[0] for shown in below}) == 1 and [shown[1] for shown in below] == [False, True, True, True]
    assert [shown[3] for shown in below] == ["<p>a</p>", "<p>b</p>", "<p>c</p>", "<div></div>"]


def test_a_run_within_a_run_has_no_line(shell):
    with Progress(True, 8.0, "compared {task.completed:.0f} of {task.total:.0f} runs", in_terminal=False) as outer:
        with Progress(True, 1.0) as inner:
            inner.update(0.5)
            until(lambda: shell.shown)
        outer.update(8.0)
    assert not any("simulated" in words for words in shell.words()) and "compared 8 of 8 runs in" in shell.words()[-1]


def test_nobody_waits_where_a_notebook_is_executed_as_a_whole(shell):
    shell.next_cell(allow_stdin=False)
    with Progress(None, 1.0):
        compiling.tell("entry_energy", 1, None)
        time.sleep(0.2)
        compiling.tell(None, 0, None)
    assert shell.shown == []
    with Progress(True, 1.0):  # who asks for it gets it
        until(lambda: shell.shown)


def test_other_threads_have_no_cell(shell):
    found = []
    thread = threading.Thread(target=lambda: found.append(notebook_line.somebody_waits()))
    thread.start()
    thread.join()
    assert found == [False] and notebook_line.somebody_waits()


def test_where_there_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not notebook_line.in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not notebook_line.in_notebook()
    # IPython in a terminal has no kernel
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: object()))
    assert not notebook_line.in_notebook()


def test_text_is_shown_as_it_stands(shell):
    with Progress(True, 1.0, "<b> {task.completed:.0f}"):
        until(lambda: shell.shown)
    assert all("<b>" not in shown[3] and "&lt;b&gt;" in shown[3] for shown in shell.shown)
