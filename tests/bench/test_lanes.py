"""The benchmark of lanes: what groups do, what each simulation needs by itself, and the least work of a step.

References: simulations of which it is known what touches, iterations of `Simulation`, which has no lanes, and
quantities read from the batch. The articulated-body algorithm takes operations linear in the number of links
(Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3).
"""

import json
import math

import numpy as np
import pytest

import saltus
from saltus.bench.lanes import command, needs, waiting
from saltus.bench.lanes.stages import CONTACT_ROWS, COUNTS, SOLVED, STAGES

BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .1"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
ARM = """<mujoco><option timestep="0.002" integrator="Euler"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .25"><joint name="a" axis="0 1 0" limited="true" range="-20 20"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
<body pos=".3 0 0"><joint axis="0 1 0" frictionloss="0.05"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body>
</body></worldbody><actuator><motor joint="a" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>"""
CONTACTS, ROWS, ITERATIONS = range(3)


def touching(batch, which):
    """Let the balls `which` lie on the floor, a millimetre deep, and the others be high above it."""
    batch.qpos = np.where(np.asarray(which)[:, None], [[0, 0, 0.099, 1, 0, 0, 0]], [[0, 0, 5, 1, 0, 0, 0]])
    return waiting.Groups(batch)


def arms(n, precision="float64"):
    return waiting.Groups(waiting.moved(ARM, n, 60, precision))


# ---------------------------------------------------------------- waiting


def test_copies_do_not_wait():
    batch = saltus.Batch(BALL, 32)
    counts = touching(batch, np.full(32, True)).counts()
    assert counts.groups[0, CONTACTS] == 1 and counts.groups[0, ITERATIONS] > 0
    assert [counts.utilisation(k) for k in range(COUNTS)] == [1.0, 1.0, 1.0]


def test_a_group_does_what_any_of_its_lanes_needs():
    """Every second ball lies on the floor: all groups have its contact, and half of the lanes need it."""
    batch = saltus.Batch(BALL, 32)
    counts = touching(batch, np.arange(32) % 2 == 0).counts()
    assert (counts.groups[:, CONTACTS] == 1).all()
    assert counts.alone[:, CONTACTS].tolist() == [1, 0] * 16
    assert [counts.utilisation(k) for k in range(COUNTS)] == [0.5, 0.5, 0.5]
    assert counts.summary(ROWS) == (3.0, 1.5, 3.0, 0.5)
    assert (counts.flops[::2] > 0).all() and not counts.flops[1::2].any()


def test_nothing_to_do_is_no_waiting():
    assert touching(saltus.Batch(BALL, 16), np.zeros(16)).counts().utilisation(CONTACTS) == 1.0


def test_iterations_are_those_of_single_simulations():
    groups = arms(16)
    counts = groups.counts()
    found = []
    for i in range(groups.n):
        sim = saltus.Simulation(ARM)
        for name in ("qpos", "qvel", "ctrl"):
            setattr(sim, name, getattr(groups.batch, name)[i])
        sim.engine.d.views["qacc_warmstart"][:] = groups.batch.read("qacc_warmstart")[i]
        found.append((sim.data.ncon, int(np.max(sim.data.solver_niter))))
    assert counts.alone[:, [CONTACTS, ITERATIONS]].tolist() == [list(x) for x in found]
    assert len(set(counts.alone[:, ITERATIONS])) > 1  # they differ, so that lanes wait
    assert counts.utilisation(ITERATIONS) < 1.0
    assert (
        counts.groups[:, ITERATIONS] == counts.alone[:, ITERATIONS].reshape(-1, groups.lanes.width).max(axis=1)
    ).all()


def test_stages_are_those_of_a_step():
    """After the last stage the forces are those of the batch, and before the solver the rows are there already."""
    groups = arms(16)
    batch = groups.batch
    expected = batch.read("qfrc_constraint")
    found = np.zeros((1, COUNTS), np.int64)
    width, d = groups.lanes.width, groups.lanes.workspaces[0]
    for group in range(len(groups.together)):
        groups.run(groups.together[group : group + 1], SOLVED, found)
        np.testing.assert_allclose(
            d.views["qfrc_constraint"].T, expected[group * width :][:width], rtol=1e-9, atol=1e-12
        )
        rows = found[0, ROWS]
        groups.run(groups.together[group : group + 1], CONTACT_ROWS, found)
        assert found[0].tolist() == [found[0, CONTACTS], rows, 0]


def test_time_is_taken_apart_by_stage():
    groups = arms(16)
    before = groups.together.copy()
    stages = groups.times(3, 1e-4)
    assert [stage.name for stage in stages] == [*STAGES, "rest of the step"]
    assert sum(stage.seconds for stage in stages) > 0 and sum(stage.alone for stage in stages) > 0
    assert (groups.together == before).all()


def test_motion_is_random_and_repeatable():
    one, other = (waiting.moved(ARM, 8, 25, "float64") for _ in range(2))
    assert (one.qpos == other.qpos).all()
    assert len(np.unique(one.qpos[:, 0])) == 8
    np.testing.assert_allclose(one.time, 25 * 0.002)


# ---------------------------------------------------------------- the least work


def test_operations_are_counted():
    before = needs.Counted.operations
    x = needs.Counted(3.0)
    y = 2.0 * x + x / 4.0 - 1.0
    assert y.value == 5.75 and needs.Counted.operations - before == 4
    assert (x + 0.0).value == 3.0 and (0.0 * x).value == 0.0 and (-x).value == -3.0 and abs(-x).value == 3.0
    assert needs.Counted.operations - before == 4
    assert x.library.sqrt(needs.Counted(9.0)).value == 3.0 and x.library.atan2(0.0, x).value == 0.0
    assert needs.Counted.operations - before == 6
    assert math.isnan((1.0 / needs.Counted(0.0)).value)
    assert x > 2.0 and x >= 3.0 and x < 4.0 and x <= 3.0 and x == 3.0


def test_operations_are_linear_in_the_number_of_links():
    ten, twenty, thirty = (needs.smooth_flops(saltus.load(f"n_link:{n}")) for n in (10, 20, 30))
    assert thirty - twenty == twenty - ten > 0


def test_constraints_need_the_inertia_matrix_too():
    free = needs.smooth_flops(saltus.load(BALL, ignore=["contact"]))
    assert needs.smooth_flops(saltus.load(BALL)) > free


def test_the_slower_of_arithmetic_and_memory_bounds():
    assert needs.Roofline(100.0, 10.0, 10.0, 10.0).seconds == 10.0
    assert needs.Roofline(10.0, 100.0, 10.0, 10.0).seconds == 10.0
    assert needs.bandwidth() > 1e7


# ---------------------------------------------------------------- all of it


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    (tmp_path / "arm.xml").write_text(ARM)
    path = tmp_path / "figures.json"
    command.bench_lanes(models=[str(tmp_path / "arm.xml")], quick=True, n=None, steps=40, json_path=path)
    out = capsys.readouterr().out
    assert "further iterations" in out and "iterations" in out and "of the step" in out
    (found,) = json.loads(path.read_text())["lanes"]
    assert found["precision"] == "float64" and found["integrator"] == "euler" and found["n"] == 32
    assert 0 < found["counts"]["iterations"][3] <= 1.0
    assert found["flops"] > 0 and found["bound"] > 0
