"""Sleeping as users meet it: what is read and recorded, what goes on from files, and what is refused.

References: the run itself; MuJoCo's initial states.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers import sleepers

import saltus
from saltus.record.table.interpolate import Interpolator
from saltus.target.web.program import check_ours


@pytest.fixture(scope="module")
def model():
    return saltus.load(sleepers.INITIAL)


def test_trees_begin_as_their_policies_say(model):
    """Also after a reset; where a keyframe has them elsewhere they wake with the first step."""
    sim, d = saltus.Simulation(model), mujoco.MjData(model.mujoco)
    np.testing.assert_array_equal(sim.tree_asleep, d.tree_asleep)
    assert sim.tree_asleep.dtype == np.int32
    sim.step(300)
    sim.reset()
    np.testing.assert_array_equal(sim.tree_asleep, d.tree_asleep)


def test_a_recording_says_who_slept(model, tmp_path):
    """And so do files, at the samples and at the end between them."""
    sim = saltus.Simulation(model)
    run = sim.run(1.005, sample=0.01)
    assert run.tree_asleep.shape == (len(run), 4) and run.names["tree"] == ["#1", "#2", "#3", "#4"]
    again = saltus.Simulation(model)
    for k in range(0, len(run), 20):
        again.reset()
        again.step(round(run.time[k] / 0.002))
        np.testing.assert_array_equal(run.tree_asleep[k], again.tree_asleep)
    # between samples nothing is known to change
    k = int(np.flatnonzero((np.diff(run.tree_asleep, axis=0) != 0).any(axis=1))[0])
    held = Interpolator(run, model).at(run.time[k] + np.array([0.0, 0.009, 0.01]))["tree_asleep"]
    np.testing.assert_array_equal(held, run.tree_asleep[[k, k, k + 1]])
    np.testing.assert_array_equal(run.end["tree_asleep"], sim.tree_asleep)
    for name in ("run.nc", "run.zarr"):
        run.save(tmp_path / name)
        loaded = saltus.Trajectory.load(tmp_path / name)
        np.testing.assert_array_equal(loaded.tree_asleep, run.tree_asleep)
        np.testing.assert_array_equal(loaded.end["tree_asleep"], run.end["tree_asleep"])
        assert loaded.names["tree"] == run.names["tree"] and loaded.tree_asleep.dtype == np.int32
    assert run.to_xarray().tree_asleep.dims == ("time", "tree_name")


def test_a_recording_of_what_never_sleeps_has_no_such_column():
    run = saltus.Simulation("pendulum").run(0.1)
    assert run.tree_asleep.shape == (len(run), 0) and "tree_asleep" not in run.to_xarray()


def test_a_run_goes_on_from_a_file(model, tmp_path):
    """A run is cut in two in the middle of a fall; the second half wakes who slept, as the whole run does."""
    whole = saltus.Simulation(model).run(1.0, sample=0.02)
    sim = saltus.Simulation(model)
    seen = []

    def stop(sim):
        seen.append(sim.time)
        if len(seen) == 150:
            raise KeyboardInterrupt

    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        sim.run(1.0, sample=0.02, control=stop, save=tmp_path / "cut.zarr")
    run = saltus.resume(tmp_path / "cut.zarr", control=stop)
    np.testing.assert_array_equal(run.qpos, whole.qpos)
    np.testing.assert_array_equal(run.tree_asleep, whole.tree_asleep)


def test_a_copy_sleeps_as_the_original(model):
    sim = saltus.Simulation(model)
    sim.step(400)
    other = copy.deepcopy(sim)
    np.testing.assert_array_equal(other.tree_asleep, sim.tree_asleep)
    sim.step(300), other.step(300)
    np.testing.assert_array_equal(other.qpos, sim.qpos)


def test_left_out_nothing_sleeps(model):
    sim = saltus.Simulation(saltus.load(model.mujoco, ignore=["sleep"]))
    sim.step(100)
    assert sim.tree_asleep.shape == (0,) and sim.qpos[2] < 0.149  # fallen


def test_batches_say_that_nobody_sleeps(model):
    with pytest.warns(saltus.SaltusWarning, match="do not let trees sleep"):
        batch = saltus.Batch(model, 2)
    batch.step(100)
    one = saltus.Simulation(saltus.load(model.mujoco, ignore=["sleep"]))
    one.step(100)
    np.testing.assert_allclose(batch.qpos[0], one.qpos, atol=1e-9)


def test_derivatives_are_those_of_trees_awake(model):
    asleep, awake = saltus.Simulation(model), saltus.Simulation(saltus.load(model.mujoco, ignore=["sleep"]))
    with pytest.warns(saltus.SaltusWarning, match="derivatives are those with all trees awake"):
        found = asleep.linearize()
    for one, other in zip(found, awake.linearize(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (dict(contact="hard"), "contact='hard'"),
        (dict(integrator="verlet"), "integrator verlet"),
        (dict(integrator="dopri5"), "integrator dopri5"),
    ],
)
def test_what_does_not_let_trees_sleep_is_refused(model, options, said):
    with pytest.raises(saltus.OptionError, match=f"{said}.*ignore=\\['sleep'\\]"):
        saltus.Simulation(model, **options)


@pytest.mark.parametrize(
    ("option", "rest", "said"),
    [
        ('solver="PGS"', "", "PGS"),
        ('noslip_iterations="3"', "", "noslip"),
        (
            "",
            '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
            '<equality><tendon tendon1="t"/></equality>',
            "equality constraints of tendons",
        ),
    ],
)
def test_models_that_cannot_sleep_are_refused(option, rest, said):
    xml = sleepers.world(
        sleepers.free("0 0 1") + f'<body pos="1 0 1"><joint name="j"/>{sleepers.BOX}</body>', option, rest=rest
    )
    with pytest.raises(saltus.ModelError, match=said) as caught:
        saltus.load(xml)
    assert "ignore=['sleep']" in str(caught.value)


def test_pages_do_not_let_trees_sleep(model):
    with pytest.raises(saltus.OptionError, match="cannot run in a browser: trees do not sleep there"):
        check_ours(saltus.Simulation(model).engine)


def test_a_simulation_of_a_batch_goes_on_with_its_bits(model):
    with pytest.warns(saltus.SaltusWarning, match="do not let trees sleep"):
        batch = saltus.Batch(model, 2)
    batch.step(50)
    one = batch.simulation(1)
    one.step(50), batch.step(50)
    np.testing.assert_array_equal(one.qpos, batch.qpos[1])
    assert one.tree_asleep.shape == (0,)
