"""The table of events: all of a few, the first and the last of many, and no column that holds nothing."""

import numpy as np
import pytest

from saltus.cli.shared.events import FIRST, LAST, print_events
from saltus.record import EVENT_DTYPE, Trajectory


def noted(count):
    events = np.zeros(count, EVENT_DTYPE)
    events["time"], events["kind"], events["name"] = 0.5 + np.arange(count), "impact", "floor [bold]ball"
    events["kind"][-1:] = "zeno"
    events["impulse"] = [1.25, 0.0, -3.0]
    for field in ("gap", "velocity", "energy_before", "energy_after", "since", "impacts"):
        events[field] = np.nan
    return events


@pytest.mark.parametrize("count", [1, FIRST + LAST + 1])
def test_a_few_events_are_all_there(capsys, count):
    print_events(noted(count))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + count
    assert lines[0].split() == ["time", "(s)", "kind", "name", "impulse", "(N", "s)"]
    assert lines[-1].split() == [f"{count - 0.5:g}", "zeno", "floor", "[bold]ball", "1.25", "0", "-3"]


def test_of_many_events_the_first_and_the_last_are_there(capsys):
    print_events(noted(1000))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + FIRST + 1 + LAST
    assert [line.split()[0] for line in lines[1:]] == [
        "0.5",
        "1.5",
        "2.5",
        "3.5",
        "4.5",
        "...",
        "997.5",
        "998.5",
        "999.5",
    ]
    assert "992 more" in lines[1 + FIRST]


def test_a_recording_with_events_says_so(saltus_command, tmp_path):
    t = Trajectory(np.arange(3.0), np.zeros((3, 1)), np.zeros((3, 1)), events=noted(20))
    t.save(tmp_path / "run.nc")
    code, out, _ = saltus_command("replay", tmp_path / "run.nc", "--plot", tmp_path / "run.png")
    assert code == 0
    assert "20: 19 impact, 1 zeno" in out and "floor [bold]ball" in out and "12 more" in out


def test_a_run_that_an_event_stops_leaves_its_recording(saltus_command, tmp_path, monkeypatch):
    from saltus.errors import EventError
    from saltus.simulate.simulation import Simulation

    def stopped(self, *_, **options):
        recorded = run(self, 0.5, 0.05)
        recorded.attrs["stopped"] = "a wall"
        error = EventError("no way on", time=0.5, event="painleve")
        error.trajectory = recorded
        raise error

    run = Simulation.run
    monkeypatch.setattr(Simulation, "run", stopped)
    code, out, err = saltus_command("run", "pendulum", "--save", tmp_path / "run.nc")
    assert code == 1 and "event 'painleve' at t = 0.5 s: no way on" in err
    assert "not checked: the run did not finish" in out
    assert len(Trajectory.load(tmp_path / "run.nc")) == 11
