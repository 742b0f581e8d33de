"""A soak counts how mutants end, and each mutant follows from its seed.

Reference: faults that are planted, one of each sort, whose counts are known beforehand.
"""

import math
import os
import random
import time

import pytest
from helpers import soak
from helpers.soaking import beside, scenes, texts, workers
from helpers.soaking.kinds import KINDS, PLANTED, kind_of
from helpers.soaking.outcomes import Kind, outcome

#: Kinds of which a few mutants compile nothing.
QUICK = ("mjcf", "urdf", "netcdf", "zarr", "npz", "policy", "message", "upload", "beside")
RESULTS = {"accept": "accepted", "refuse": "refused", "raw": "raw", "crash": "crash", "hang": "hang"}


@pytest.mark.parametrize("name", QUICK)
def test_mutants_are_accepted_or_refused(name):
    kind = kind_of(name)
    kind.prepare()
    for seed in range(6):
        ended = outcome(kind, seed)
        assert ended.result in ("accepted", "refused"), f"{soak.repeating((name, seed))}\n{ended.text}"


def test_scenes_are_finite_or_refused():
    def attempt(rng, folder):
        scenes.try_scene(rng, folder, ("pendulum",), ("soft",), ("rk4",))

    results = [outcome(Kind("scene", attempt), seed) for seed in range(10)]
    assert {ended.result for ended in results} <= {"accepted", "refused"}, results
    assert any(ended.result == "accepted" for ended in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked there")
def test_what_a_killed_process_leaves_goes_on_or_is_refused():
    """Reference: the run that nobody kills."""
    kind = kind_of("kill")
    kind.prepare()
    results = [outcome(kind, seed) for seed in range(8)]
    assert {ended.result for ended in results} <= {"accepted", "refused"}, results
    assert any(ended.result == "accepted" for ended in results)


def test_another_motion_than_mujocos_is_seen(monkeypatch):
    """A cam's curve stands in <custom>, which MuJoCo ignores."""
    root = next(root for root in texts.mjcf() if root.get("model") == "cam_follower")
    monkeypatch.setattr(beside, "mutant", lambda rng: root)
    ended = outcome(kind_of("beside"), 0)
    assert ended.result == "raw" and "another motion than MuJoCo's" in ended.text


def test_a_seed_gives_the_same_mutant_again():
    for roots in (texts.mjcf(), texts.urdf()):
        first, again, other = (texts.mutant(roots, random.Random(seed)) for seed in (1, 1, 2))
        assert first == again != other


def test_planted_faults_are_counted(capsys, monkeypatch):
    """A worker that crashed or hangs, here asleep, is replaced: what comes after it is tried."""
    monkeypatch.setattr(workers, "BUSY", 2.0)
    tasks = [(f"planted-{name}", seed) for seed in (0, 1) for name in RESULTS]
    found = soak.soak(tasks, workers=1, limit=1.0, seconds=600.0)
    assert found == {(f"planted-{name}", result): 2 for name, result in RESULTS.items()}
    printed = capsys.readouterr().out
    for name in ("raw", "crash", "hang"):
        assert f"{name}: PYTHONPATH=tests:. python -m helpers.soak planted-{name} 1" in printed
    assert "ZeroDivisionError: planted" in printed
    assert soak.table(found).splitlines()[-1].split() == ["all", "10", "2", "2", "2", "2", "2"]


def test_the_processors_time_counts_and_not_that_of_a_wait():
    before = workers.processor_time(os.getpid())
    time.sleep(0.2)
    assert workers.processor_time(os.getpid()) < before + 0.2
    while workers.processor_time(os.getpid()) < before + 0.3:
        pass
    assert workers.processor_time(-1) == math.inf


@pytest.mark.parametrize(("name", "status"), [("planted-accept", 0), ("planted-refuse", 0), ("planted-raw", 1)])
def test_one_mutant_can_be_repeated(name, status, capsys):
    assert soak.main([name, "7"]) == status
    assert capsys.readouterr().out.startswith(RESULTS[name.removeprefix("planted-")])


def test_every_kind_has_its_name():
    assert all(kind_of(name).name == name for name in [*KINDS, *PLANTED])
    with pytest.raises(SystemExit):
        soak.main(["--kinds", "unknown"])
