"""The planned motion and its lines.

Reference: the motion of 2 kg under a constant force by Euler's semi-implicit steps, x = F h² n (n + 1) / 2 m.
"""

import numpy as np
import pytest
from helpers.lab import SLIDE

import saltus
from saltus.lab.planning.preview import MOST_POINTS, Preview, ends

SITE = SLIDE.replace('mass="2"/>', 'mass="2" pos="0 0 .2"/><site name="mark" pos="0 0 .5"/>')


def test_paths_of_sites_and_of_centres():
    sim = saltus.Simulation(SITE, "euler")
    preview = Preview(saltus.Simulation(SITE, "euler"), ["mark", "cart"])
    sim.qpos[0], sim.time = 0.3, 0.7
    path = preview.path(sim, np.full((200, 1), 6.0))
    n = np.rint((path.times - 0.7) / 0.01)
    assert n[0] == 0 and n[-1] == 200 and len(n) <= MOST_POINTS + 1
    for p, height in enumerate((0.5, 0.2)):
        np.testing.assert_allclose(path.places[:, p, 0], 0.3 + 6.0 * 1e-4 * n * (n + 1) / 4, rtol=1e-12)
        np.testing.assert_allclose(path.places[:, p, 2], height, rtol=1e-12)
    assert (sim.time, sim.qpos[0]) == (0.7, 0.3)


def test_lines_fade_and_begin_now():
    sim = saltus.Simulation(SITE, "euler")
    path = Preview(saltus.Simulation(SITE, "euler"), ["cart"]).path(sim, np.full((40, 1), 1.0))
    lines = path.drawings(0.0)
    opacities = [line.alpha for line in lines]
    assert opacities == sorted(opacities, reverse=True) and opacities[0] > 0.9 > 0.1 > opacities[-1] > 0
    joined = np.concatenate([lines[0].points, *(line.points[1:] for line in lines[1:])])
    np.testing.assert_array_equal(joined, path.places[:, 0])
    later = path.drawings(0.2051)
    assert later[0].points[0, 0] == path.places[path.times <= 0.2051][-1, 0, 0] and len(later) < len(lines)
    assert path.drawings(1.0) == []


def test_a_motion_that_diverges_is_drawn_as_far_as_it_goes():
    path = Preview(saltus.Simulation(SITE, "euler"), None).path(
        saltus.Simulation(SITE, "euler"), np.array([[1.0], [1e16], [1.0], [1.0]])
    )
    assert 1 < len(path.times) < 5 and np.isfinite(path.places).all()


def test_ends_of_chains():
    model = saltus.load("humanoid")
    names = [model.names("body")[b] for b in ends(model)]
    assert not any(name in names for name in ("torso", "pelvis")) and 1 < len(names) <= 8


def test_unknown_names_are_refused():
    with pytest.raises(saltus.OptionError, match="no site or body 'cartt'; did you mean 'cart'"):
        Preview(saltus.Simulation(SITE, "euler"), ["cartt"])
