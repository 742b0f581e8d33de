"""Unit shapes as triangles: closed, facing outwards, and as large as what they stand for."""

import numpy as np
import pytest

from saltus.draw.raster.tessellation import QUARTERS, box, capsule, cone, cylinder, octants, sphere, square, surface

ROUND = {
    "sphere": (sphere, 4 / 3 * np.pi),
    "capsule": (capsule, 4 / 3 * np.pi + 2 * np.pi),  # its halves 1 up and down
    "cylinder": (cylinder, 2 * np.pi),
    "cone": (cone, 2 / 3 * np.pi),
}


def points(part):
    return part.vertices[:, :3] + np.outer(part.vertices[:, 3], [0.0, 0.0, 1.0])


def volume(part):
    a, b, c = (points(part)[part.faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


def check_closed(part):
    """Each edge is there once in each direction."""
    place = np.unique(np.round(points(part), 5), axis=0, return_inverse=True)[1].ravel()
    faces = place[part.faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]  # at the tip of a cone there is one corner
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    there = set(map(tuple, edges.tolist()))
    assert len(there) == len(edges) and all((b, a) in there for a, b in there)


@pytest.mark.parametrize("kind", ROUND)
@pytest.mark.parametrize("quarter", QUARTERS)
def test_round_shapes(kind, quarter):
    make, exact = ROUND[kind]
    part = make(quarter)
    check_closed(part)
    assert volume(part) == pytest.approx(exact, rel=1.0 / quarter**2)  # of second order in the angle of a segment
    a, b, c = (points(part)[part.faces[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), part.normals[part.faces].mean(axis=1))
    assert outward.min() >= -1e-9
    np.testing.assert_allclose(np.linalg.norm(part.normals, axis=1), 1.0)


def test_a_box_has_six_flat_faces():
    part = box()
    check_closed(part)
    assert volume(part) == pytest.approx(8.0) and len(part.faces) == 12
    assert sorted(part.pieces.tolist()) == sorted(2 * list(range(6)))


def test_the_smooth_pieces_of_a_cylinder():
    assert len(set(cylinder(4).pieces.tolist())) == 3 and set(sphere(4).pieces.tolist()) == {0}


def test_octants_make_a_whole():
    even, odd = octants(4, True), octants(4, False)
    assert len(even.faces) == len(odd.faces) == len(sphere(4).faces) // 2
    assert volume(even) + volume(odd) == pytest.approx(volume(sphere(4)))


def test_a_square_faces_up():
    a, b, c = (points(square())[square().faces[:, k]] for k in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a), [[0, 0, 4], [0, 0, 4]])


def test_faces_that_share_vertices_are_one_piece():
    corners = np.zeros((7, 3))
    part = surface(corners, corners, [[0, 1, 2], [2, 1, 3], [4, 5, 6]])
    assert part.pieces[0] == part.pieces[1] != part.pieces[2]
