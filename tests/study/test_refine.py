"""Runs that gather where it matters, against closed forms.

Laws: a point pendulum of length l, pushed with speed v at its lowest place, goes over the top if v > 2 sqrt(g l), and
else turns at cos θ = 1 - v²/(2 g l). A sine is greatest at a right angle. A sphere is a level of the distance from its
centre.
"""

import math

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.study.cells import Cells
from saltus.study.refine import refine

G, LENGTH = 9.81, 1.0
SPEED, MASS = "qvel[hinge]", "body_mass[bob]"
PENDULUM = """<mujoco><option gravity="0 0 -9.81" timestep="0.005" integrator="RK4"/>
<worldbody><body name="bob"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -1" mass="1" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody></mujoco>"""


def over_the_top(run):
    return float(abs(run.qpos[:, 0]).max() > math.pi)


@pytest.fixture(scope="module")
def border():
    return refine(PENDULUM, {SPEED: (4.0, 9.0)}, over_the_top, 6.0, resolution=1e-3, workers=1, progress=False)


def test_the_border_of_going_over_the_top(border):
    """Between two neighbours that are as near as promised, by bisection: some 10 runs where a grid has 1000."""
    speeds = np.array([point[SPEED] for point in border.points])
    assert (np.diff(speeds) > 0).all() and len(border) < 30
    gone = border["over_the_top"] == 1.0
    first = int(np.argmax(gone))
    assert not gone[:first].any() and gone[first:].all()
    # near the top it stays for long: within 1e-3 of the speed it needs less than 6 s
    assert speeds[first - 1] <= 2 * math.sqrt(G * LENGTH) + 5e-3 and speeds[first] >= 2 * math.sqrt(G * LENGTH)
    assert speeds[first] - speeds[first - 1] <= 5.0 * 1e-3


def test_a_level_is_crossed_where_the_closed_form_says():
    """The speed with which it turns at a right angle, sqrt(2 g l)."""
    found = refine(
        PENDULUM,
        {SPEED: (1.0, 6.0)},
        "qpos[hinge].max",
        2.0,
        level=math.pi / 2,
        resolution=1e-3,
        workers=1,
        sample=0.005,
    )
    speeds = np.array([point[SPEED] for point in found.points])
    above = found["qpos[hinge].max"] >= math.pi / 2
    first = int(np.argmax(above))
    expected = math.sqrt(2 * G * LENGTH)
    # samples miss the turning by less than g h²/8, which the speed makes up for by far less than the resolution
    assert speeds[first - 1] <= expected + 1e-4 and expected - 1e-4 <= speeds[first]
    assert speeds[first] - speeds[first - 1] <= 5e-3 and len(found) < 30


def test_a_border_in_two_dimensions_is_followed_on_its_whole_length():
    """The bundled point pendulum starts level, at π/2, and goes over the top if its speed v0/l is above sqrt(2 g/l).

    With steps of 0.01 s RK4 errs by far less than the distance of any of the points from the border, and ten seconds
    are enough to rise from all of them.
    """
    speed, length = "qvel[theta]", "body_ipos[pendulum][2]"
    ranges, deepest = {speed: (3.0, 6.0), length: (-3.0, -1.0)}, 6
    arguments = {"level": math.pi, "runs": 600, "resolution": 2.0**-deepest, "integrator": "rk4", "timestep": 0.01}
    found = refine("pendulum", ranges, "qpos[theta].max", 10.0, workers=1, progress=False, **arguments)
    points = np.array([[point[speed], point[length]] for point in found.points])
    over = points[:, 0] > np.sqrt(2 * G / -points[:, 1])
    np.testing.assert_array_equal(found["qpos[theta].max"] >= math.pi, over)
    assert len(found) < (2**deepest + 1) ** 2 / 10 and found.title.endswith(f"to 1/{2**deepest} of the ranges")
    lengths = np.linspace(1.0, 2 * G / 3.0**2, 200)[:-1]  # where the border is in the ranges
    border = np.column_stack([np.sqrt(2 * G / lengths), -lengths])
    away = np.abs((points[None] - border[:, None]) / [3.0, 2.0]).max(axis=2).min(axis=1)
    assert away.max() <= 2.0**-deepest


def test_a_ball_is_thrown_farthest_at_45_degrees():
    """Without drag, with a speed of at most V, it flies 2 vx vz/g <= V²/g, as far only if vx = vz.

    The point of the finest grid next below the optimum (v, v) flies at least 2 (v - h)²/g, so that the best one is at
    most 4 v h/g short; with sin 2a = 1 - 4 v h/V² its angle is off by at most sqrt(2 v h)/V, to first order.
    """
    ball = """<mujoco><option gravity="0 0 -9.81" timestep="0.01" integrator="RK4"/><worldbody><body>
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom size="0.05" mass="1"/></body></worldbody></mujoco>"""
    most = 10.0

    def flown(run):
        """Where it comes down, of those that are thrown no faster than allowed."""
        x, z = run.qpos.T
        if math.hypot(*run.qvel[0]) > most or (z[1:] > 0).all():
            return 0.0
        k = int(np.argmax(z[1:] <= 0))  # the last sample before, in which it moves on in a parabola
        vx, vz = run.qvel[k]
        return x[k] + vx * (vz + math.sqrt(vz**2 + 2 * G * z[k])) / G

    h, v = 12.0 * 2.0**-7, most / math.sqrt(2)
    ranges = {"qvel[x]": (0.0, 12.0), "qvel[z]": (0.0, 12.0)}
    arguments = {"goal": "max", "runs": 400, "resolution": 2.0**-7, "sample": 0.01, "workers": 1, "progress": False}
    found = refine(ball, ranges, {"flown": flown}, 2.5, **arguments)
    best = int(np.argmax(found["flown"]))
    vx, vz = found.points[best].values()
    assert math.isclose(found["flown"][best], 2 * vx * vz / G, rel_tol=1e-9)
    assert most**2 / G - 4 * v * h / G <= found["flown"][best] <= most**2 / G * (1 + 1e-9)
    assert abs(math.atan2(vz, vx) - math.pi / 4) <= 1.1 * math.sqrt(2 * v * h) / most
    assert found.title.endswith("flown at its greatest, to 1/128 of the ranges") and len(found) < 400


def test_a_level_that_is_not_crossed_is_said():
    with pytest.warns(saltus.SaltusWarning, match=r"qpos\[hinge\].max does not cross 9 between the points"):
        found = refine(PENDULUM, {SPEED: (1.0, 2.0)}, "qpos[hinge].max", 0.5, level=9.0, workers=1, progress=False)
    assert len(found) == 9
    with pytest.warns(saltus.SaltusWarning, match="qpos\\[hinge\\].initial does not change"):
        refine(PENDULUM, {SPEED: (1.0, 2.0)}, "qpos[hinge].initial", 0.1, workers=1, progress=False)


def function_of_cells(cells, f, rounds, most=10**6):
    """Values at all points that the cells ask for, round after round."""
    points = cells.first()
    for _ in range(rounds):
        cells.values |= {p: f(*(k / 2**40 for k in p)) for p in points}
        points = cells.next(most)
        if not points:
            break
    return cells


def test_the_greatest_value_is_found():
    """The top of a sine that is at no point of the first grid, as near as promised."""
    cells = function_of_cells(Cells(1, 2, 10, None, "max"), lambda x: math.sin(math.pi * (x + 0.037)), 60)
    best = max(cells.values, key=cells.values.get)[0] / 2**40
    assert abs(best - (0.5 - 0.037)) <= 2.0**-10 and len(cells.values) < 200


def test_a_circle_is_followed_all_the_way_round():
    """A border that the first grid meets is there at the resolution on its whole length, in 2 and 3 dimensions."""
    for d, deepest, most in ((2, 7, 4000), (3, 6, 60000)):
        cells = function_of_cells(Cells(d, 2, deepest, 0.3, "edges"), lambda *x: math.dist(x, (0.5,) * len(x)), 30)
        n = 2**deepest
        grid = 2.0**-deepest
        assert len(cells.values) < most < (n + 1) ** d
        rng = np.random.default_rng(0)
        ways = rng.normal(size=(200, d))
        surface = 0.5 + 0.3 * ways / np.linalg.norm(ways, axis=1)[:, None]
        known = np.array(list(cells.values)) / 2**40
        for place in surface:  # the nearest known point is at a corner of the narrowest box around it
            assert np.abs(known - place).max(axis=1).min() <= grid


def test_the_same_points_for_any_number_of_workers_and_after_resuming(tmp_path, border):
    arguments = {"measures": "qpos[hinge].max", "duration": 2.0, "level": 1.0, "progress": False}
    ranges = {SPEED: (1.0, 6.0)}
    whole = refine(PENDULUM, ranges, workers=1, runs=20, save=tmp_path / "s.json", **arguments)
    refine(PENDULUM, ranges, workers=1, runs=12, save=tmp_path / "t.json", **arguments)
    again = refine(PENDULUM, ranges, workers=1, runs=20, save=tmp_path / "t.json", **arguments)
    assert again.points == whole.points
    np.testing.assert_array_equal(again.values, whole.values)


@pytest.mark.slow
def test_processes_make_the_same_runs():
    arguments = {"measures": "qpos[hinge].max", "duration": 2.0, "goal": "edges", "runs": 24, "progress": False}
    here, there = (refine(PENDULUM, {SPEED: (1.0, 9.0)}, workers=k, **arguments) for k in (1, 2))
    assert here.points == there.points
    np.testing.assert_array_equal(here.values, there.values)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ranges": {}}, "one to 4 paths, got 0"),
        ({"ranges": {SPEED: (2.0, 1.0)}}, "the smaller one first"),
        ({"ranges": {SPEED: 3.0}}, "expected its least and its greatest value"),
        ({"level": 1.0, "goal": "max"}, "a level or a goal"),
        ({"goal": "best"}, "unknown goal 'best'"),
        ({"resolution": 0.0}, "resolution must be a share"),
        ({"start": 3}, "power of two"),
        ({"runs": 4}, "fewer than the 9 of the first grid"),
        ({"save": "s.zarr"}, r"save a refinement in a \.json file"),
    ],
)
def test_what_cannot_be(changes, said):
    arguments = {"ranges": {SPEED: (1.0, 6.0)}, "measures": "qpos[hinge].max", "duration": 0.1, "workers": 1} | changes
    with pytest.raises(OptionError, match=said):
        refine(PENDULUM, arguments.pop("ranges"), arguments.pop("measures"), **arguments)


def test_it_is_public():
    assert saltus.refine is refine
