"""What is said and shown of a sweep while it runs.

Charter. Reference: the table that the sweep returns, in which a spring with too large a timestep diverges, and the
shares of the time that figures may take.
"""

import sys
import time

import numpy as np

from saltus.study import sweep as sweeps
from saltus.study.executors.workers import Here
from saltus.study.sweep import sweep
from saltus.study.tally import SweepSoFar, Tally
from saltus.terminal import notebook_line
from saltus.terminal.progress import Listener

VALUES = {"opt.timestep": [0.01, 0.3, 0.02, 0.4]}


class Heard(Listener):
    def __init__(self):
        self.words, self.fractions, self.notes = [], [], []

    def __call__(self, fraction):
        self.fractions.append(fraction)

    def hear(self, words):
        self.words.append(words)

    def note(self, line):
        self.notes.append(line)


def test_failures_are_counted_as_they_come(tmp_path):
    arguments = {"integrator": "euler", "duration": 5.0, "workers": 1, "save": tmp_path / "s.json"}
    first = Heard()
    table = sweep("spring", VALUES, progress=first, **arguments)
    assert table.status == ["done", "diverged", "done", "diverged"]
    assert first.fractions[0] == 0 and first.fractions[-1] == 1 and first.notes == []
    assert first.words[0] == "finished 0 of 4 runs" and first.words[-1] == "finished 4 of 4 runs; 2 diverged"
    again, values = Heard(), {"opt.timestep": [0.01, 0.3, 0.02, 0.4, 0.03]}
    sweep("spring", values, progress=again, **arguments)
    assert again.words[0] == "finished 4 of 5 runs; 2 diverged" and again.fractions == [0.8, 1.0]


def test_a_store_has_its_failures_counted_too(tmp_path):
    heard = Heard()
    for _ in range(2):
        sweep("spring", VALUES, integrator="euler", duration=5.0, workers=1, save=tmp_path / "s.zarr", progress=heard)
    assert heard.words[-1] == "finished 4 of 4 runs; 2 diverged" and heard.fractions == [0, 1, 1]


def test_a_function_hears_fractions():
    heard = []
    sweep("spring", VALUES, duration=0.1, workers=1, progress=heard.append)
    assert heard[0] == 0 and heard[-1] == 1 and all(type(x) is float for x in heard)


def test_the_dashboard_of_a_cluster_is_said_once(monkeypatch, capsys):
    class Cluster(Here):
        dashboard = "http://host:8787/status"

    monkeypatch.setattr(sweeps, "make_executor", lambda *_, **__: Cluster())
    for heard in (Heard(), True):
        sweep("spring", VALUES, duration=0.1, progress=heard)
        if heard is not True:
            assert heard.notes == ["dashboard of the cluster: http://host:8787/status"]
    out, err = capsys.readouterr()
    assert out == "" and err.count("dashboard of the cluster: http://host:8787/status") == 1
    sweep("spring", VALUES, duration=0.1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_what_is_shown_is_a_first_measure_over_a_first_path_of_numbers():
    points = [{"integrator": name, "qpos[x]": x} for name in ("euler", "rk4") for x in (1, 2.5)]
    tally = Tally(points, ["integrator", "qpos[x]"], ("energy.max", "J"))
    rows = [{"status": "done", "measures": {"energy.max": 3.0}}, {"status": "lost"}, *[{"status": "not run"}] * 2]
    shown = tally.so_far(rows)
    assert (shown.across, shown.measure) == ("qpos[x]", "energy.max (J)")
    np.testing.assert_array_equal(shown.x, [1, 2.5, 1, 2.5])
    np.testing.assert_array_equal(shown.y, [3, np.nan, np.nan, np.nan])
    assert "data:image/png" in shown._repr_html_() and "no figure" not in shown._repr_html_()
    without = Tally([{"integrator": "euler"}], ["integrator"], ("events", "")).so_far([{"status": "not run"}])
    assert without.across == "run" and "no figure" not in without._repr_html_()
    assert "no figure" not in SweepSoFar("run", "$a$", np.array([]), np.array([]))._repr_html_()


def test_pictures_take_their_share_of_the_time(monkeypatch):
    """Each takes 0.2 s; a hundred seconds have room for 25 of them, and for none before the second second."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    now, made = [0.0], []
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def make():
        made.append(now[0])
        now[0] += 0.2
        return f"<p>{len(made)}</p>"

    picture = notebook_line.Picture(make)
    while now[0] < 100.0:
        picture.renew()
        now[0] += 0.05
    assert made[0] >= notebook_line.LOOK and min(np.diff(made)) >= notebook_line.LOOK
    assert 20 <= len(made) <= 25 and picture.html == f"<p>{len(made)}</p>"
