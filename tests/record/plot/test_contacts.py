"""Events and modes of contacts in figures. Reference: the recording that is drawn."""

import numpy as np
import pytest
from helpers.plotted import hybrid, legend, many_events, recorded

pytest.importorskip("matplotlib")


def test_events_are_marked_and_explained():
    events = np.array([(0.25, "impact"), (0.5, "liftoff")], dtype=[("time", "f8"), ("kind", "U16")])
    positions, _, energies = recorded(events=events).plot().axes
    assert [np.ravel(line.get_xdata())[0] for line in positions.lines[2:]] == [0.25, 0.5]
    assert legend(energies)[-1] == "2 events"


@pytest.mark.parametrize("count", [61, 2000, 100_000])
def test_many_events_are_ticks_that_hide_no_curve(count):
    """Ticks reach over a twentieth of the panel, and no more of them than can be told apart."""
    figure = recorded(events=many_events(count)).plot()
    positions = figure.axes[0]
    assert len(positions.lines) == 2
    (ticks,) = positions.collections
    heights = np.array([segment[:, 1] for segment in ticks.get_segments()])
    assert heights.max() <= 0.05 and len(heights) <= min(count, 1502)
    assert legend(figure.axes[2])[-1] == f"{count} events"


def test_modes_of_contacts_are_a_strip():
    figure = hybrid().plot()
    strip = figure.axes[3]
    assert [text.get_text() for text in strip.get_yticklabels()] == ["floor heel", "floor toe"]
    assert legend(strip) == ["sticking", "slipping", "impact"]
    spans = [collection.get_paths()[0].get_extents().intervalx for collection in strip.collections]
    np.testing.assert_allclose(spans, [[10 / 30, 20 / 30], [20 / 30, 25 / 30]])
    hits = [line for line in strip.lines if line.get_marker() == "d"]
    assert [(list(line.get_xdata()), set(line.get_ydata())) for line in hits] == [([0.1], {0}), ([0.2, 0.7], {1})]
    assert strip.get_xlabel() == "time (s)" and figure.axes[2].get_xlabel() == ""
    assert len(recorded(contact_state=np.ones((30, 1))).plot().axes) == 3  # soft contact has no modes


def test_a_strip_has_so_many_rows_at_most():
    mode = np.ones((31, 40), int)
    points = {"contact_force": np.zeros((31, 40, 3)), "contact_pos": np.zeros((31, 40, 3)), "names": {}}
    strip = hybrid(contact_state=mode, contact_mode=mode, **points).plot().axes[3]
    assert len(strip.get_yticklabels()) == 24
