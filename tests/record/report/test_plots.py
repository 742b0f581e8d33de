"""Curves of a report. Reference: the recording."""

import numpy as np
from helpers.report_pages import Page, written

import saltus
from saltus.record import Trajectory
from saltus.record.report.plots import thinned


def test_contacts_are_drawn_as_bars(tmp_path):
    t = saltus.Simulation("bouncing_ball").run(1.0, sample=0.01)
    assert t.contact_state.any()
    page = Page(written(t, tmp_path, video=False))
    assert "Contacts" in page.text


def test_modes_of_contacts_are_drawn_as_bars(tmp_path):
    mode = np.array([[0, 0], [1, 0], [2, 0], [2, 0]])
    points = {"contact_state": mode > 0, "contact_force": np.zeros((4, 2, 3)), "contact_pos": np.zeros((4, 2, 3))}
    names = {"contact": ["floor foot", "floor hand"]}
    t = Trajectory(np.arange(4.0), np.zeros((4, 1)), np.zeros((4, 1)), contact_mode=mode, names=names, **points)
    content = written(t, tmp_path)
    assert "Contacts" in Page(content).text
    assert "#0072b2" in content.lower() and "#e69f00" in content.lower()  # sticking and slipping


def test_long_recordings_are_thinned():
    count = 50_000
    t = Trajectory(np.arange(count), np.zeros((count, 1)), np.zeros((count, 1)), names={"qpos": ["a"]})
    few = thinned(t)
    assert 10_000 < len(few) <= 20_000 and few.names["qpos"] == ["a"] and few.time[1] == 3
    assert thinned(few) is few
