"""`saltus bench worlds`: scenes are what they say, the same each time, and the benchmark keeps its limit.

References: MuJoCo's compiler and steps, which find no contact where bodies are to be apart and move what is to be hit.
"""

import json

import mujoco
import numpy as np
import pytest

from saltus.bench.harness.fresh import Outcome
from saltus.bench.harness.memory import PeakMemory
from saltus.bench.worlds import command, scenes
from saltus.bench.worlds.growth_plot import plot
from saltus.bench.worlds.rows import WorldRow, row_of
from saltus.errors import OptionError

SMALL = {
    "heap": {"n": 20},
    "wall": {"width": 3, "height": 3},
    "dominoes": {"n": 5},
    "humanoids": {"n": 2},
    "curtain": {"chains": 2, "links": 20},
    "wrecking_ball": {"links": 4, "width": 2, "height": 8},
    "room": {"n": 5},
    "sleeping_wall": {"width": 3, "height": 3},
}


def compiled(scene):
    m = mujoco.MjModel.from_xml_string(scene.xml)
    data = scenes.start(scene, m)
    mujoco.mj_forward(m, data)
    return m, data


# ------------------------------------------------------------ scenes


@pytest.mark.parametrize("world", scenes.WORLDS)
def test_a_scene_is_the_same_each_time_and_counts_its_bodies(world):
    make, arguments = scenes.WORLDS[world], SMALL[world]
    scene = make(**arguments)
    assert make(**arguments).xml == scene.xml
    m, data = compiled(scene)
    assert scene.bodies == m.nbody - 1 and not m.nkey
    # bricks lie on each other to rounding; nothing begins inside anything else
    assert data.ncon == 0 or data.contact.dist.min() > -1e-9
    mujoco.mj_step(m, data, round(scene.settle / m.opt.timestep))
    assert data.time == pytest.approx(scene.settle, abs=m.opt.timestep) and data.ncon > 0


@pytest.mark.parametrize("world", ["room", "sleeping_wall"])
def test_all_but_the_ball_sleep(world):
    scene = scenes.WORLDS[world](**SMALL[world])
    m, data = compiled(scene)
    mujoco.mj_step(m, data, 200)
    assert (data.tree_asleep[:-1] >= 0).all() and data.tree_asleep[-1] < 0
    assert data.qvel[-6] == pytest.approx(-0.3, abs=0.01)


def test_a_heap_of_any_seed_and_shapes_begins_without_contact():
    for seed in range(3):
        _, data = compiled(scenes.heap(60, seed=seed))
        assert data.ncon == 0
    assert scenes.heap(60, seed=1).xml != scenes.heap(60, seed=2).xml
    m, _ = compiled(scenes.heap(4, shapes=("box",)))
    kinds = mujoco.mjtGeom
    assert set(m.geom_type.tolist()) == {kinds.mjGEOM_PLANE.value, kinds.mjGEOM_BOX.value}


def test_a_heap_stays_in_its_box():
    scene = scenes.heap(20)
    m, data = compiled(scene)
    mujoco.mj_step(m, data, round(scene.settle / m.opt.timestep))
    positions = data.xpos[1:]
    half = 0.5 * scenes.SPACING * 3 + 0.03
    assert abs(positions[:, :2]).max() < half and positions[:, 2].min() > 0.0


@pytest.mark.parametrize(("world", "hit"), [("wall", "brick1_1"), ("wrecking_ball", "brick7_1")])
def test_the_ball_hits(world, hit):
    scene = scenes.WORLDS[world](**SMALL[world])
    m, data = compiled(scene)
    before = data.body(hit).xpos.copy()
    mujoco.mj_step(m, data, round(scene.settle / m.opt.timestep))
    assert np.linalg.norm(data.body(hit).xpos - before) > 0.02


def test_the_first_domino_pushes_the_next():
    scene = scenes.dominoes(5)
    m, data = compiled(scene)
    assert data.body("domino0").cvel[1] == pytest.approx(3.0)  # rad/s about y
    mujoco.mj_step(m, data, round(scene.settle / m.opt.timestep))
    assert data.body("domino1").xmat[8] < 0.99


# ------------------------------------------------------------ the command


def test_peak_memory_forgets_what_was_before():
    size = 50_000_000
    memory = PeakMemory()
    if np.isnan(memory.growth()):
        pytest.skip("this system does not tell or reset the peak of resident memory")
    block = np.ones(size // 8)
    del block
    assert 0.9 * size < memory.growth() < 2 * size
    memory.begin()
    assert memory.growth() < 0.5 * size


def test_worlds_and_sizes_are_chosen():
    assert command.sizes_of("100, 30,100") == [30, 100]
    for text in ("", "3,x", "0", "-1", "1.5"):
        with pytest.raises(OptionError, match="whole numbers of bodies"):
            command.sizes_of(text)
    assert [task.name for task in command.tasks(["wall", "heap"], [9, 3])] == ["wall", "heap 3", "heap 9"]
    with pytest.raises(OptionError, match="heaps"):
        command.tasks(["heaps"], [3])


def test_larger_heaps_are_skipped_after_the_limit(monkeypatch, tmp_path, capsys):
    asked = []

    def process(module, given, *, limit):
        asked.append((given["world"], given["arguments"]))
        facts = {"bodies": 3, "mujoco_loading": 0.1}
        return Outcome(facts, "", late=given["arguments"].get("n", 0) > 3)

    monkeypatch.setattr(command, "run_fresh", process)
    path = tmp_path / "worlds.json"
    command.bench_worlds(worlds=["heap", "wall"], sizes=[3, 10, 30], limit=7.0, json_path=path)
    assert asked == [("heap", {"n": 3}), ("heap", {"n": 10}), ("wall", {})]
    reasons = {row["name"]: row["reason"] for row in json.loads(path.read_text())["rows"]}
    assert reasons["heap 10"] == "took longer than 7 s, stopped while MuJoCo let it settle"
    assert reasons["heap 30"] == "skipped, since heap 10 took longer than 7 s"
    assert "ended without a result" in reasons["wall"]
    assert "heap 30: skipped" in capsys.readouterr().out
    with pytest.raises(OptionError, match="limit must be positive"):
        command.bench_worlds(limit=0.0)


def test_failures_are_told():
    outcome = Outcome({"bodies": 3, "failed": "heap 3: the motion diverged", "done": True}, "")
    assert row_of("heap 3", "heap", {}, outcome, 1.0).reason == "heap 3: the motion diverged"
    assert row_of("heap 3", "heap", {}, Outcome({}, "", error="ended by signal 9"), 1.0).reason == "ended by signal 9"


def test_growth_is_drawn(tmp_path):
    facts = [{"bodies": n, "peer": 1e-4 * n, "saltus": 5e-5 * n, "ratio": 2.0} for n in (3, 30, 200)]
    names = (("heap 3", "heap"), ("heap 30", "heap"), ("wall", "wall"))
    found = [WorldRow(*name, {}, "", each) for name, each in zip(names, facts, strict=True)]
    plot([*found, WorldRow("heap 300", "heap", {}, "skipped")], tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path, figure = tmp_path / "worlds.json", tmp_path / "worlds.png"
    command.bench_worlds(quick=True, sizes=[3], json_path=path, plot_path=figure)
    content = json.loads(path.read_text())
    (row,) = content["rows"]
    facts = row["facts"]
    assert row["name"] == "heap 3" and row["reason"] == "" and facts["dof"] == 18
    assert facts["ratio"] > 0 and 0 < facts["saltus"] < 1e-2 and 0 < facts["peer"] < 1e-2
    assert 0 < facts["mujoco_loading"] < facts["loading"] + facts["making"] and facts["compiling"] >= 0
    assert facts["memory_compiling"] is None or facts["memory_compiling"] >= facts["memory"] > 0
    # both minimise the same cost, to 1e-8 of the mean inertia times nv: at most the root of that in velocities
    assert facts["difference"] < 1e-3
    assert facts["saltus_counts"][0] == pytest.approx(facts["mujoco_counts"][0], abs=2)
    assert figure.stat().st_size > 1000 and "heap 3" in capsys.readouterr().out


@pytest.mark.slow
def test_threads_are_timed_where_they_have_work_to_share(tmp_path, capsys):
    """Heaps of at least 40 trees and 270 degrees of freedom have, smaller ones not."""
    path = tmp_path / "worlds.json"
    command.bench_worlds(worlds=["heap"], sizes=[3, 60], quick=True, threads=2, json_path=path)
    few, many = (row["facts"] for row in json.loads(path.read_text())["rows"])
    assert "threads" not in few
    assert many["threads"] == 2 and many["same_bits"] and many["alone"] > 0.0 and many["together"] > 0.0
    assert "x, same bits" in capsys.readouterr().out
