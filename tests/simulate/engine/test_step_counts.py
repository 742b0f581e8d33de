"""Counts over the steps of a run: restarts of the integrator, iterations of the constraint solver.

A ball that falls from rest meets the floor after sqrt(2 h / g), and again after 2 e^k of that time each: the instants
of the restarts are known in closed form. The iterations are those that the Newton solver of MuJoCo takes from the same
state.
"""

import mujoco
import numpy as np

import saltus
from saltus.simulate.engine.step_counts import StepCounts

G, HEIGHT = 9.81, 0.5
E = 0.9


def dropped(integrator="dopri5", **options):
    sim = saltus.Simulation("bouncing_ball", integrator, saltus.Hard(restitution=E), **options)
    sim.qpos[:] = HEIGHT
    return sim


def impact_times(count):
    first = np.sqrt(2 * HEIGHT / G)
    return first + np.append(0.0, 2 * first * np.cumsum(E ** np.arange(1, count)))


def test_each_event_is_one_warm_restart_of_the_adaptive_method(one_hard_layout):
    run = dropped().run(2.0, sample=0.01)
    times = impact_times(8)
    expected = (times[None] <= run.time[:, None]).sum(axis=1)
    assert expected[-1] >= 3
    np.testing.assert_array_equal(run.restarts[:, 0], expected)
    np.testing.assert_array_equal(run["restarts[cold]"], 0)


def test_breaks_restart_the_adaptive_method_from_nothing(one_hard_layout):
    breaks = (0.1, 0.755, 1.5)
    run = dropped(breaks=breaks).run(1.0, sample=0.01)
    np.testing.assert_array_equal(run["restarts[cold]"], (np.array(breaks) <= run.time[:, None]).sum(axis=1))
    assert run["restarts[warm]"][-1] == (impact_times(8) <= 1.0).sum()


def test_a_resumed_and_a_joined_run_count_on(one_hard_layout):
    """The counts of two halves that are joined are those of the whole."""
    sim = dropped()
    both = sim.run(1.0, sample=0.1) + sim.run(1.0, sample=0.1)
    whole = dropped().run(2.0, sample=0.1)
    np.testing.assert_array_equal(both.restarts, whole.restarts)
    sim = dropped()
    first = StepCounts(sim.engine)
    sim.run(1.0, sample=0.1)
    second = StepCounts(sim.engine)
    second.resume(first.position())
    sim.run(1.0, sample=0.1)
    np.testing.assert_array_equal(second.columns()["restarts"], whole.restarts[-1])


def test_iterations_are_those_of_mujoco():
    """The solvers, warm starts and tolerances are the same, and so are the counts, 0 in the air included.

    Rows without force, such as those of limits within their margin, take one iteration here and none there.
    """
    sim = saltus.Simulation("humanoid")
    control = 0.4 * np.sin(np.arange(300)[:, None] * 0.05 + np.arange(sim.model.nu))
    run = sim.run(300 * sim.timestep, sample=sim.timestep, control=np.append(control, control[-1:], axis=0))
    data = mujoco.MjData(sim.model.mj_model)
    data.qpos[:] = run.qpos[0]
    expected = []
    for row in control:
        data.ctrl[:] = row
        mujoco.mj_step(sim.model.mj_model, data)
        expected.append(int(data.solver_niter[0]))
    found = run.solver_niter[:, 0]
    assert found[0] == 0 and {0, 1, 2, 3, 4} <= set(expected)
    assert np.mean(found[1:] == expected) > 0.9
    assert np.mean(abs(found[1:] - expected) <= 1) > 0.99
    assert np.mean(found[:-1] == expected) < 0.9  # samples are not one step late


def test_a_ledger_and_reading_do_not_change_the_iterations():
    """The powers of a ledger, and a control function that reads forces, solve anew; the step's own count is kept."""

    def look(sim):
        assert np.isfinite(sim.data.efc_force).all()

    plain = saltus.Simulation("humanoid").run(0.3, sample=0.01)
    kept = saltus.Simulation("humanoid").run(0.3, sample=0.01, ledger=True)
    read = saltus.Simulation("humanoid").run(0.3, sample=0.01, control=look)
    np.testing.assert_array_equal(plain.solver_niter, kept.solver_niter)
    np.testing.assert_array_equal(plain.solver_niter, read.solver_niter)
    assert plain.solver_niter.max() > 0


def test_columns_are_empty_where_nothing_is_counted():
    run = saltus.Simulation("pendulum", "rk4").run(0.1, sample=0.05)
    assert run.restarts.shape == run.solver_niter.shape == (3, 0)
    assert saltus.Simulation("humanoid", "dopri5").run(0.002, sample=0.001).solver_niter.shape[1] == 0


def test_counts_are_in_files(tmp_path):
    run = saltus.Simulation("humanoid").run(0.03, sample=0.01)
    for name in ("run.nc", "run.zarr"):
        run.save(tmp_path / name)
        found = saltus.Trajectory.load(tmp_path / name)
        np.testing.assert_array_equal(found.solver_niter, run.solver_niter)
        assert found.solver_niter.dtype == np.int32
    assert "solver_niter[constraints]" in run.to_pandas().columns
