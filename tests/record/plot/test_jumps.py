"""Curves that end where velocities jump. Reference: a ball that bounces in closed form."""

import numpy as np
from helpers.plotted import bouncing, many_events

from saltus.record import EVENT_DTYPE
from saltus.record.plot.jumps import with_jumps


def test_jumps_without_number_leave_something_to_see():
    _, t = bouncing()
    time, table = with_jumps(t.time, t.qvel, many_events(1000))
    assert np.isnan(table).sum() == len(t) - 1
    drawn = ~np.isnan(table[:, 0])
    assert np.all(np.diff(time) >= 0) and np.all(np.diff(np.flatnonzero(~drawn)) == 4)


def test_a_ball_has_the_velocities_of_its_impact():
    """v = -g t up to the impact at t = 1/3, e g/3 - g (t - 1/3) from it on: straight lines, exact but for rounding."""
    g, e, when = 9.81, 0.5, 1.0 / 3.0
    time = np.linspace(0.0, 1.0, 11)
    v = np.where(time < when, -g * time, e * g * when - g * (time - when))
    events = np.zeros(2, EVENT_DTYPE)
    events["time"], events["kind"] = (when, 0.72), ("impact", "slip")
    long, table = with_jumps(time, v[:, None], events)
    (gap,) = np.flatnonzero(np.isnan(table[:, 0]))
    np.testing.assert_allclose(long[gap - 1 : gap + 2], when, rtol=1e-15)
    np.testing.assert_allclose(table[[gap - 1, gap + 1], 0], [-g * when, e * g * when], rtol=1e-13)
    np.testing.assert_array_equal(np.delete(table[:, 0], [gap - 1, gap, gap + 1]), v)
