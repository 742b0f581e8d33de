"""The benchmark of sweeps measures what it says.

References: sizes that follow from the format (a float64 takes eight bytes before compression, a block a file for each
measure and one for the status), and the definition of idle time: what the workers had, less what they computed.
"""

import json
import math
import re
from dataclasses import fields
from pathlib import Path

import pytest

from saltus.bench.sweep import cluster as on_cluster
from saltus.bench.sweep.cluster import Look, OnCluster
from saltus.bench.sweep.command import bench_sweep
from saltus.bench.sweep.one_core import Runs, measure_runs
from saltus.bench.sweep.runs import MEASURES
from saltus.bench.sweep.store import Memory, Stored
from saltus.errors import OptionError, SaltusError

pytest.importorskip("distributed")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "concepts" / "at_scale.md"
PARTS = {"runs": Runs, "cluster": OnCluster, "store": Stored}


def require_complete(content):
    """All that the benchmark writes is there."""
    for name, part in PARTS.items():
        assert set(content[name]) == {field.name for field in fields(part)}
    assert all(set(look) == {field.name for field in fields(Look)} for look in content["cluster"]["looks"])
    assert all(set(row) == {field.name for field in fields(Memory)} for row in content["client"])


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "b.json"
    bench_sweep(quick=True, n=3000, json_path=path)
    shown = capsys.readouterr().out
    assert "2000 steps, 201 samples, 2 measures" in shown and "on 2 workers of a Dask cluster" in shown
    content = json.loads(path.read_text())
    require_complete(content)
    runs, cluster, store = content["runs"], content["cluster"], content["store"]
    assert 1e-5 < runs["together"] < runs["alone"] < 1 and runs["difference"] < 1e-12
    assert math.isclose(runs["ratio"], runs["alone"] / runs["together"], rel_tol=0.5)

    assert cluster["runs"] == 3000 and 2 <= cluster["chunks"] <= 3  # three blocks
    available = cluster["workers"] * cluster["seconds"]
    assert cluster["idle"] == pytest.approx(1 - cluster["computing"] / available)
    assert cluster["lost"] * cluster["chunks"] == pytest.approx(available - cluster["computing"])
    assert 0 < cluster["computing"] < 1.05 * available and 0 < cluster["scheduler"] < 1
    assert 0 < cluster["message"] < 100  # no values: workers have them from the store
    looks = cluster["looks"]
    assert [looks[0]["runs"], looks[-1]["runs"]] == [0, 3000] and looks[-1]["tasks"] <= 2
    assert all(10e6 < look["memory"] < 1e9 for look in looks)

    # notes that say nothing are not written; checksums: a file a block, and one for what three blocks share
    assert store["block"] == 1024 and store["files"] == pytest.approx(2 + 1 + 1 + 1 / 3)
    assert 2 * 4 < store["results"] < 2 * 8 + 2 and 4 * 4 < store["values"] < 4 * 8 + 1
    assert [row["runs"] for row in content["client"]] == [1000, 4000]
    for row in content["client"]:
        assert 4 * 24 < row["points"] < row["most"] < 10_000  # a float of Python is 24 bytes


def test_measures_that_differ_are_not_timed(monkeypatch):
    monkeypatch.setattr("saltus.study.jobs.run_one", lambda task, values: sweep_row(1.0))
    monkeypatch.setattr("saltus.study.side_by_side.run_side_by_side", lambda task, many: [sweep_row(1.1)] * len(many))
    with pytest.raises(SaltusError, match=r"differ by 1\.0e-01, not timed"):
        measure_runs(2, 4)


def sweep_row(value):
    from saltus.study.jobs import Row

    return Row("done", "", dict.fromkeys(MEASURES, value))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(OptionError, match=r"pip install 'saltus\[cluster\]'"):
        bench_sweep(quick=True)


def test_too_few_runs():
    with pytest.raises(OptionError, match="n must be at least 256"):
        bench_sweep(quick=True, n=10)


def test_a_cluster_that_does_not_come_up_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr(on_cluster.sys, "executable", "false")
    with pytest.raises(SaltusError, match="no Dask cluster came up"), on_cluster.running_cluster(tmp_path):
        pass


def test_the_page_has_what_the_benchmark_writes():
    (text,) = re.findall(r'json\.loads\("""\n(.*?)"""\)', PAGE.read_text(encoding="utf-8"), re.S)
    require_complete(json.loads(text))
