"""Fluid forces in the kernels' Model: the shapes on which they act.

MuJoCo 4.0 documentation, Computation, "Fluid forces": a body counts as the box with its mass and inertia, or, if any of
its geoms has `fluidshape="ellipsoid"`, such geoms count as ellipsoids. Coefficients that depend neither on position nor
on velocity are computed here.
"""

import math
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.model.enums import CAPSULE, CYLINDER, FLUID_BOX, FLUID_ELLIPSOID, SPHERE
from saltus.number.functions import MINVAL

FIELDS = ("body", "kind", "pos", "mat", "stokes", "drag", "swirl", "lift", "mass", "inertia", "section")


class Fluid(NamedTuple):
    """Fields and sizes of the kernels' Model, and the features that they need compiled."""

    values: dict[str, Any]
    sizes: dict[str, int]
    features: set[str]


def fluid_forces(m: mujoco.MjModel, poses: dict[str, np.ndarray], left_out: frozenset[str] = frozenset()) -> Fluid:
    """Fields, sizes and features of fluid forces; `poses`: of inertial frames and geoms in their bodies.

    Bodies that cannot move and bodies without mass have none.
    """
    shapes: list[dict[str, Any]] = []
    if present(m) and "fluid" not in left_out:
        moved = np.zeros(m.nbody, bool)
        for b in range(1, m.nbody):
            moved[b] = m.body_dofnum[b] > 0 or moved[m.body_parentid[b]]
            if moved[b] and m.body_mass[b] >= MINVAL:
                shapes += _shapes(m, b, poses)
    values = {f"fluid_{name}": [shape[name] for shape in shapes] for name in FIELDS}
    values |= {"opt_density": m.opt.density, "opt_wind": m.opt.wind[None]}
    return Fluid(values, {"nfluid": len(shapes)}, {"fluid"} if shapes else set())


def present(m: mujoco.MjModel) -> bool:
    """Whether the model has fluid forces; MuJoCo disables them with springs and dampers, if both are disabled."""
    flags = mujoco.mjtDisableBit
    both = flags.mjDSBL_SPRING.value | flags.mjDSBL_DAMPER.value
    return (m.opt.density > 0 or m.opt.viscosity > 0) and m.opt.disableflags & both != both


def _shapes(m, b, poses):
    """Shapes of body b for fluid forces: its equivalent inertia box, or ellipsoids of geoms that ask for them."""
    geoms = [g for g in range(m.body_geomadr[b], m.body_geomadr[b] + m.body_geomnum[b]) if m.geom_fluid[g, 0] > 0]
    if geoms:
        return [{"body": b, **_ellipsoid(m, g), **_frame(poses, "geom", g)} for g in geoms]
    return [{"body": b, **_box(m, b), **_frame(poses, "body", b)}]


def _frame(poses, kind, index):
    prefix = {"body": "body_i", "geom": "geom_"}[kind]
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, poses[f"{prefix}quat"][index])
    return {"pos": poses[f"{prefix}pos"][index], "mat": mat}


def _box(m, b):
    """Drag of the box with the body's mass and moments of inertia, axis by axis."""
    moments, density = m.body_inertia[b], max(m.opt.density, 0.0)
    squares = np.maximum(np.roll(moments, -1) + np.roll(moments, 1) - moments, MINVAL)
    r = np.sqrt(1.5 * squares / m.body_mass[b])  # half sides of the box
    next_r, last_r = np.roll(r, -1), np.roll(r, 1)
    return {
        "kind": FLUID_BOX,
        "stokes": _stokes(m, r),
        "drag": 2 * density * next_r * last_r,
        "swirl": 0.5 * density * r * (next_r**4 + last_r**4),
        **dict.fromkeys(("mass", "inertia", "section"), np.zeros(3)),
        "lift": np.zeros(2),
    }


def _ellipsoid(m, g):
    """Drag, lift and added mass of geom g's ellipsoid."""
    factor, blunt, slender, angular, kutta, magnus = m.geom_fluid[g, :6]
    density = factor * m.opt.density
    r = semi_axes(m, g)
    _, middle, largest = np.sort(r)
    next_r, last_r = np.roll(r, -1), np.roll(r, 1)
    # areas of the largest shadow and the sections; moments of the swept ellipsoids
    area = math.pi * middle * largest
    swept = 8 / 15 * math.pi * r * np.maximum(next_r, last_r) ** 4
    most = 8 / 15 * math.pi * middle * largest**4
    return {
        "kind": FLUID_ELLIPSOID,
        "stokes": factor * _stokes(m, r),
        "drag": density * area * np.array([slender, blunt - slender, 0.0]),
        "swirl": density * (angular * swept + slender * (most - swept)),
        "lift": density * np.array([kutta * area, magnus * 4 / 3 * math.pi * r.prod()]),
        "mass": density * m.geom_fluid[g, 6:9],
        "inertia": density * m.geom_fluid[g, 9:12],
        "section": (next_r * last_r / (middle * largest)) ** 2,
    }


def semi_axes(m: mujoco.MjModel, g: int) -> np.ndarray:
    """Semi-axes (m) [3] of the ellipsoid that replaces geom g."""
    a, b, c = m.geom_size[g]
    if m.geom_type[g] == SPHERE:
        return np.array([a, a, a])
    if m.geom_type[g] == CAPSULE:
        return np.array([a, a, a + b])
    if m.geom_type[g] == CYLINDER:
        return np.array([a, a, b])
    return np.array([a, b, c])


def _stokes(m, r):
    """Stokes' resistance of a sphere with the mean radius: 6π β r (N s/m) and 8π β r³ (N m s)."""
    mean = r.mean()
    return max(m.opt.viscosity, 0.0) * math.pi * np.array([6 * mean, 8 * mean**3])
