"""Support points of meshes' hulls by hill climbing.

Law: no vertex of the mesh lies farther in the direction than the one found, to the rounding of a sum of three products.
"""

import numpy as np
import pytest
from helpers.colliding import GEOMS, PLANE, model_of

from saltus.contact.convex.search.hull import highest
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import Entry
from saltus.number.structs import Struct

HIGHEST = Entry("highest_of_hull", "h, x, y, z, last", "return highest(m, h, (x, y, z), last)", highest=highest)


@pytest.mark.parametrize("mesh", ["dice", "ball", "prism", "cloud"])
def test_no_vertex_is_farther(mesh):
    model = model_of(PLANE, GEOMS[mesh])
    m, d, rng = model.struct(), Struct(DATA, data_sizes(model.sizes())), np.random.default_rng(0)
    vertices = m.views["hull_vert"]
    directions = np.vstack([rng.normal(size=(300, 3)), np.eye(3), -np.eye(3), [[1, 1, 0], [1, 1, 1], [-1, 1, -1]]])
    last = -1
    for u in directions:
        for start in (-1, last, int(rng.integers(len(vertices)))):
            found = HIGHEST(m, d, 0, *u, start)
            assert vertices[found] @ u >= (vertices @ u).max() - 1e-15
        last = found


def test_hulls_are_mujocos():
    """Every vertex of MuJoCo's mesh is inside all faces, neighbours are mutual, and corners lie on their faces.

    MuJoCo merges triangles to faces that are parallel to some 0.0016 rad, of some 0.1 m here: to 2e-4 m.
    """
    model = model_of(PLANE, GEOMS["cloud"])
    m, v = model.mj_model, model.struct().views
    first = m.mesh_vertadr[m.geom_dataid[1]]
    mesh = m.mesh_vert[first : first + m.mesh_vertnum[m.geom_dataid[1]]].astype(float)
    edges = {(i, int(k)) for i in range(len(v["hull_vert"])) for k in _slice(v, "hull_edge", i).flat if k != i}
    assert (v["hull_vert"][v["hull_edge"]].transpose(0, 2, 1).reshape(-1, 24) == v["hull_star"]).all()
    assert edges == {(k, i) for i, k in edges}
    for face, normal in enumerate(v["hull_normal"]):
        corners = v["hull_corner"][v["hull_corneradr"][face] : v["hull_corneradr"][face + 1]]
        heights = v["hull_vert"][corners] @ normal
        assert np.ptp(heights) < 2e-4 and (mesh @ normal).max() < heights.max() + 2e-4
        for corner in corners:
            assert face in _slice(v, "hull_face", corner)


def _slice(v, name, i):
    return v[name][v[f"{name}adr"][i] : v[f"{name}adr"][i + 1]]
