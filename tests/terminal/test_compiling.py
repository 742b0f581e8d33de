"""Who is told what compiles: the last who asked, as long as it waits; a person at a terminal where nobody asked."""

import pytest

from saltus.terminal import compiling


def test_the_last_who_asked_is_told():
    outer, inner = [], []
    with compiling.compile_progress(lambda *what: outer.append(what)):
        with pytest.raises(KeyError), compiling.compile_progress(lambda *what: inner.append(what)):
            compiling.tell("a", 1, None)
            raise KeyError
        compiling.tell("b", 2, 3.0)
    compiling.tell("c", 1, None)
    assert inner == [("a", 1, None)] and outer == [("b", 2, 3.0)]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_at_a_terminal_goes_when_all_is_compiled(monkeypatch, capsys, terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    compiling.tell("entry_advance_euler", 1, 4.4)
    compiling.tell("inner", 2, None)
    shown = capsys.readouterr().err
    if terminal:
        assert "compiling the integrator euler" in shown and "about 4 s" in shown and "inner" not in shown
    else:
        assert shown == ""
    compiling.tell(None, 0, None)
    assert capsys.readouterr().err == ("\r\033[K" if terminal else "")
