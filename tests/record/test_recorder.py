"""What was appended comes out, whatever the room reserved and whenever the run ends."""

import numpy as np
import pytest

from saltus.errors import OptionError
from saltus.record import EVENT_DTYPE, TrajectoryBuilder


def fill(builder, count):
    rng = np.random.default_rng(0)
    rows = [(0.1 * i, *(rng.normal(size=n) for n in (3, 2, 1, 1, 2)), rng.random(4) < 0.5) for i in range(count)]
    for row in rows:
        builder.append(*row)
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("expected", [0, 1, 4, 17, 100])
def test_all_samples_come_out_whatever_was_expected(expected):
    builder = TrajectoryBuilder(3, 2, na=1, nu=1, ncontact=4, expected=expected)
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
    assert t.events[["time", "kind"]].tolist() == [(0.05, "impact")]


def test_negative_size_is_named():
    with pytest.raises(OptionError, match="nv cannot have a negative size"):
        TrajectoryBuilder(1, -1)


def test_a_sample_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="broadcast"):
        TrajectoryBuilder(3, 2).append(0.0, np.zeros(4), np.zeros(2))


def test_contact_points_and_actuation_come_out():
    rng = np.random.default_rng(0)
    builder = TrajectoryBuilder(1, 1, ncontact=3, npoint=3, nactuation=2, expected=1)
    modes, forces, places, states = rng.integers(0, 3, (7, 3)), *rng.normal(size=(2, 7, 3, 3)), rng.normal(size=(7, 2))
    for k in range(7):
        hybrid = {"contact_mode": modes[k], "contact_force": forces[k], "contact_pos": places[k]}
        builder.append(k, [0], [0], contact_state=modes[k] > 0, actuation_state=states[k], **hybrid)
    builder.end(time=7.5, contact_mode=modes[0], contact_force=forces[1], contact_pos=places[2])
    t = builder.finish()
    assert t.contact_mode.dtype == np.int8
    for got, wanted in zip(
        (t.contact_mode, t.contact_force, t.contact_pos, t.actuation_state),
        (modes, forces, places, states),
        strict=True,
    ):
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(t.end["contact_mode"], modes[0])
    np.testing.assert_array_equal(t.end["contact_force"], forces[1])
    assert np.isnan(t.end["actuation_state"]).all()  # was not given


def test_without_samples_there_are_still_contact_points():
    builder = TrajectoryBuilder(1, 1, ncontact=3, npoint=3)
    assert builder.finish().contact_force.shape == (0, 3, 3)


def test_many_events_at_once_and_one_by_one():
    builder = TrajectoryBuilder(1, 1)
    builder.event(0.1, "impact", "ball", "floor", gap=-1e-14, velocity=-2.0, impulse=(3.0, 0.0, 0.0), energy_before=5.0)
    block = np.zeros(1000, EVENT_DTYPE)
    block["time"], block["kind"] = np.arange(1000), "slip"
    builder.events(block)
    builder.event(2000.0, "liftoff", "ball")
    builder.events(np.array([(3000.0, "user")], [("time", "f8"), ("kind", "U8")]))
    events = builder.finish().events
    assert events.dtype == EVENT_DTYPE and len(events) == 1003
    assert events["kind"][[0, 1, 1000, 1001, 1002]].tolist() == ["impact", "slip", "slip", "liftoff", "user"]
    first, last = events[0], events[-1]
    assert (first["name"], first["other"], first["gap"], first["velocity"]) == ("ball", "floor", -1e-14, -2.0)
    assert first["impulse"].tolist() == [3.0, 0.0, 0.0] and first["energy_before"] == 5.0
    assert np.isnan([first["energy_after"], last["gap"], *last["impulse"]]).all() and last["name"] == ""
