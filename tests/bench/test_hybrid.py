"""The hybrid simulation on SciPy, which Saltus is compared with, is right by itself.

Laws: a ball of restitution e meets the floor at t1 (1 + 2 Σ eᵏ), t1 = √(2h/g); the terms of the equations of motion are
MuJoCo's; the woodpecker toy has the period 0.1452 s and the events that were published (Leine, Glocker & van Campen,
Nonlinear Dynamics of the Woodpecker Toy, ASME DETC2001/VIB-21608, p. 4 and figure 7); soft contact tends to the hard
one as it gets stiffer.

Tolerance: for a ball dense output is exact, since its path is a parabola, so rounding alone; the period is printed
with four digits, from data of two (half a unit of the spring is 0.9 %): hence 1 %; soft
against hard, three times what stiffening by four changes, 1.2e-3.
"""

import json

import mujoco
import numpy as np
import pytest
from helpers.woodpecker import WOODPECKER_CYCLE, Woodpecker
from numpy.testing import assert_allclose

import saltus
from saltus.bench.hybrid import command as hybrid
from saltus.bench.hybrid.batch import measure_batch
from saltus.bench.hybrid.systems import FRICTION, WALKER, PlanarTree
from saltus.bench.hybrid.with_scipy import Hybrid, bounce, consistent


def test_a_ball_bounces_as_its_closed_form_says():
    found = bounce(1.0, 0.8, 9.81, 5.0)
    first = np.sqrt(2 / 9.81)
    expected = first * (1 + 2 * np.cumsum(np.r_[0.0, 0.8 ** np.arange(1, 40)]))
    assert_allclose(found.times("impact")[:40], expected, rtol=1e-13)
    assert found.q[0] == 0.0 and found.v[0] == 0.0


def test_the_walker_has_the_equations_of_mujoco():
    m = mujoco.MjModel.from_xml_string(WALKER)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(3)
    d.qpos[:], d.qvel[:] = rng.normal(size=m.nq), rng.normal(size=m.nv)
    d.qpos[1] = 3.0
    mujoco.mj_forward(m, d)
    p = PlanarTree(saltus.load(WALKER), FRICTION, 0.0).parts(d.qpos, d.qvel)
    assert_allclose(np.linalg.solve(p.M, p.force), d.qacc, rtol=1e-10, atol=1e-10)
    soles = [g for g in range(m.ngeom) if m.geom_contype[g]]
    assert_allclose(p.gap, d.geom_xpos[soles, 2] - 0.012, atol=1e-14)
    J = np.zeros((3, m.nv))
    for k, g in enumerate(soles):
        mujoco.mj_jac(m, d, J, None, d.geom_xpos[g] - [0, 0, 0.012], m.geom_bodyid[g])
        assert_allclose(np.array([p.tangent[k], p.normal[k]]), J[[0, 2]], atol=1e-14)


@pytest.mark.slow
def test_the_walker_lands_slips_sticks_and_stands():
    sim = saltus.Simulation(WALKER)
    sim.reset(key="falling")
    system = PlanarTree(sim.model, FRICTION, 0.0)
    runs = [Hybrid(system, sim.qpos, sim.qvel, rtol=r, atol=1e-2 * r).run(2.0) for r in (1e-8, 1e-9)]
    kinds = [[(kind, i) for _, kind, i in run.events] for run in runs]
    assert kinds[0] == kinds[1]
    assert {kind for kind, _ in kinds[0]} == {"impact", "liftoff", "stick", "slip"} and len(kinds[0]) > 20
    assert_allclose(runs[0].q, runs[1].q, atol=1e-7)
    stiff = 'size="0.012" priority="1" solref="0.002 1" solimp="0.99 0.99 0.001"'
    soft = WALKER.replace('size="0.012"', stiff).replace('0.001"', '0.0001" impratio="100" cone="elliptic"', 1)
    sim = saltus.Simulation(soft)
    sim.reset(key="falling")
    assert_allclose(sim.run(2.0, sample=1.0).qpos[-1], runs[0].q, atol=4e-3)


@pytest.mark.slow
def test_the_woodpecker_toy_has_its_published_cycle():
    """Each return shrinks what is left by a factor of -0.84; nine leave a fifth of it, from -0.53 rad."""
    toy, cycle = Woodpecker(), WOODPECKER_CYCLE
    found = Hybrid(toy, *toy.start).run(1.45)
    jams = [k for k, (_, kind, i) in enumerate(found.events) if (kind, i) == ("stick", toy.LOWER)]
    assert len(jams) == 10
    last = found.events[jams[-2] + 1 : jams[-1] + 1]
    assert tuple((kind, i) for _, kind, i in last) == cycle.events
    periods = np.diff([found.events[k][0] for k in jams])
    settled = periods[-1] + (periods[-2] - periods[-1]) * 0.84 / 1.84
    assert_allclose(settled, cycle.accurate_period, atol=1e-5)
    assert_allclose(settled, cycle.period, rtol=1e-2)
    M, spring = toy.parts(*toy.start).M, toy.spring * np.array([[0, 0, 0], [0, 1, -1], [0, -1, 1]])
    assert_allclose(
        np.sqrt(np.max(np.linalg.eigvals(np.linalg.solve(M, spring)))) / (2 * np.pi), cycle.frequency, atol=5e-3
    )
    assert_allclose(toy.jammed - toy.m_S * toy.g * toy.l_G / toy.spring, cycle.equilibrium, atol=1e-4)


@pytest.mark.parametrize(
    "mode, q", [("stick", (-1.0, 0.1)), ("forward", (-1.0, 0.9)), ("backward", (-1.0, -0.9)), ("open", (1.0, 0.3))]
)
def test_one_contact_takes_the_mode_of_coulombs_law(mode, q):
    """W = 1: forces are -q, or at the edge of the cone of friction 0.5."""
    found = consistent(np.eye(2), np.array(q), np.array([0.5]), [("stick", "forward", "backward", "open")])
    assert found is not None and found[0] == [mode]


def test_answers_that_differ_are_not_timed():
    right = hybrid.Answer(np.zeros(2), np.array([0.1, 0.2]))
    assert hybrid.differences("x", right, hybrid.Answer(np.full(2, 1e-9), np.array([0.1, 0.2, 0.2]))) == (1e-9, 0.0)
    for q, times in (((0.0, 1e-3), (0.1, 0.2)), ((0.0, 0.0), (0.1, 0.21)), ((0.0, 0.0), (0.1,))):
        with pytest.raises(saltus.SaltusError, match="not timed"):
            hybrid.differences("x", right, hybrid.Answer(np.array(q), np.array(times)))


def test_the_table_names_the_ratio_and_the_differences(monkeypatch, tmp_path, capsys):
    """Both sides the same program: nothing is apart, and neither is much faster."""

    def run():
        found = bounce(1.0, 0.5, 9.81, 2.0)
        return hybrid.Answer(found.q, found.times("impact"))

    monkeypatch.setattr(hybrid, "_ball", lambda: (run, lambda: None, run, 10))
    monkeypatch.setattr(hybrid, "_batches", lambda quick, threads: [])
    path = tmp_path / "b.json"
    hybrid.bench_hybrid(quick=True, json_path=path)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["state_difference"] == row["time_difference"] == 0.0
    assert 0.5 < row["ratio"] < 2.0 and row["scipy"] > 0.0
    out = capsys.readouterr().out
    assert "bouncing ball" in out and "faster" in out and "SciPy" in out


@pytest.mark.slow
def test_a_batch_moves_as_its_simulations():
    """Or nothing is timed; the same bits, and impacts, without which the figure would say nothing."""
    row = measure_batch("walker", WALKER, "falling", n=3, steps=20, threads=2, repeats=1)
    assert row.impacts > 0 and row.loop > 0.0 and row.batch > 0.0
    assert (row.n, row.threads) == (3, 2)
