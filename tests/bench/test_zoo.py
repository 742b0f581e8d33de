"""`saltus bench zoo`: every file of a folder is in the tables, as what it is, and both sides begin at MuJoCo's states.

References: MuJoCo's own steps, which the states repeat to the bit; what MuJoCo says of a file that it cannot load.
"""

import json

import mujoco
import numpy as np
import pytest

from saltus.bench import contact
from saltus.bench.harness import peers
from saltus.bench.harness.fresh import Outcome
from saltus.bench.zoo import command, finding, model_run, rows, warmed
from saltus.errors import OptionError, SaltusError
from saltus.model.load import load

BROKEN = '<mujoco><worldbody><geom type="plne"/></worldbody></mujoco>'
PART = "<mujocoinclude><worldbody/></mujocoinclude>"
SCENE = '<mujoco><include file="parts/floor.xml"/></mujoco>'
FLOOR = '<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'
ROBOT = '<robot name="r"><link name="l"/></robot>'
PLASTIC = (
    """<mujoco><worldbody><body><joint stiffness="1" springyield=".1"/><geom size=".1"/></body></worldbody></mujoco>"""
)
MOTOR = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body></worldbody>
<actuator><motor joint="j" gear="{gear}" ctrllimited="true" ctrlrange="-1 2"/></actuator></mujoco>"""


@pytest.fixture
def zoo(tmp_path):
    """Two models, one that is broken, and what is no model by itself."""
    folder = tmp_path / "zoo"
    (folder / "parts").mkdir(parents=True)
    texts = {"sticks": contact.STICKS, "cart": contact.CART_POLE, "broken": BROKEN, "part": PART, "scene": SCENE}
    for name, text in {**texts, "parts/floor": FLOOR, "robot": ROBOT}.items():
        (folder / f"{name}.xml").write_text(text)
    (folder / "notes.txt").write_text("no model")
    return folder


# ------------------------------------------------------------ files


def test_all_files_are_found_by_name(zoo):
    found = {file.name: file for file in finding.find_files([zoo])}
    inside = ("broken", "cart", "part", "parts/floor", "robot", "scene", "sticks")
    assert list(found) == [f"zoo/{name}.xml" for name in inside]
    assert found["zoo/part.xml"].root == "mujocoinclude" and found["zoo/robot.xml"].root == "robot"
    assert found["zoo/scene.xml"].includes == ("parts/floor.xml",)
    assert finding.parts_of_others(found.values()) == {(zoo / "parts" / "floor.xml").resolve()}
    # a file in two places is measured once
    assert len(finding.find_files([zoo, zoo / "cart.xml"])) == len(found)


def test_patterns_choose_files(zoo):
    def names(*patterns):
        return [file.name for file in finding.find_files([zoo], patterns)]

    assert names("s*.xml") == ["zoo/scene.xml", "zoo/sticks.xml"]
    assert names("*/parts/*", "cart.xml") == ["zoo/cart.xml", "zoo/parts/floor.xml"]
    with pytest.raises(OptionError, match=r"no MJCF file .* that matches 'x'"):
        names("x")
    with pytest.raises(OptionError, match="no such file or folder"):
        finding.find_files([zoo / "nowhere"])


def test_who_refuses_a_model_is_said(zoo, capsys):
    def said(name, text):
        (zoo / name).write_text(text)
        assert model_run.loaded(str(zoo / name)) is None
        return json.loads(capsys.readouterr().out)

    with pytest.raises(ValueError) as of_mujoco:
        mujoco.MjModel.from_xml_path(str(zoo / "broken.xml"))
    assert said("broken.xml", BROKEN) == {"outcome": "not loaded", "reason": str(of_mujoco.value).splitlines()[0]}
    refused = said("plastic.xml", PLASTIC)
    assert refused["outcome"] == "refused" and "a plastic spring is not simulated" in refused["reason"]


# ------------------------------------------------------------ states


def test_states_are_those_of_mujoco_each_after_its_own_time():
    n = 5
    setup = warmed.Warmed(load(contact.CART_POLE), n)
    starts = setup.starts(n)
    rng = np.random.default_rng(peers.SEED)
    blocks = warmed.FEWEST + rng.permutation(n)
    velocities = warmed.SPREAD * rng.normal(size=(n, setup.mujoco.nv))
    for i in range(n):
        data = mujoco.MjData(setup.mujoco)
        data.qvel[:] = velocities[i]
        mujoco.mj_step(setup.mujoco, data, blocks[i] * warmed.BLOCK)
        np.testing.assert_array_equal(starts.qpos[i], data.qpos)
        np.testing.assert_array_equal(starts.qvel[i], data.qvel)


def test_contacts_differ_and_the_single_run_begins_at_the_median():
    setup = warmed.Warmed(load(contact.STICKS), 8)
    contacts = setup.counts[:, 0]
    assert len(set(contacts)) > 1
    (same,) = np.flatnonzero((setup.starts(8).qpos == setup.start.qpos).all(axis=1))
    assert contacts[same] == np.sort(contacts)[4]


@pytest.mark.parametrize(("gear", "width"), [(1.0, 1.0), (1e9, 0.0)])
def test_controls_are_random_unless_motion_diverges(gear, width):
    setup = warmed.Warmed(load(MOTOR.format(gear=gear)), 8)
    ctrl = setup.starts(8).ctrl
    assert setup.width == width and (abs(ctrl).max() > 0) == (width > 0)
    assert ctrl.min() >= -1.0 and ctrl.max() <= 2.0
    data, sim = setup.data(), setup.simulation()
    np.testing.assert_array_equal(data.ctrl, setup.start.ctrl)
    np.testing.assert_array_equal(sim.ctrl, setup.start.ctrl)


def test_a_model_that_always_diverges_is_an_error():
    text = (
        '<mujoco><option gravity="0 0 1e12"/><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(SaltusError, match="MuJoCo's simulation diverges"):
        warmed.Warmed(load(text), 4)


def test_what_only_mujoco_computes_is_off():
    text = """<mujoco><option><flag energy="enable"/></option>
    <worldbody><body><joint/><geom size="1"/></body></worldbody><sensor><clock/></sensor></mujoco>"""
    m, off = warmed.without_extras(mujoco.MjModel.from_xml_string(text))
    data = mujoco.MjData(m)
    mujoco.mj_step(m, data, 3)
    assert off == ["sensors", "energy"] and data.sensordata[0] == 0.0 and not data.energy.any()


# ------------------------------------------------------------ tables


def compared(ratio):
    return {"peer": ratio * 1e-5, "saltus": 1e-5, "ratio": ratio, "compiling": 1.0, "steps": 5}


def test_totals_and_the_slowest():
    facts = [{"single": compared(s), "float64": compared(b)} for s, b in ((0.5, 4.0), (3.0, 2.0), (2.0, 0.9))]
    found = [rows.ZooRow(f"m{k}", f"/m{k}", "measured", "", each) for k, each in enumerate(facts)]
    found.append(rows.ZooRow("late", "/late", "late", "", {"single": compared(7.0)}))
    total = rows.totals(found)
    assert (total["single"].models, total["single"].median, total["single"].least) == (4, 2.5, 0.5)
    assert (total["float64"].models, total["float64"].median, total["float64"].below_one) == (3, 2.0, 1)
    assert "float32" not in total
    assert [row.name for row in rows.slowest(found, 3)] == ["m0", "m2", "m1"]


def test_how_a_process_ended_is_told():
    late = rows.row_of("m", "/m", Outcome({"single": compared(2.0)}, "", late=True), 5.0)
    assert late.outcome == "late" and late.reason == "took longer than 5 s; measured until then: single"
    crashed = rows.row_of("m", "/m", Outcome({}, "", error="ended by signal 11"), 5.0)
    assert (crashed.outcome, crashed.reason) == ("failed", "ended by signal 11")
    assert rows.row_of("m", "/m", Outcome({}, ""), 5.0).outcome == "failed"


def test_results_are_kept_as_they_come_and_resumed(zoo, monkeypatch, tmp_path, capsys):
    asked = []

    def process(module, given, *, limit):
        asked.append(given["path"].rsplit("/", 1)[1])
        if len(asked) == 3:
            raise KeyboardInterrupt
        return Outcome({"outcome": "still", "reason": "it has no degrees of freedom"}, "")

    monkeypatch.setattr(command, "run_fresh", process)
    path = tmp_path / "zoo.json"
    with pytest.raises(KeyboardInterrupt):
        command.bench_zoo([zoo], json_path=path)
    assert [row["name"] for row in json.loads(path.read_text())["rows"]] == [
        "zoo/broken.xml",
        "zoo/cart.xml",
        "zoo/part.xml",
    ]
    command.bench_zoo([zoo], json_path=path, resume=True)
    content = json.loads(path.read_text())
    assert len(content["rows"]) == 7 and content["outcomes"] == {"still": 4, "no model": 1, "part": 2}
    assert asked == ["broken.xml", "cart.xml", "floor.xml", "floor.xml", "scene.xml", "sticks.xml"]
    out = capsys.readouterr().out
    assert "zoo/robot.xml: its root element is <robot>" in out and "zoo/parts/floor.xml: by itself: it has no" in out
    with pytest.raises(OptionError, match="it was measured with other settings"):
        command.bench_zoo([zoo], json_path=path, resume=True, quick=True)
    with pytest.raises(OptionError, match="--resume needs --json"):
        command.bench_zoo([zoo], resume=True)
    with pytest.raises(OptionError, match="limit must be positive"):
        command.bench_zoo([zoo], limit=0.0)


@pytest.mark.slow
def test_quick_benchmark(zoo, tmp_path, capsys):
    path, page = tmp_path / "zoo.json", tmp_path / "zoo.md"
    command.bench_zoo([zoo], quick=True, json_path=path, markdown_path=page)
    content = json.loads(path.read_text())
    assert content["outcomes"] == {"measured": 2, "not loaded": 1, "still": 1, "no model": 1, "part": 2}
    for row in content["rows"]:
        if row["outcome"] == "measured":
            assert all(row["facts"][column]["ratio"] > 0 for column in rows.COLUMNS)
            assert 0 < row["facts"]["single"]["saltus"] < 1e-3
            # a solver may stop where the cost is 1e-8 · mean inertia · nv from its least; see test_contact.py
            assert row["facts"]["difference"] < 2e-3
    assert {column: total["models"] for column, total in content["totals"].items()} == dict.fromkeys(rows.COLUMNS, 2)
    text, out = page.read_text(), capsys.readouterr().out
    assert "| zoo/cart.xml | 2 |" in text and "- `zoo/part.xml`" in text and "invalid keyword: 'plne'" in text
    assert "zoo/sticks.xml" in out and "batch float32" in out
