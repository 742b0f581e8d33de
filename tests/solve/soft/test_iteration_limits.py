"""Limits of iterations: accelerations of solvers that stop before they have converged, beside MuJoCo's.

References: MuJoCo 4.0 under the same limit, and its accelerations at the minimum. The table of
docs/reference/reliability.md holds the figures; here they are measured again. States are few and errors spread over
decades, so that a median may move by a third with rounding, and two of 24 states may change sides.
"""

import re
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from helpers.constraints import reachable
from helpers.solvers import layered_heap

import saltus

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "reliability.md"
SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
LIMITS = (1, 3, 10)
STATES = 12  # for each of two values of impratio


def cold(sim, data, qpos, qvel):
    """Accelerations of both programs at a state, without a warm start."""
    data.qpos[:] = sim.qpos[:] = qpos
    data.qvel[:] = sim.qvel[:] = qvel
    data.qacc_warmstart[:] = sim.data.qacc_warmstart[:] = 0.0
    mujoco.mj_forward(sim.model.mj_model, data)
    return np.array(sim.data.qacc), data.qacc.copy()


@cache
def measured(solver, cone):
    """Largest errors of accelerations beside the largest acceleration, ours and MuJoCo's, {limit: [states, 2]}."""
    found = {limit: [] for limit in LIMITS}
    for impratio in (1, 10):
        tight = layered_heap(cone, impratio, 1e-20)
        tight.opt.iterations, tight.opt.ls_iterations, tight.opt.ls_tolerance = 200, 100, 1e-6
        minima = [(d.qpos.copy(), d.qvel.copy(), d.qacc.copy()) for d in reachable(tight, STATES, seed=3)]
        for limit in LIMITS:
            m = layered_heap(cone, impratio, 1e-8)
            m.opt.solver, m.opt.iterations = SOLVERS[solver], limit
            sim, data = saltus.Simulation(saltus.load(m)), mujoco.MjData(m)
            for qpos, qvel, exact in minima:
                both = cold(sim, data, qpos, qvel)
                found[limit].append([np.abs(qacc - exact).max() / np.abs(exact).max() for qacc in both])
    return {limit: np.array(errors) for limit, errors in found.items()}


def row(solver, cone, limit):
    """Medians of our and MuJoCo's errors, and the number of states in which ours is more than twice as large."""
    errors = np.maximum(measured(solver, cone)[limit], 1e-9)  # of what has converged, rounding decides
    return *np.median(errors, axis=0), int((errors[:, 0] > 2.0 * errors[:, 1]).sum())


@pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["Newton", *(pytest.param(s, marks=pytest.mark.slow) for s in ("CG", "PGS"))])
def test_the_table_holds(solver, cone):
    page = PAGE.read_text(encoding="utf-8")
    for limit in LIMITS:
        ours, theirs, more = row(solver, cone, limit)
        line = rf"\| {solver} \| {cone} \| {limit} \| (\S+) \| (\S+) \| (\d+) \|"
        said = re.search(line, page)
        assert said, f"| {solver} | {cone} | {limit} | {ours:.2g} | {theirs:.2g} | {more} |"
        for number, value in zip(said.groups()[:2], (ours, theirs), strict=True):
            assert float(number) / 1.4 <= value <= 1.4 * float(number), (limit, number, value)
        assert abs(int(said.group(3)) - more) <= 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*did not reach its tolerance")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_projected_gauss_seidel_has_mujocos_iterates(cone):
    for limit in LIMITS[:2]:
        errors = measured("PGS", cone)[limit]
        np.testing.assert_allclose(errors[:, 0], errors[:, 1], rtol=1e-3, atol=1e-9)
