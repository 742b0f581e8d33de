"""Settling: bodies come to rest under located hard contact, though their impacts are without end.

Laws: Signorini, Coulomb, Newton's restitution at impacts. References: a rocking block's impacts shrink by Housner's
ratio 1 - 3/2 sin² α, so that infinitely many are over at a time that quadrature of the nonlinear equation gives to
twenty digits (`hard_scenes.rocking_times`); a body at rest is carried with its weight; nothing is below the floor.

Tolerances:
- times: the integrator's local error is 1e-8 relative, and about a hundred steps follow one another: 1e-6;
- rest: slower than a bounce of `bounce_height` (1e-8 m), √(2 g h) = 4.4e-4 m/s, below which contacts close;
- depth: positions are put back to `gap_tolerance` (1e-10 m) after each step, and samples inside one have the error of
  dense output, 1e-8 of 1 m with a factor below ten: 1e-7; more where the run goes over to time stepping
  (`hard_scenes.depth_of_steps`);
- energy: never grows, but for the integrator's error of 1e-8 in each of at most a thousand steps: 1e-5 of the energy in
  play. Time stepping is of first order: h times the fastest rate, 20 1/s.
"""

import math
import warnings

import numpy as np
import pytest
from helpers import hard_scenes as scenes
from helpers.hard_layout import share_layout
from numpy.testing import assert_allclose

from saltus.errors import SaltusWarning
from saltus.record.table.certificate import energy_in_play

DEEPEST, RATE = 1e-7, 20.0


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """All scenes need the same kernels."""
    share_layout(monkeypatch)


def outcome(scene):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaltusWarning)  # of forces that are found to a lesser tolerance
        return scene.measured()


def steps_in_time(found):
    """The step of time stepping, s, if the run went over to it; else 0."""
    return found.sim.timestep if len(found.at("dense")) else 0.0


def check_rest_and_depth(found):
    scene, h = found.scene, steps_in_time(found)
    assert scenes.fastest(found.sim) < found.scene.still
    allowed = DEEPEST + scenes.depth_of_steps(found.sim.model, found.recordings, h)
    assert scenes.deepest(found.sim.model, found.recordings) < allowed
    assert (np.diff(found.events["time"]) >= 0).all()
    assert len(found.events) < scene.events


def check_energy(found):
    h = steps_in_time(found)
    for t in found.recordings:
        scale = energy_in_play(t.energy)
        assert scenes.gained(t) <= max(1e-5, RATE * h) * scale
        assert scenes.gained_at_impacts(t) <= 1e-9 * scale


# ------------------------------------------------------------ bodies that settle


@pytest.mark.parametrize("scene", scenes.settling(), ids=lambda scene: scene.name)
def test_it_comes_to_rest_on_the_floor(scene):
    found = outcome(scene)
    check_rest_and_depth(found)
    check_energy(found)
    last = found.recordings[-1]
    weight = 9.81 * found.sim.model.body_mass.sum()
    points = [k for k, name in enumerate(last.names["contact"]) if "floor" in name.split()]
    assert_allclose(last.contact_force[-1, points, 2].sum(), weight, rtol=1e-9)
    assert scenes.cone_excess(last, scene.friction) < 1e-8 * weight or "stack" in scene.name


def test_a_box_lies_flat_in_the_end():
    found = outcome(scenes.settling()[0])
    up = scenes.rotation(found.sim.qpos[3:7])[2]
    assert_allclose(np.abs(up).max(), 1.0, rtol=1e-12)
    assert_allclose(found.sim.qpos[2], scenes.EDGE / 2, atol=DEEPEST)


def test_a_capsule_lies_on_its_side_and_a_cylinder_stands():
    for k, height, upright in ((3, 0.1, 1.0), (5, 0.1, 0.0)):
        found = outcome(scenes.settling()[k])
        assert_allclose(abs(scenes.rotation(found.sim.qpos[3:7])[2, 2]), upright, atol=1e-6)
        assert_allclose(found.sim.qpos[2], height, atol=DEEPEST)


def test_boxes_stand_on_each_other():
    found = outcome(scenes.three_boxes())
    assert min(scenes.stacked_gap(q) for q in found.recordings[-1].qpos) > -DEEPEST - steps_in_time(found) ** 2
    assert_allclose(found.sim.qpos[2::7], [0.1, 0.3, 0.5], atol=1e-6)


def test_a_rocking_block_rests_when_infinitely_many_impacts_are_over():
    alpha, tilt = scenes.ROCKING
    first, limit = scenes.rocking_times(alpha, tilt, 6)
    found = outcome(scenes.rocking_scene())
    impacts = found.at("impact")
    impacts = impacts[np.diff(impacts, prepend=-np.inf) > 1e-9]  # two corners at once
    assert_allclose(impacts[:6], first, rtol=1e-6)
    assert_allclose(found.events["time"].max(), limit, rtol=1e-6)
    assert_allclose(found.sim.qpos, 0.0, atol=1e-6)


@pytest.mark.parametrize("alpha, tilt", [(0.2, 0.1), (0.5, 0.3), (0.8, 0.4)])
def test_it_rests_in_time_however_slender_it_is(alpha, tilt):
    """Ratios of 0.94, 0.66 and 0.23; at 0.8 the impacts need friction of 0.6 at most."""
    _, limit = scenes.rocking_times(alpha, tilt, 1)
    scene = scenes.rocking_scene(alpha, tilt)
    scene = scenes.lasting(scene, 1.2 * limit)
    found = outcome(scene)
    assert_allclose(found.events["time"].max(), limit, rtol=1e-6)
    assert scenes.fastest(found.sim) < found.scene.still


def test_the_quadrature_of_rocking_is_the_motion():
    """SciPy's DOP853 at 1e-13, from the largest tilt to the impact: θ'' = -p² sin(α - θ)."""
    from scipy.integrate import solve_ivp

    alpha, tilt = scenes.ROCKING
    p2, ratio = 3 * scenes.G / 4, 1 - 1.5 * math.sin(alpha) ** 2
    down = lambda t, y: [y[1], -p2 * math.sin(alpha - y[0])]  # noqa: E731
    touch = lambda t, y: y[0] if t > 1e-3 else 1.0  # noqa: E731
    touch.terminal = True  # type: ignore[attr-defined]
    time, state, found = 0.0, [tilt, 0.0], []
    for _ in range(4):
        fall = solve_ivp(down, (0.0, 5.0), state, "DOP853", events=touch, rtol=1e-13, atol=1e-15)
        time += fall.t[-1]
        found.append(time)
        state = [0.0, -ratio * fall.y[1, -1]]
    assert_allclose(found, scenes.rocking_times(alpha, tilt, 4)[0], rtol=1e-10)


# ------------------------------------------------------------ the humanoid


def check_humanoid(scene):
    """It lies still: slower than 2 cm/s, since damped joints creep."""
    found = outcome(scene)
    assert scenes.fastest(found.sim) < scene.still
    allowed = 1e-6 + scenes.depth_of_steps(found.sim.model, found.recordings, steps_in_time(found))
    assert scenes.deepest(found.sim.model, found.recordings) < allowed
    assert (np.diff(found.events["time"]) >= 0).all()


@pytest.mark.parametrize("scene", [scenes.pushed_humanoid(0), scenes.pushed_humanoid(150)], ids=lambda s: s.name)
def test_a_pushed_humanoid_falls_and_lies(scene):
    check_humanoid(scene)


def test_a_dropped_humanoid_lies():
    check_humanoid(scenes.dropped_humanoid(0))


@pytest.mark.slow
@pytest.mark.parametrize("scene", scenes.humanoids(), ids=lambda s: s.name)
def test_humanoids_come_to_rest(scene):
    check_humanoid(scene)


# ------------------------------------------------------------ the man who stands up


@pytest.mark.slow
def test_a_man_stands_up_without_chatter():
    """Six points touch, twice each at most, with their slips, and two changes of phase: fewer than fifty events."""
    found = outcome(scenes.rising_man())
    assert len(found.events) < 50
    assert found.events["time"].max() < 3.0
    assert (np.diff(found.events["time"]) >= 0).all()


# ------------------------------------------------------------ the log


def test_the_limit_of_impacts_comes_after_them():
    """A ball of e = 0.5 from 0.1 m: "zeno" is at t1 (1 + e)/(1 - e), and no impact of it later."""
    xml = scenes.scene_xml(scenes.solid("sphere", (0.1,), 1.0), 0.5)
    scene = scenes.Scene("ball", xml, scenes.saltus.Hard(restitution=0.5), 1.0, (0, 0, 0.2, 1, 0, 0, 0))
    found = outcome(scene)
    kinds, times = found.events["kind"].tolist(), found.events["time"]
    assert (np.diff(times) >= 0).all()
    last = max(k for k, kind in enumerate(kinds) if kind == "impact")
    assert kinds.count("zeno") == 1 and kinds.index("zeno") > last
    assert_allclose(times[kinds.index("zeno")], 3 * math.sqrt(0.2 / 9.81), rtol=1e-9)
