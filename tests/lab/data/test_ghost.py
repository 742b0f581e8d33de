"""Ghosts are runs of their own. Reference: the same run alone."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.colours import BLIND, cielab, contrast
from helpers.lab import alone, assert_same_state, do, notices, pendulum, run, seen, session_of

import saltus
from saltus import lab
from saltus.lab.data.ghost import COLORS


def test_ghosts_are_runs_of_their_own():
    """Each equals a simulation under its integrator by itself, from the moment on when they appear."""
    session = pendulum(ghosts=("explicit_euler", "rk4"))
    nothing = seen(session)
    assert np.isnan(nothing["bodies"][1:]).all() and np.isnan(nothing["energy"][1:]).all()
    run(session, 1.0)
    do(session, "ghosts", on=True)
    run(session, 2.0)
    start, frame = alone(session, 20), session.frame()
    assert frame is not None
    for k, name in enumerate(("explicit_euler", "rk4")):
        by_itself = saltus.Simulation("pendulum", name, timestep=0.05)
        by_itself.time, by_itself.qpos, by_itself.qvel = start.time, start.qpos, start.qvel
        by_itself.step(40)
        assert_same_state(session.motion.ghosts[k].sim, by_itself)
        np.testing.assert_allclose(frame.ghost_energy[k], by_itself.energy())
    do(session, "ghosts", on=False)
    assert np.isnan(seen(session)["bodies"][1:]).all()


def test_a_ghost_that_diverges_leaves():
    session = pendulum(ghosts=("explicit_euler", "rk4"))
    do(session, "ghosts", on=True)
    ghost = session.motion.ghosts[0]
    ghost.sim.qvel[:] = 2e10
    run(session, 0.2)
    (text,) = notices(session)
    assert text.startswith("The ghost explicit_euler was removed: diverged") and session.playing
    frame = seen(session)
    assert np.isnan(frame["bodies"][1]).all() and np.isfinite(frame["bodies"][2]).all()
    do(session, "reset", key=None)  # it comes back
    run(session, 0.2)
    assert np.isfinite(seen(session)["bodies"]).all()


@pytest.mark.slow
def test_ghosts_under_hard_contact():
    session = session_of("bouncing_ball", contact="hard", integrator="dopri5", ghosts=("rk4",))
    do(session, "ghosts", on=True)
    run(session, 1.0)
    (ghost,) = session.motion.ghosts
    assert ghost.alive and ghost.sim.contact == "hard"
    np.testing.assert_allclose(ghost.sim.qpos, session.sim.qpos, atol=1e-9)  # on the floor, both


def test_colours_are_told_apart_and_seen_on_light_and_dark_pages():
    """Each pair differs by ten times what a trained eye just tells apart, for every kind of colour-blindness.

    Lines have a contrast of three to the page in both colour schemes (Web Content Accessibility Guidelines, 1.4.11).
    """
    style = (Path(lab.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    pages = re.findall(r"--panel: (#[0-9a-f]{6});", style)
    assert len(pages) == 2
    assert all(contrast(colour, page) >= 3 for colour in COLORS for page in pages)
    for cones in (np.eye(3), *map(np.array, BLIND.values())):
        places = [cielab(colour, cones) for colour in COLORS]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)) > 23


def test_texts_of_the_page_have_contrast():
    """At least 4.5 to the panel, in both colour schemes (Web Content Accessibility Guidelines, 1.4.3)."""
    style = (Path(lab.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    light, dark = style.split("prefers-color-scheme: dark", 1)
    for part in (light, dark[:900]):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", part))
        assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
        for name in ("text", "quiet", "accent", "main", "kinetic", "potential", "warning", "error"):
            assert contrast(colours[name], colours["panel"]) >= 4.5, name
