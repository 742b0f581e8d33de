"""What was appended comes out, whatever the room reserved and whenever the run ends."""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record import TrajectoryBuilder


def fill(builder, count):
    rng = np.random.default_rng(0)
    rows = [(0.1 * i, *(rng.normal(size=n) for n in (3, 2, 1, 1, 2)), rng.random(4) < 0.5) for i in range(count)]
    for row in rows:
        builder.append(*row)
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("expected", [0, 1, 4, 17, 100])
def test_all_samples_come_out_whatever_was_expected(expected):
    builder = TrajectoryBuilder(3, 2, 1, 1, ncontact=4, expected=expected)
    columns = fill(builder, 17)
    t = builder.finish()
    assert len(builder) == len(t) == 17
    for got, wanted in zip((t.time, t.qpos, t.qvel, t.act, t.ctrl, t.energy, t.contact_state), columns, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_finish_without_samples():
    t = TrajectoryBuilder(3, 2).finish()
    assert len(t) == 0
    assert t.qpos.shape == (0, 3)
    assert t.energy.shape == (0, 2)


def test_finish_hands_out_copies_and_recording_goes_on():
    builder = TrajectoryBuilder(1, 1, expected=8)
    builder.append(0.0, [1.0], [2.0])
    early = builder.finish()
    builder.append(0.1, [3.0], [4.0])
    early.qpos[0] = 9.0
    late = builder.finish()
    assert len(early) == 1
    np.testing.assert_array_equal(late.qpos, [[1.0], [3.0]])
    assert np.isnan(late.energy).all()


def test_a_sample_is_copied_when_appended():
    builder, state = TrajectoryBuilder(1, 1), np.array([1.0])
    builder.append(0.0, state, state)
    state[0] = 5.0
    assert builder.finish().qpos[0, 0] == 1.0


def test_an_interrupted_sample_does_not_count():
    class Interrupting:
        def __array__(self, dtype=None, copy=None):
            raise KeyboardInterrupt

    builder = TrajectoryBuilder(1, 1, expected=1)
    builder.append(0.0, [1.0], [2.0])
    with pytest.raises(KeyboardInterrupt):
        builder.append(0.1, [3.0], Interrupting())
    t = builder.finish()
    np.testing.assert_array_equal(t.time, [0.0])
    builder.append(0.1, [3.0], [4.0])
    np.testing.assert_array_equal(builder.finish().qvel, [[2.0], [4.0]])


def test_labels_attributes_and_events_reach_the_trajectory():
    builder = TrajectoryBuilder(
        1, 1, names={"qpos": ["hinge"]}, units={"qpos": ["rad"]}, attrs={"integrator": "rk4"}, expected=2
    )
    builder.append(0.0, [1.0], [2.0])
    builder.event(0.05, "impact")
    builder.attrs["stopped"] = "interrupted"
    t = builder.finish()
    assert t.names["qpos"] == ["hinge"]
    assert t.units["qpos"] == ["rad"]
    assert t.attrs == {"integrator": "rk4", "stopped": "interrupted"}
    assert t.events.tolist() == [(0.05, "impact")]


def test_negative_size_is_named():
    with pytest.raises(OptionError, match="nv cannot have a negative size"):
        TrajectoryBuilder(1, -1)


def test_a_sample_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="broadcast"):
        TrajectoryBuilder(3, 2).append(0.0, np.zeros(4), np.zeros(2))
