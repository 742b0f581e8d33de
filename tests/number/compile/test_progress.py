"""What is said of compilations while they last, and what is remembered of how long they took.

Reference: the calls of a function that listens; the numbers that were put in.
"""

import json

import pytest
from numba.core.caching import NullCache
from numba.core.errors import TypingError

from saltus.number.compile import progress
from saltus.number.compile.progress import expected_seconds, known, remember
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Field, Layout, Struct
from saltus.terminal.compiling import compile_progress, tell

MODEL = Layout("Progressed", {"n": Field("int", ())}, frozen=True, features={"round", "square"})
PAIR = Layout("ProgressedPair", {"x": Field("real", ("two",))})


@kernel
def doubled(x):
    return 2.0 * x


@pytest.fixture(autouse=True)
def file(monkeypatch, tmp_path):
    """Where seconds are kept; none came with the package."""
    file = tmp_path / "kept.json"
    monkeypatch.setattr(progress, "_file", lambda: file)
    monkeypatch.setattr(progress, "SHIPPED", tmp_path / "shipped.json")
    return file


def test_compilation_is_reported():
    """Names of what is being compiled, None when all is done; nothing for a second call or outside."""
    m, d = Struct(MODEL, {"n": 1}), Struct(PAIR, {"two": 2})
    remember("progressed", ("square", "round"), 7.3)
    seen = []
    entry = Entry("progressed", "x", "return doubled(x) + 1.0", doubled=doubled)
    entry.compiled("Progressed", "ProgressedPair")._cache = NullCache()
    with compile_progress(lambda *what: seen.append(what)):
        entry(m, d, 1.5)
        assert seen[0] == ("progressed", 1, 7.3) and seen[-1] == (None, 0, None)
        assert all(depth > 1 and about is None for _, depth, about in seen[1:-1])
        count = len(seen)
        entry(m, d, 2.5)
    entry(m, d, 2)  # compiles for integers
    assert len(seen) == count


def test_what_took_long_is_remembered(monkeypatch):
    m, d = Struct(MODEL, {"n": 1}), Struct(PAIR, {"two": 2})
    monkeypatch.setattr(progress, "SHORT", 0.0)
    entry = Entry("remembered", "", "return doubled(d.x[0])", doubled=doubled)
    entry.compiled("Progressed", "ProgressedPair")._cache = NullCache()
    entry(m, d)
    assert "remembered round square" in known()


def test_what_was_interrupted_is_not(monkeypatch):
    m, d = Struct(MODEL, {"n": 1}), Struct(PAIR, {"two": 2})
    monkeypatch.setattr(progress, "SHORT", 0.0)
    entry = Entry("interrupted", "", "return missing(d.x[0])", missing=None)
    with pytest.raises(TypingError):
        entry(m, d)
    assert known() == {}


def test_what_is_expected_is_that_of_the_most_similar_features(file):
    assert expected_seconds("step", ("a",)) is None
    remember("step", ("a", "b", "c"), 12.34)
    remember("step", ("d",), 2.0)
    remember("energy", ("d",), 1.5)
    remember("step", ("f",), 0.5)  # too short to be told
    assert expected_seconds("step", ("c", "b", "a")) == 12.3
    assert expected_seconds("step", ("a", "b", "d")) == 12.3
    assert expected_seconds("step", ("d", "e")) == 2.0
    assert expected_seconds("energy", ("a", "b", "c")) == 1.5
    assert expected_seconds("jacobian", ("d",)) is None
    remember("step", ("d",), 3.0)
    assert list(known().items()) == [("step a b c", 12.3), ("energy d", 1.5), ("step d", 3.0)]


def test_what_came_with_the_package_serves_until_more_is_known():
    progress.SHIPPED.write_text(json.dumps({"step a": 9.0, "step b": 4.0}))
    remember("step", ("b",), 6.0)
    assert (expected_seconds("step", ("a",)), expected_seconds("step", ("b",))) == (9.0, 6.0)


def test_only_the_latest_are_kept(monkeypatch):
    monkeypatch.setattr(progress, "MOST", 3)
    for i in range(5):
        remember(f"kernel{i}", (), 2.0)
    assert list(known()) == ["kernel2", "kernel3", "kernel4"]


@pytest.mark.parametrize("nonsense", ["[1, 2]", '{"a": "b", "c": -1, "d": null, " ": 2}', "not json", "\ud800"])
def test_nonsense_beside_the_cache_is_left_aside(file, nonsense):
    file.write_bytes(nonsense.encode("utf-8", "surrogatepass"))
    assert known() == {}
    remember("step", (), 2.0)
    assert known() == {"step": 2.0}


def test_a_place_that_cannot_be_written_costs_nothing_more(monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "_file", lambda: tmp_path / "missing" / "kept.json")
    remember("step", (), 2.0)
    assert known() == {}


def test_a_person_at_a_terminal_is_told(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    tell("step", 1, 12.3)
    tell("inner", 2, None)
    tell(None, 0, None)
    assert capsys.readouterr().err == "saltus: compiling step, once for this machine, about 12 s ...\r\033[K"
