"""Ascent of separations, contacts of capsules with boxes and clipped faces by themselves, in plain Python.

Laws: formulas of support functions and matrices in NumPy; differences of separations along great circles; no direction
near a maximum is better; least squares with bounds (SciPy) for nearest points. Tolerances: rounding, and 1e-5 for
second differences.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.plain_python import plain
from helpers.stand_ins import floats, rotation
from scipy.optimize import lsq_linear

from saltus.contact.rigid import box, box_axes, box_faces, support_ascent

NONE = (0.0, 0.0, 0.0)


def unit(a):
    return a / np.linalg.norm(a)


# ---------------------------------------------------------------- separations of an ellipsoid and another body

#: Squares of half axes and half lengths of the second body.
BODIES = {
    "ellipsoid": ([0.09, 0.04, 0.16], [0.0, 0.0, 0.0]),
    "segment": ([0.0, 0.0, 0.0], [0.0, 0.0, 0.5]),
    "box": ([0.0, 0.0, 0.0], [0.3, 0.2, 0.4]),
    "cylinder": ([0.09, 0.09, 0.0], [0.0, 0.0, 0.4]),
}


def shape_of(rng, kind, apart):
    """A shape of the search, and its numbers for NumPy."""
    turn, size = rotation(rng), rng.uniform(0.15, 0.5, 3)
    Q = turn @ np.diag(size**2) @ turn.T
    c = apart * unit(rng.normal(size=3))
    disc, half = (np.array(x) for x in BODIES[kind])
    six = Q[0, 0], Q[1, 1], Q[2, 2], Q[0, 1], Q[0, 2], Q[1, 2]
    return (floats(c), floats(six), floats(disc), floats(half)), (c, Q, disc, half)


def separation(numbers, n):
    c, Q, disc, half = numbers
    return c @ n - np.sqrt(n @ Q @ n) - np.sqrt(disc @ n**2) - half @ np.abs(n)


@pytest.mark.parametrize("kind", BODIES)
def test_separations_and_their_maxima(kind):
    rng, level = np.random.default_rng(1), 0
    for apart in (1.5, 1.0, 0.7, 0.5, 0.3, 0.1):
        shape, numbers = shape_of(rng, kind, apart)
        starts = [unit(x) for x in rng.normal(size=(4, 3))]
        starts += [unit(numbers[0]), np.eye(3)[2], unit(np.array([0.0, 0.3, 0.5]))]
        for n in starts:
            start = separation(numbers, n)
            assert plain(support_ascent.separation)(shape, floats(n)) == pytest.approx(start, abs=1e-15)
            top, sign, s = plain(support_ascent.climb)(shape, floats(n), np.float64(1e300), np.bool_(True))
            top = np.array(top)
            assert np.linalg.norm(top) == pytest.approx(1.0, abs=1e-14)
            assert s == pytest.approx(separation(numbers, top), abs=1e-14) and s >= start - 1e-13
            for k in range(3):  # on a ridge a component is exactly zero
                assert (sign[k] == 0.0) <= (top[k] == 0.0)
                level += sign[k] == 0.0
            for way in rng.normal(size=(12, 3)):
                for step in (1e-2, 1e-3, 1e-5):
                    assert separation(numbers, unit(top + step * way)) <= s + 1e-12
            # enough is enough
            least = start - 0.1
            assert plain(support_ascent.climb)(shape, floats(n), np.float64(least), np.bool_(True))[2] > least
            kept, _, s = plain(support_ascent.climb)(shape, floats(n), np.float64(1e300), np.bool_(False))
            if kind != "cylinder":
                assert kept == floats(n) and s == pytest.approx(start, abs=1e-15)
    assert level > 0 or kind == "ellipsoid"


@pytest.mark.parametrize("kind", BODIES)
def test_steps_of_newtons_method(kind):
    """Away from ridges: gradient and curvatures along great circles are those of differences."""
    rng, seen = np.random.default_rng(2), 0
    for _ in range(40):
        shape, numbers = shape_of(rng, kind, 1.2)
        n = unit(numbers[0] + 0.3 * rng.normal(size=3))
        if np.abs(n).min() < 0.05:
            continue
        sign = np.where(numbers[3] > 0, np.sign(n), -1.0 + 2.0 * (n > 0))
        t1 = unit(np.cross(n, rng.normal(size=3)))
        tangents = np.array([t1, np.cross(n, t1)])
        h = 1e-4

        def along(a, b, n=n, tangents=tangents, numbers=numbers):
            way = a * tangents[0] + b * tangents[1]
            angle = np.hypot(a, b)
            return separation(numbers, np.cos(angle) * n + np.sin(angle) / (angle or 1.0) * way)

        slope = np.array([along(h, 0) - along(-h, 0), along(0, h) - along(0, -h)]) / (2 * h)
        mixed = (along(h, h) - along(h, -h) - along(-h, h) + along(-h, -h)) / (4 * h * h)
        bends = [along(h, 0) + along(-h, 0) - 2 * along(0, 0), along(0, h) + along(0, -h) - 2 * along(0, 0)]
        A = -np.array([[bends[0] / h**2, mixed], [mixed, bends[1] / h**2]])
        if np.linalg.eigvalsh(A)[0] < 0.1:
            continue
        wanted = np.linalg.solve(A, slope)
        wanted /= max(1.0, np.linalg.norm(wanted))
        step, free = plain(support_ascent.newton_step)(shape, floats(n), floats(sign))
        assert free == floats(sign)
        np.testing.assert_allclose(tangents @ np.array(step), wanted, atol=2e-5)
        assert abs(n @ np.array(step)) < 1e-14
        seen += 1
    assert seen > 8


def test_equations_that_may_not_be_positive():
    """With the least eigenvalue lifted to a part of the scale, and steps of at most one."""
    rng = np.random.default_rng(3)
    for k in range(30):
        A, g, bend = rng.normal(size=(2, 2)), rng.normal(size=2) * [0.01, 1.0, 100.0][k % 3], 0.7
        A = A + A.T + 2.0 * np.eye(2) * (k % 2)
        least = np.linalg.eigvalsh(A)[0]
        if least < 1e-6 * bend:
            A = A + (0.02 * bend + 2.0 * max(-least, 0.0)) * np.eye(2)
        wanted = np.linalg.solve(A, g)
        wanted /= max(1.0, np.linalg.norm(wanted))
        lifted = (0.02 * bend + 2.0 * max(-least, 0.0)) if least < 1e-6 * bend else 0.0
        given = (A[0, 0] - lifted, A[0, 1], A[1, 1] - lifted, *g, bend)
        np.testing.assert_allclose(plain(support_ascent.solve_positive)(*floats(given)), wanted, rtol=1e-11)
    assert plain(support_ascent.solve_positive)(*floats([2, 0, 2, 1, 0.5, 1])) == (0.5, 0.25)


def test_signs_on_ridges():
    """1 or -1 by the side; 0 on a ridge, which n leaves where the slope beside it is larger than the half length."""
    for half, x, wanted in ((0.5, 2.0, 1), (0.5, -2.0, -1), (0.5, 0.0, 0), (0.0, 0.0, -1), (0.0, 3.0, 1)):
        assert plain(support_ascent.ridge_sign)(np.float64(half), np.float64(x)) == wanted
    for sign, slope, wanted in ((0, 0.6, 1), (0, -0.6, -1), (0, 0.5, 0), (0, -0.4, 0), (1, -9.0, 1), (-1, 9.0, -1)):
        assert plain(support_ascent.leave)(*floats([0.5, slope, sign])) == wanted
    t = np.array([0.1, 0.2, 0.3])
    for sign in itertools.product((-1.0, 0.0, 1.0), repeat=3):
        wanted = t**2 @ (np.array(sign) == 0.0)
        assert plain(support_ascent.on_ridge)(floats(sign), floats(t)) == pytest.approx(wanted)
        for free in itertools.product((-1.0, 0.0, 1.0), repeat=3):
            other = wanted - t**2 @ (np.array(free) == 0.0)
            assert plain(support_ascent.moved)(floats(sign), floats(free), floats(t)) == pytest.approx(other)
    for n in ([0.6, 0.48, 0.64], [0.8, 0.6, 0.0], [0.1, 0.7, 0.7], [-0.9, 0.3, 0.1]):
        n = unit(np.array(n))
        t = np.array(plain(support_ascent.second_tangent)(floats(n), (1.0, 1.0, 1.0)))
        assert abs(t @ n) < 1e-15 and np.linalg.norm(t) == pytest.approx(1.0)
        other = np.eye(3)[1 if abs(n[0]) > 0.6 else 0]
        assert abs(np.linalg.det([n, t, other])) < 1e-15  # in the plane of n and an axis away from it
        for k in range(3):
            sign = [1.0, 1.0, 1.0]
            sign[k] = 0.0
            assert plain(support_ascent.second_tangent)(floats(n), floats(sign)) == floats(np.eye(3)[k])


def test_steps_end_at_the_first_ridge():
    rng = np.random.default_rng(4)
    for _ in range(40):
        half, n, step = rng.choice([0.0, 0.3], 3), unit(rng.normal(size=3)), rng.normal(size=3)
        sign = np.sign(n)
        ways = [n[k] / -step[k] if half[k] > 0 and n[k] * (n[k] + step[k]) < 0 else 1.0 for k in range(3)]
        for k in range(3):
            found = plain(support_ascent.way_to_ridge)(*floats([half[k], n[k], sign[k], step[k]]))
            assert found == pytest.approx(ways[k], abs=1e-15)
        trial, kept, stopped = plain(support_ascent.stop_at_ridges)(*(floats(x) for x in (half, n, sign, step)))
        share = min(ways)
        wanted, signs = n + share * step, sign.copy()
        if share < 1.0:
            wanted[np.argmin(ways)] = signs[np.argmin(ways)] = 0.0
        np.testing.assert_allclose(trial, wanted, atol=1e-15)
        assert kept == floats(signs) and stopped == (share < 1.0)
    # beyond a pole the pole is tried
    disc, sign = floats([0.04, 0.04, 0.0]), (1.0, 1.0, -1.0)
    pole = plain(support_ascent.stop_at_pole)
    assert pole(disc, (0.1, 0.0, -0.9), (-0.1, 0.01, -0.9), sign, 0.0) == ((0.0, 0.0, -1.0), sign, 1.0)
    assert pole(disc, (0.1, 0.0, -0.9), (0.1, 0.5, -0.9), sign, 0.0) == ((0.1, 0.5, -0.9), sign, 0.0)
    assert pole(disc, (0.1, 0.0, 0.0), (-0.1, 0.0, 0.0), (1.0, 1.0, 0.0), 1.0)[2] == 1.0
    for other in ([0.04, 0.04, 0.04], [0.0, 0.0, 0.0]):
        assert pole(floats(other), (0.1, 0.0, -0.9), (-0.1, 0.0, -0.9), sign, 0.0)[0] == (-0.1, 0.0, -0.9)


# ---------------------------------------------------------------- capsules and boxes


def nearest_of_edge(centre, half, size, j, sign):
    """Distance (m), place on the edge and on the axis, in -1 to 1, of the nearest points, by bounded least squares."""
    middle = sign * size * (np.arange(3) != j)
    along = size[j] * np.eye(3)[j]
    x = lsq_linear(np.stack([along, -half], axis=1), centre - middle, (-1, 1), tol=1e-15, method="bvls").x
    return np.linalg.norm(middle + x[0] * along - centre - x[1] * half), *x


def capsules(rng, count):
    for k in range(count):
        size = rng.uniform(0.2, 0.6, 3)
        centre, half = rng.normal(size=3) * 0.8, rng.normal(size=3) * [0.3, 1.0][k % 2]
        yield size, centre, half


def test_edges_of_boxes_and_axes_of_capsules():
    rng = np.random.default_rng(5)
    for size, centre, half in capsules(rng, 15):
        best = np.inf
        for j, signs in itertools.product(range(3), itertools.product((-1.0, 1.0), repeat=3)):
            if signs[j] > 0:
                continue
            wanted, x, s = nearest_of_edge(centre, half, size, j, np.array(signs))
            given = (floats(centre), floats(half), floats(size), np.float64(np.linalg.norm(half)), j, floats(signs))
            square, at, on_axis, end = plain(box.edge_to_axis)(*given)
            assert np.sqrt(square) == pytest.approx(wanted, abs=1e-7)
            assert (at, on_axis) == pytest.approx((x, s), abs=1e-5)
            assert end == np.sign(x) or abs(x) < 1 - 1e-6
            assert end == 0.0 or abs(s) == 1.0 or abs(x) > 1 - 1e-6  # as in MuJoCo, x may have come back from it
            best = min(best, wanted)
        given = floats(centre), floats(half), floats(size), np.float64(np.linalg.norm(half))
        far = (np.float64(1e30), np.float64(0.0))
        s, feature, edge, along, corner = plain(box.nearest_edge)(*given, *far)
        point = centre + s * half
        edges = [(j, signs) for j in range(3) for signs in itertools.product((-1.0, 1.0), repeat=3)]
        flat = [np.where(np.arange(3) == j, np.clip(point, -size, size), signs * size) for j, signs in edges]
        assert min(np.linalg.norm(point - x) for x in flat) == pytest.approx(best, abs=1e-7)
        if feature == 1.0:  # as in MuJoCo, the place may have come back from the corner
            near = np.linalg.norm(point - size * corner)
            assert near == pytest.approx(best, abs=1e-7) or (near > best and abs(s) == 1.0)
        else:
            on = size * np.array(corner)
            on[int(edge)] = along * size[int(edge)]
            assert feature == 2.0 and np.linalg.norm(point - on) == pytest.approx(best, abs=1e-7)
        # what is nearer already stays
        kept = plain(box.nearest_edge)(*given, np.float64(0.0), np.float64(0.7))
        assert kept[:2] == (0.7, 0.0)


def test_ends_of_capsules_over_faces():
    rng, seen = np.random.default_rng(6), set()
    for size, centre, half in capsules(rng, 60):
        best = (1e30, 0.0, 0.0)
        for s in (-1.0, 1.0):
            over = np.abs(centre + s * half) - size
            if (over > 0).sum() < 2 and np.sum(np.maximum(over, 0) ** 2) < best[0]:
                best = np.sum(np.maximum(over, 0) ** 2), s, float(np.argmax(over)) if over.max() > 0 else -1.0
        found = plain(box.nearest_end)(floats(centre), floats(half), floats(size))
        assert found == pytest.approx(best, rel=1e-14)
        seen.add((best[1], best[2]))
        # separation along the axes of the box is a lower bound, and that of the segment's own box
        ends = np.array([centre - half, centre + half])
        gaps = np.maximum(ends.min(axis=0) - size, -size - ends.max(axis=0))
        assert plain(box.beside)(floats(centre), floats(half), floats(size)) == pytest.approx(gaps.max(), abs=1e-14)
        # of a point inside: the face that is nearest
        x = rng.uniform(-0.95, 0.95, 3) * size
        depth, normal = plain(box.nearest_face)(floats(x), floats(size))
        k = int(np.argmin(size - np.abs(x)))
        assert depth == pytest.approx((size - np.abs(x)).min(), abs=1e-15)
        np.testing.assert_array_equal(normal, -np.sign(x[k]) * np.eye(3)[k])
        # signs that lead into the box, and steps across it
        corner = rng.choice([-1.0, 1.0], 3)
        np.testing.assert_array_equal(plain(box.inward_signs)(floats(half), floats(corner)), -np.sign(half) * corner)
        np.testing.assert_allclose(plain(box.widths)(floats(half), floats(size)), 2 * size / np.abs(half), rtol=1e-13)
    assert len(seen) > 6


def test_steps_over_faces():
    """From an end above a face the axis is followed to its other end, or until it is no longer above the face."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        size, half = rng.uniform(0.3, 0.6, 3), rng.normal(size=3)
        for face, s in itertools.product((-1, 0, 1, 2), (-1.0, 1.0)):
            start = rng.uniform(-0.9, 0.9, 3) * size
            if face >= 0:
                start[face] = size[face] + 0.05
            centre = start - s * half
            step, there = plain(box.from_face)(floats(centre), floats(half), floats(size), s, np.float64(face))
            way, most = -s * half, 2.0
            for k in range(3):
                if k != face:
                    most = min(most, (size[k] - np.sign(way[k]) * start[k]) / abs(way[k]))
            assert step == pytest.approx(-s * most, rel=1e-12) and there == (face >= 0)


# ---------------------------------------------------------------- faces of boxes


def test_spans_of_lines():
    rng = np.random.default_rng(8)
    for start, side, limit in [*rng.normal(size=(20, 3)) * [1, 1, 0.5] + [0, 0, 1.0], (0.2, 0.0, 0.5), (0.7, 0.0, 0.5)]:
        limit = abs(limit)
        low, high = plain(box_faces.span)(*floats([start, side, limit]))
        for t in (-3.0, 0.0, 0.3, 0.5, 1.0, 4.0):
            if abs(abs(start + t * side) - limit) > 1e-9:
                assert (low <= t <= high) == (abs(start + t * side) <= limit)


def test_corners_are_kept_once():
    d = SimpleNamespace(contact_pos=np.full((12, 3), np.nan), count={6: 0})
    m = SimpleNamespace(layout=SimpleNamespace(features=frozenset()), nconmax=6)
    count, n = np.float64(0.0), 2
    points = [(0.0, 0.0, -0.1), (1.0, 0.0, 0.3), (0.0, 1e-9, -0.2), (1.0, 0.0, -0.3), (0.0, 1.0, 0.1), (2.0, 0.0, 0.0)]
    points += [(3.0, 0.0, 0.0), (4.0, 0.0, 0.0)]
    for found, point in zip([True] * 5 + [False, True, True], points, strict=True):
        given = np.float64(0.1), count, np.bool_(found), floats(point), np.float64(1e-16)
        count = plain(box_faces.keep)(m, d, n, *given)
    # out of reach, there already, not found, and without room
    assert count == 4.0 and d.count[6] == 1
    np.testing.assert_array_equal(d.contact_pos[n : n + 4, :2], [[0, 0], [1, 0], [0, 1], [3, 0]])
    assert np.isnan(d.contact_pos[n + 4 :]).all() and np.isnan(d.contact_pos[:n]).all()


def test_axes_of_largest_separation():
    """Of faces and of products of edges: by projections of all corners."""
    rng, found_edges = np.random.default_rng(9), 0
    signs = np.array([*itertools.product((-1, 1), repeat=3)])
    for _ in range(40):
        rot, size, other = rotation(rng), *rng.uniform(0.2, 0.5, (2, 3))
        offset = 0.9 * rng.normal(size=3)
        one, two = signs * size, offset + signs * other @ rot.T

        def gap(axis, one=one, two=two):
            axis = unit(axis)
            return max((two @ axis).min() - (one @ axis).max(), (one @ axis).min() - (two @ axis).max())

        gaps = [gap(axis) for axis in np.eye(3)]
        best, axis = plain(box_axes.widest_face_axis)(*(floats(x) for x in (rot, offset, size, other)))
        assert best == pytest.approx(max(gaps), abs=1e-14) and axis == np.argmax(gaps)
        face = max(max(gaps), *(gap(axis) for axis in rot.T))
        edges = {(i, j): gap(np.cross(np.eye(3)[i], rot[:, j])) for i, j in itertools.product(range(3), repeat=2)}
        given = [floats(x) for x in (rot, offset, size, other)]
        best, found, i, j, largest = plain(box_axes.widest_edge_axis)(*given, np.float64(face))
        top = max(edges, key=edges.get)
        assert largest == pytest.approx(edges[top], abs=1e-13)
        if edges[top] > face + 1e-5:
            assert found == 1.0 and edges[int(i), int(j)] == pytest.approx(edges[top], abs=2e-6)
            assert best == pytest.approx(edges[int(i), int(j)], abs=1e-13)
            found_edges += 1
        else:
            assert found == 0.0 and best == face
        # nearly the same axis, and not much better: the face
        k = int(rng.integers(6))
        normal = np.eye(3)[k] if k < 3 else rot[:, k - 3]
        for e, (a, b) in itertools.product((0.03, 0.07), edges):
            axis = unit(np.cross(np.eye(3)[a], rot[:, b]))
            given = (floats(rot), np.float64(k), np.float64(a), np.float64(b), np.float64(-1.0), np.float64(-1.0 + e))
            stands = plain(box_axes.face_stands_for)(*given, np.float64(0.0))
            assert stands == (abs(axis @ normal) > 0.99 and e < 0.05)
    assert found_edges > 3
