"""Sheets of any size with a ball on them, as the kernels see them.

MuJoCo's compiler takes time in proportion to the square of the number of bodies, half an hour for 100,000 vertices.
Here it compiles a small sheet, whose rows are repeated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saltus.integrate.registry import find_integrator
from saltus.model.layout import DATA, model_layout
from saltus.model.load import load
from saltus.number.structs import Struct
from saltus.simulate.engine import loops

SHEET = """<mujoco model="sheet">
<option timestep="0.0005" solver="CG" tolerance="1e-6"/>
<worldbody>
  <body pos="{middle} {middle} 0.1"><freejoint/><geom size="0.1" mass="1"/></body>
  <flexcomp name="sheet" type="grid" dim="2" count="{side} {side} 1" spacing=".05 .05 .05" mass="{mass}" radius=".002"
    pos="{middle} {middle} 0">
    <contact solref="0.01 1" selfcollide="none"/>
    <edge damping="1"/>
    <elasticity young="3e4" poisson="0.2" thickness="5e-3" elastic2d="stretch"/>
    <pin id="0 {last_of_first} {first_of_last} {last}"/>
  </flexcomp>
</worldbody>
</mujoco>"""
SPACING, MASS = 0.05, 0.01  # m; kg per vertex
FALL = 2.0  # m/s: speed of the ball at the start
ROOM = 300  # contacts
RIGID = {"nbody": 2, "njnt": 1, "nv": 6, "nq": 7, "nC": 21}  # entries of the world and the ball
EACH = {"nbody": 1, "njnt": 3, "nv": 3, "nq": 3, "nC": 3}  # entries of a vertex


def small(side: int) -> Any:
    """A sheet of side x side vertices compiled by MuJoCo, held at its corners."""
    last = side * side - 1
    corners = dict(last_of_first=side - 1, first_of_last=last - side + 1, last=last)
    return load(SHEET.format(side=side, middle=0.5 * SPACING * (side - 1), mass=MASS * side * side, **corners))


class Sheet:
    """A sheet of side x side vertices, and its time loop."""

    def __init__(self, side: int):
        base = small(3).struct(timestep=0.0005)
        self.integrator = find_integrator("euler", "Euler")
        self.timestep = 0.0005
        self.vertices = side * side
        values, sizes = _grown(base, side)
        # conjugate gradients, as there is no room for a Hessian
        self.model = Struct(model_layout(base.layout.features | {"cg"}), sizes, "float64")
        for name, view in self.model.views.items():
            if view.size:
                self.model.fill(name, values[name])
        self.data = Struct(DATA, self.integrator.data_sizes(sizes), "float64")
        self.data.views["qpos"][...] = values["qpos0"]
        self.data.views["qvel"][2] = -FALL
        self.data.views["timestep"][...] = self.timestep
        self._loop = loops.advance(self.integrator)

    def step(self, n: int) -> None:
        """Take n steps."""
        taken, status = self._loop(self.model, self.data, n, self.timestep, *self.integrator.parameters)
        if status or taken < n:
            raise RuntimeError(f"a sheet of {self.vertices} vertices stopped with status {status}")


def _grown(base: Struct, side: int) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Fields and sizes of the kernels' Model for a larger sheet than `base`, of 3 x 3."""
    count = side * side - 4
    sizes = base.sizes | {name: RIGID[name] + EACH[name] * count for name in RIGID}
    values = {name: _repeated(base, name, count) for name in base.views}
    values |= _numbers(base, count) | _mesh(base, side)
    names = {"nflexvert": "flexvert_bodyid", "nflexedge": "flexedge_vert", "ntriangle": "triangle_edge"}
    names |= {"nflexelem": "flexelem_vert", "nparticle": "particle_body"}
    sizes |= {size: len(values[name]) for size, name in names.items()}
    sizes["nflexrun"] = sizes["nflexelem"] // 32 + 1
    longest = base.sizes["nflexdof"] // base.sizes["nflexcon"]
    sizes |= dict.fromkeys(("nconmax", "nblockmax", "nflexcon"), ROOM)
    sizes |= {"nrowmax": 3 * ROOM, "nJmax": 3 * ROOM * longest, "nflexdof": ROOM * longest}
    sizes |= {"nv_cg": sizes["nv"], "nv_hessian": 0}
    return values, sizes


def _repeated(base: Struct, name: str, count: int) -> np.ndarray:
    """A field with the rows of the first vertex repeated for all vertices that move."""
    view, shape = base.views[name], base.layout.fields[name].shape
    if not shape or shape[0] not in RIGID:
        return view
    first, each = RIGID[shape[0]], EACH[shape[0]]
    rows = view[first : first + each]
    return np.concatenate([view[:first], np.tile(rows, (count, *[1] * (view.ndim - 1)))])


def _numbers(base: Struct, count: int) -> dict[str, np.ndarray]:
    """Indices that connect joints, degrees of freedom and bodies."""
    bodies = np.arange(count)
    dofs = np.arange(3 * count)
    own = {
        "body_jntadr": 1 + 3 * bodies,
        "body_dofadr": 6 + 3 * bodies,
        "body_rootid": 2 + bodies,
        "body_weldid": 2 + bodies,
        "body_treeend": 3 + bodies,
        "body_lastdof": 8 + 3 * bodies,
        "jnt_qposadr": 7 + dofs,
        "jnt_dofadr": 6 + dofs,
        "jnt_bodyid": 2 + dofs // 3,
        "dof_bodyid": 2 + dofs // 3,
        "dof_jntid": 1 + dofs,
        "dof_parentid": np.where(dofs % 3 > 0, 5 + dofs, -1),
        "M_rowadr": 21 + dofs,
        "M_colind": 6 + dofs,
    }
    found = {}
    for name, values in own.items():
        first = RIGID[base.layout.fields[name].shape[0]]
        found[name] = np.concatenate([base.views[name][:first], values])
    return found | {"particle_body": 2 + bodies}


def _mesh(base: Struct, side: int) -> dict[str, np.ndarray]:
    """Vertices, edges and triangles of a grid, each cell like the first of 3 x 3."""
    number = np.arange(side * side)
    corner = np.isin(number, [0, side - 1, side * side - side, side * side - 1])
    place = SPACING * np.stack([number // side, number % side, 0 * number], axis=1)
    body = np.where(corner, 0, 1 + np.cumsum(~corner))
    first = base.views["flexelem_vert"]
    in_cell = np.isin(first[:, :3], [0, 1, 3, 4]).all(axis=1)
    local = first[in_cell, :3]
    cells = (number.reshape(side, side)[:-1, :-1]).reshape(-1, 1, 1)
    triangles = (cells + side * (local // 3) + local % 3).reshape(-1, 3)
    pairs = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
    edges, which = np.unique(pairs, axis=0, return_inverse=True)
    count = len(triangles)
    values = {
        "flexvert_bodyid": body,
        "flexvert_pos": np.where(corner[:, None], place, 0.0),
        "flexedge_vert": edges,
        "flexedge_length0": np.linalg.norm(place[edges[:, 1]] - place[edges[:, 0]], axis=1),
        "triangle_edge": which.reshape(count, 3),
        "triangle_stiffness": np.tile(base.views["triangle_stiffness"][in_cell], (count // 2, 1)),
        "flexelem_vert": np.concatenate([triangles, np.full((count, 1), -1)], axis=1),
        "flexelem_body": np.concatenate([body[triangles], np.full((count, 1), -1)], axis=1),
        "flexelem_active": np.ones(count, int),
        "flex_nodeadr": np.array([side * side]),
        "flex_vertnum": np.array([side * side]),
        "flex_elemnum": np.array([count]),
    }
    for name in ("stiffness", "damping", "rayleigh"):
        values[f"flexedge_{name}"] = np.full(len(edges), base.views[f"flexedge_{name}"][0])
    return values | _placed(base, place, corner)


def _placed(base: Struct, place: np.ndarray, corner: np.ndarray) -> dict[str, np.ndarray]:
    """Positions of the bodies at the start: the ball above the middle."""
    middle = 0.5 * place[-1]
    bodies = np.concatenate([base.views["body_pos"][:2], place[~corner]])
    qpos0 = np.concatenate([base.views["qpos0"][:7], np.zeros(3 * int((~corner).sum()))])
    bodies[1, :2] = qpos0[:2] = middle[:2]
    return {"body_pos": bodies, "qpos0": qpos0}
