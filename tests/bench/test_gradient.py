"""The benchmark of the gradient of steps: all differentiate the same step, and what is missing is named.

The law: at a state, a step has one derivative. MuJoCo's forward differences with a step of 1e-6 are good to 1e-6 times
the second derivatives, which the curve of contacts' impedance makes large: 1e-1 m/s² over some 1e2.
"""

import json
import time

import pytest

import saltus
from saltus.bench import gradient, mjx_step, run_gradient
from saltus.bench.contact import CART_POLE
from saltus.bench.harness import peers
from saltus.bench.harness.report import QUICK, Case
from saltus.simulate.gradients.step_adjoint import StepAdjoint


def test_cases_name_what_is_missing(monkeypatch):
    monkeypatch.setattr(gradient.found_models, "HUMANOIDS", ())
    monkeypatch.setattr(gradient, "find_spec", lambda name: None)
    monkeypatch.setattr(gradient.mjx_step, "find_spec", lambda name: None)
    cases, notes = gradient._cases(quick=False, extra=["some/robot.xml"])
    assert [c.name for c in cases] == ["sticks", "robot"]
    assert [note.partition(":")[0] for note in notes] == ["Pinocchio", "MJX", "humanoid"]
    assert all("not measured" in note for note in notes)


def test_both_differentiate_the_same_step():
    setup = peers.Constrained(CART_POLE, 2, spread=1.0, settle=0.5)
    _, apart = peers.derivatives(setup)
    assert 0.0 < apart < 1e-4
    batch = peers.batch_derivatives(setup, 2, 1, "float64")
    batch.begin()
    A, _ = batch.work()
    assert A.shape == (2, 4, 4)
    assert batch.units == 2


@pytest.mark.slow
def test_quick_benchmark(tmp_path, capsys):
    path = tmp_path / "figures.json"
    gradient.bench_gradient(quick=True, threads=1, json_path=path, extra=[])
    out = capsys.readouterr().out
    assert "linearize" in out and "batch float32" in out
    figures = json.loads(path.read_text())
    assert [row["what"] for row in figures["rows"]] == ["linearize", "batch float64", "batch float32"]
    assert all(row["peer"] > 0 and row["saltus"] > 0 for row in figures["rows"])
    assert figures["details"][0]["of_run"]["cost"] > 0 and "cost in runs" in out


@pytest.mark.slow
def test_gradients_of_runs_by_all_parameters():
    """All numbers have gradients without directions, and the simulation's memory is that of its states, and more."""
    setup = peers.Constrained(CART_POLE, 1, spread=1.0, settle=0.1)
    timed = {"repeats": 1, "least": 0.0, "clock": time.process_time}
    found = run_gradient.reverse_gradient(setup, 20, timed)
    sim = saltus.Simulation(setup.model)
    adjoint = StepAdjoint(sim.engine, run_gradient.by_numbers(sim))
    assert adjoint.quick.all() and len(adjoint.columns) == found.parameters > 50
    assert found.cost > 0 and 20 * 8 * sim.engine.state.size / 1e6 < found.memory < 200


@pytest.mark.slow
def test_pinocchio_differentiates_the_same_tree(tmp_path):
    pytest.importorskip("pinocchio")
    path = tmp_path / "cart_pole.xml"
    path.write_text(CART_POLE)
    _, detail = gradient._measure(Case("cart-pole", str(path), 1, settle=0.5), QUICK, 1, lambda done: None)
    assert detail.without_constraints.pinocchio > 0 and detail.without_constraints.saltus > 0


def test_a_model_that_mjx_refuses_is_named(capsys):
    of_run = run_gradient.ReverseGradient("robot", 10, 5, 7.0, 3.0)
    refused = mjx_step.MjxDerivative("robot", "3.17", refused="no such sensor")
    measured = mjx_step.MjxDerivative("arm", "3.17", 0.02, 1e-4, 200.0, 61.0, 3e-9)
    gradient._tell([gradient.Details(None, of_run, refused), gradient.Details(None, of_run, measured)])
    out = capsys.readouterr().out
    assert "robot: jax.jacfwd of a step in MJX 3.17: refused, no such sensor" in out
    assert "20 ms, and 61 s before for compiling" in out and "linearize 100 µs, 200 x" in out


@pytest.mark.slow
def test_mjx_differentiates_the_same_step():
    """In double precision, to what is left by its solver, whose derivatives are those of its last iterations."""
    pytest.importorskip("jax")
    pytest.importorskip("mujoco.mjx")
    setup = peers.Constrained(CART_POLE, 1, spread=1.0, settle=0.5)
    timed = {"repeats": 1, "least": 0.0, "clock": time.process_time}
    found = mjx_step.mjx_derivative("cart-pole", setup, timed)
    assert not found.refused and found.difference < 1e-8
    assert found.mjx > 0 and found.saltus > 0 and found.compiling > found.mjx
