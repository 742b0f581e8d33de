"""Recorded runs of batches. Reference: the same simulations one by one, to the bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import saltus
from saltus.errors import DivergenceError, OptionError

RECORD = ("xpos[forearm]", "qfrc_bias", "xpos[forearm][2]")
STARTS = [0.1, 0.7, -0.4]


def arms(**options):
    batch = saltus.Batch("arm", len(STARTS), **options)
    batch.qpos[:, 0] = STARTS
    return batch


def test_columns_are_those_of_single_simulations():
    recording = arms().run(0.1, 0.02, record=RECORD)
    assert recording.qpos.shape == (3, 6, 2) and recording["xpos[forearm]"].shape == (3, 6, 3)
    assert recording.signals.shape == (3, 6, 3 + 2 + 1) and len(recording) == 3
    for start, trajectory in zip(STARTS, recording, strict=True):
        sim = saltus.Simulation("arm")
        sim.qpos[0] = start
        alone = sim.run(0.1, 0.02, record=RECORD)
        for name in ("time", "qpos", "qvel", "ctrl", *RECORD):
            assert_array_equal(trajectory[name], alone[name])
        assert trajectory.names == {**alone.names, "contact": trajectory.names["contact"]}
    assert_array_equal(recording["qfrc_bias"][1], recording[1]["qfrc_bias"])


def test_a_control_function_acts_before_each_step():
    """Every step records by default; the controls of a row are those that led to it, as with `step` by hand."""

    def control(batch):
        return -5.0 * batch.qpos

    batch, other = arms(), arms()
    recording = batch.run(5 * batch.timestep, control=control)
    assert recording.time.shape == (3, 6)
    for k in range(1, 6):
        other.ctrl = control(other)
        other.step()
        assert_array_equal(recording.qpos[:, k], other.qpos)


def test_located_contacts_and_terminal_events():
    """Balls from three heights; each ends at its own first touch of 0.5 m, and later rows are nan."""

    def height(m, d):
        return d.qpos[0] - 0.25

    def nothing(m, d):
        pass

    batch = saltus.Batch("bouncing_ball", 2, contact="hard", events=[saltus.Event(height, nothing, terminal=True)])
    batch.qpos[:, 0] = [0.3, 5.0]
    recording = batch.run(0.2, 0.02)
    fallen = recording.time[0] < np.sqrt(2 * 0.05 / 9.81)
    assert_array_equal(np.isfinite(recording.qpos[0, :, 0]), fallen)
    assert fallen.sum() < len(fallen) and np.isfinite(recording.qpos[1]).all()
    assert len(recording[0]) == fallen.sum()


def test_others_go_on_where_one_diverges():
    batch = arms()
    batch.qvel[1] = 1e9
    with pytest.raises(DivergenceError, match="simulation 1") as caught:
        batch.run(0.1, 0.02)
    recording = caught.value.trajectory
    assert np.isfinite(recording.qpos[[0, 2]]).all() and np.isnan(recording.qpos[1, -1]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": 0.0123}, "sample must be a whole number of timesteps in a batch"),
        ({"record": ("xpos[leg]",)}, "leg"),
        ({"record": ("contact",)}, "differs in size"),
        ({"control": np.zeros((3, 2))}, "control must be a function of the batch"),
    ],
)
def test_what_cannot_be_asked_for(options, message):
    with pytest.raises(OptionError, match=message):
        arms().run(0.1, **options)
