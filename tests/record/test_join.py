"""Joined recordings. Law: two runs, one after the other, are one run: equal bits where steps and samples coincide."""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError


def runs(first, second, **options):
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    return [sim.run(duration, sample=0.02, **options) for duration in (first, second)]


def test_two_runs_are_one_run():
    a, b = runs(0.2, 0.1)
    whole = saltus.Simulation("pendulum", "rk4", timestep=0.01).run(0.3, sample=0.02)
    both = a + b
    np.testing.assert_allclose(both.time, whole.time, atol=1e-15)
    np.testing.assert_array_equal(both.qpos, whole.qpos)
    np.testing.assert_array_equal(both.qvel, whole.qvel)
    assert both.attrs["duration"] == pytest.approx(0.3) and len(both.attrs["parts"]) == 2
    assert both.attrs["integrator"] == "rk4" and both.model is not None and both.certificate is None


def test_a_run_that_ends_between_samples():
    """The next run's first sample is the state at the end; it is not recorded twice."""
    a, b = runs(0.15, 0.1)
    both = a + b
    assert a.end is not None and len(both) == len(a) + len(b)
    assert (np.diff(both.time) > 0).all()
    np.testing.assert_array_equal(both.qpos[len(a)], a.end["qpos"])


def test_three_parts_and_the_ledger():
    """Work goes on, energies are those of the states: the balance closes as in one run."""
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    sim.ctrl = [0.3]
    parts = [sim.run(0.1, sample=0.02, ledger=True) for _ in range(3)]
    other = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    other.ctrl = [0.3]
    whole = other.run(0.3, sample=0.02, ledger=True)
    both = parts[0] + parts[1] + parts[2]
    assert len(both.attrs["parts"]) == 3
    np.testing.assert_allclose(both.ledger, whole.ledger, rtol=1e-12, atol=1e-12)


def test_what_does_not_continue_is_refused():
    a, b = runs(0.1, 0.1)
    with pytest.raises(OptionError, match=r"ends at 0\.2 s, 0 s follows"):
        b + a
    with pytest.raises(OptionError, match="different models"):
        a + saltus.Simulation("double_pendulum", "rk4").run(0.1)
    with pytest.raises(OptionError, match=r"different columns.*signals"):
        a + runs(0.1, 0.1, record="qacc")[1]
    with pytest.raises(TypeError):
        a + 1


def test_joined_recordings_are_kept(tmp_path):
    a, b = runs(0.1, 0.1, record="qacc")
    (a + b).save(tmp_path / "both.nc")
    found = saltus.Trajectory.load(tmp_path / "both.nc")
    np.testing.assert_array_equal(found["qacc"], np.concatenate([a["qacc"][:-1], b["qacc"]]))
