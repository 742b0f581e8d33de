"""Bodies on height fields under located hard contact.

Laws: on a flat field every shape rests at its half height, and slides without friction in a straight line at constant
velocity, over however many cells. On a field that is a slope, a box slides without friction with g sin θ, and a ball
rolls with 5/7 g sin θ. Without friction and with restitution 1 bounces conserve the energy. A ball in a valley rests on
both of its slopes: by symmetry each carries m g / (2 cos θ). Sources: Newton's laws; Goldstein, Classical Mechanics.

Tolerance: located contact is exact but for gaps of 1e-10 m and rounding, 1e-9 m over the paths of metres here; heights
and vertices of meshes, which MuJoCo keeps in single precision, are sums of powers of two. The energy of what turns
follows from paths with the integrator's local error, 1e-8 relative: 1e-6.
"""

import math

import numpy as np
import pytest
from helpers.hard_layout import share_layout
from helpers.height_fields import SHAPES, G, flat, half_height, hills, scene
from helpers.selves.exact import Area, plain
from numpy.testing import assert_allclose

import saltus
from saltus.contact.event.field_points import FACE, POINT_NUMBERS, POINTS_AREA, add_point, is_outside
from saltus.model.contact.pair_table import MOST_OF_PAIR


@pytest.fixture(autouse=True)
def one_layout(monkeypatch):
    """All shapes need the same kernels."""
    share_layout(monkeypatch, "field", "foreign")


@pytest.mark.parametrize("shape", SHAPES)
def test_rests_on_a_flat_field(shape):
    sim = saltus.Simulation(scene(flat(), SHAPES[shape], (0.11, 0.07, 0.15)), contact="hard")
    sim.run(0.5, sample=0.5)
    assert_allclose(sim.qpos, [0.11, 0.07, half_height(shape), *sim.model.qpos0[3:]], atol=1e-9)
    assert_allclose(sim.qvel, 0.0, atol=1e-9)
    assert_allclose(sim.data.qfrc_constraint[2], G, rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_cells_of_a_flat_field_leave_no_trace(shape):
    """0.9 m over a dozen seams at all angles."""
    sim = saltus.Simulation(scene(flat(), SHAPES[shape], (-0.6, -0.3, half_height(shape))), contact="hard")
    sim.qvel[:2] = 0.8, 0.37
    trajectory = sim.run(1.0, sample=1.0)
    assert_allclose(sim.qpos[:3], [0.2, 0.07, half_height(shape)], atol=1e-9)
    assert_allclose(sim.qvel, [0.8, 0.37, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    assert len(trajectory.events) == 0


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_a_slope_of_many_cells(shape):
    """Rise 1/4: heights are powers of two, and the field is a plane to the last bit."""
    slope, x = 0.25, 0.7
    angle = math.atan(slope)
    heights = np.tile(np.linspace(0.0, 1.0, 9), (9, 1))
    rolls = shape == "sphere"
    sim = saltus.Simulation(scene(heights, SHAPES[shape], (0, 0, 0), friction=float(rolls)), contact="hard")
    start = np.array([x, 0.013, slope * (x + 1.0) + 0.1 / math.cos(angle)])
    sim.qpos[:3] = start
    if not rolls:
        sim.qpos[3:] = [math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0]
    sim.run(0.5, sample=0.5)
    path = 0.5 * (5 / 7 if rolls else 1.0) * G * math.sin(angle) * 0.5**2
    assert_allclose(sim.qpos[:3], start - path * np.array([math.cos(angle), 0.0, math.sin(angle)]), atol=1e-9)


@pytest.mark.parametrize("shape", ["capsule", "box", "cylinder", "mesh"])
def test_bounces_on_hills_conserve_energy(shape):
    scenery = scene(hills(), SHAPES[shape], (0.05, 0.1, 0.5), height=0.3)
    sim = saltus.Simulation(scenery, contact=saltus.Hard(restitution=1.0))
    energy = [sim.energy().sum()]
    for _ in range(30):
        sim.step(10)
        energy.append(sim.energy().sum())
    assert (sim.events["kind"] == "impact").sum() >= 2
    assert_allclose(energy, energy[0], rtol=1e-6)


@pytest.mark.parametrize("shape", ["ellipsoid", "cylinder"])
def test_what_comes_down_hills_gains_no_energy(shape):
    """Over ridges and through valleys, where points end and others begin; rough phases of 1 ms steps gain 1e-5."""
    scenery = scene(hills(), SHAPES[shape], (0.05, 0.1, 0.5), friction=0.6, height=0.3)
    sim = saltus.Simulation(scenery, contact="hard")
    energy = [sim.energy().sum()]
    for _ in range(60):
        sim.step(10)
        energy.append(sim.energy().sum())
    assert np.diff(energy).max() < 1e-5 * energy[0]
    assert energy[-1] < 0.7 * energy[0]
    assert sim.qpos[2] > 0.0


def test_a_ball_in_a_valley():
    """It falls onto one slope, and comes to rest on both, which carry m g / (2 cos θ) each."""
    heights = np.tile(np.abs(np.linspace(-1.0, 1.0, 9)), (9, 1))
    sim = saltus.Simulation(scene(heights, SHAPES["sphere"], (0.02, 0.013, 0.2)), contact="hard")
    sim.run(1.0, sample=1.0)
    angle = math.atan(0.5)
    assert_allclose(sim.qpos[[0, 2]], [0.0, 0.1 / math.cos(angle)], atol=1e-8)
    trajectory = sim.run(0.01)
    force = np.linalg.norm(trajectory.contact_force[-1], axis=1)
    assert_allclose(np.sort(force)[-2:], G / (2 * math.cos(angle)), rtol=1e-8)


# ---------------------------------------------------------------- the list of points


def points_of(area, count):
    """The points of a list: (distance, position, normal, number)."""
    numbers = [area.get(i) for i in range(POINT_NUMBERS * count)]
    rows = [numbers[i : i + POINT_NUMBERS] for i in range(0, len(numbers), POINT_NUMBERS)]
    return [(x[0], tuple(x[1:4]), tuple(x[4:7]), x[7]) for x in rows]


def test_a_full_list_keeps_the_nearest_points():
    rng, add, area, count = np.random.default_rng(0), plain(add_point), Area([math.nan] * POINTS_AREA), 0
    distances = rng.permutation(3 * MOST_OF_PAIR) / 7.0
    for k, dist in enumerate(distances):
        count = add(area, count, dist, (0.1 * k, 0.0, 0.0), (0.0, 0.0, 1.0), FACE, 1e-6)
        assert count == min(k + 1, MOST_OF_PAIR)
    found = points_of(area, count)
    assert sorted(x[0] for x in found) == sorted(distances)[:MOST_OF_PAIR]
    for dist, pos, normal, number in found:
        assert pos == (0.1 * list(distances).index(dist), 0.0, 0.0)
        assert normal == (0.0, 0.0, 1.0) and number == FACE


def test_points_of_a_face_are_one_where_they_agree():
    """In place and distance to `same`, in the direction to 1e-6; a feature has one point, its nearest."""
    add, same, up = plain(add_point), 1e-3, (0.0, 0.0, 1.0)
    for dist, pos, normal, more in [
        (0.5 * same, (0.0, 0.0, 0.0), up, 0),
        (-0.5 * same, (0.0, 0.0, 0.0), up, 0),
        (2.0 * same, (0.0, 0.0, 0.0), up, 1),
        (0.0, (0.5 * same, 0.5 * same, 0.5 * same), up, 0),
        (0.0, (1.1 * same, 0.0, 0.0), up, 1),
        (0.0, (0.0, -1.1 * same, 0.0), up, 1),
        (0.0, (0.0, 0.0, 1.1 * same), up, 1),
        (0.0, (0.0, 0.0, 0.0), (0.9e-6, 0.0, 1.0), 0),
        (0.0, (0.0, 0.0, 0.0), (1.1e-6, 0.0, 1.0), 1),
    ]:
        area = Area([math.nan] * POINTS_AREA)
        count = add(area, 0, 0.0, (0.0, 0.0, 0.0), up, FACE, same)
        assert count == 1
        assert add(area, count, dist, pos, normal, FACE, same) == 1 + more, (dist, pos, normal)
    area = Area([math.nan] * POINTS_AREA)
    count = add(area, 0, 0.2, (1.0, 2.0, 3.0), up, 7, same)
    count = add(area, count, 0.3, (4.0, 5.0, 6.0), up, 7, same)
    assert points_of(area, count) == [(0.2, (1.0, 2.0, 3.0), up, 7)]
    count = add(area, count, 0.1, (7.0, 8.0, 9.0), (1.0, 0.0, 0.0), 7, same)
    assert points_of(area, count) == [(0.1, (7.0, 8.0, 9.0), (1.0, 0.0, 0.0), 7)]
    assert add(area, count, 0.4, (7.0, 8.0, 9.0), up, 8, same) == 2


def test_normals_that_leave_the_sides_or_the_base():
    """Half sizes 1 m and 2 m, the base 0.5 m deep; points within 0.01 m of a side or the base are on it."""
    size, leaves, near = (1.0, 2.0, 0.3, 0.5), plain(is_outside), 0.01
    for point, normal, wanted in [
        ((0.995, 0.0, 0.0), (1.0, 0.0, 0.0), True),
        ((0.995, 0.0, 0.0), (-1.0, 0.0, 0.0), False),
        ((-0.995, 0.0, 0.0), (-1.0, 0.0, 0.0), True),
        ((-0.995, 0.0, 0.0), (1.0, 0.0, 0.0), False),
        ((0.985, 0.0, 0.0), (1.0, 0.0, 0.0), False),
        ((0.0, 1.995, 0.0), (0.0, 1.0, 0.0), True),
        ((0.0, 1.995, 0.0), (0.0, -1.0, 0.0), False),
        ((0.0, -1.995, 0.0), (0.0, -1.0, 0.0), True),
        ((0.0, 1.985, 0.0), (0.0, 1.0, 0.0), False),
        ((0.995, 0.0, 0.0), (0.6, 0.0, 0.8), False),
        ((0.995, 0.0, 0.0), (1.0, 0.0, 0.5e-6), True),
        ((0.995, 0.0, 0.0), (1.0, 0.0, 2e-6), False),
        ((0.995, 0.0, 0.0), (0.0, 1.0, 0.0), False),
        ((0.0, 0.0, -0.495), (0.0, 0.0, -1.0), True),
        ((0.0, 0.0, -0.485), (0.0, 0.0, -1.0), False),
        ((0.0, 0.0, -0.495), (1.0, 0.0, 0.0), False),
        ((0.995, 0.0, -0.495), (0.0, 0.6, -0.8), True),
    ]:
        assert bool(leaves(size, point, normal, near)) == wanted, (point, normal)


@pytest.mark.slow
def test_rk4_and_time_stepping_rest_there_too():
    for integrator in ("rk4", "moreau_jean"):
        for shape in ("sphere", "box"):
            sim = saltus.Simulation(scene(flat(2, 2), SHAPES[shape], (0.1, 0.05, 0.3)), integrator, contact="hard")
            sim.run(1.0, sample=1.0)
            assert_allclose(sim.qpos[2], 0.1, atol=1e-4)  # of time stepping, over prisms one by one
