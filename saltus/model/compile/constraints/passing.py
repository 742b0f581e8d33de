"""Bounds of the coordinates' speeds below which no pair of geoms can pass within one step.

The speed of any point of a geom relative to another body is at most the sum, over the degrees of freedom between them,
of each one's speed times the longest lever that the geom can have about its axis.
"""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.model.compile.constraints.constraints import Constraints
from saltus.model.contact.thickness import thicknesses
from saltus.model.fields.constraint.passing import SEEN

AT_ONCE = 1024  # pairs processed together
NO_PASSING: dict[str, int] = dict.fromkeys(("npassing", "npassingdof", "npassinggeom", "npassed"), 0)


def passing(m: mujoco.MjModel, constrained: Constraints) -> Constraints:
    """Fields of pairs that may pass each other, for a model's constraints; empty if pairs are not listed."""
    values, nothing = constrained.values, Constraints(sizes=NO_PASSING.copy())
    first, second = (np.asarray(values.get(f"collision_geom{k}", ()), int) for k in (1, 2))
    if not len(first) or "broad" in constrained.features:
        return nothing
    least = _half_thickness(m, first) + _half_thickness(m, second)
    if not np.isfinite(least).any():
        return nothing
    reach = np.zeros(m.nv)
    finite = np.flatnonzero(np.isfinite(least) & (least > 0.0))
    levers, place = _levers(m, np.union1d(first[finite], second[finite]))
    for some in np.array_split(finite, len(finite) // AT_ONCE + 1):
        a, b = levers[place[first[some]]], levers[place[second[some]]]
        apart = np.where((a > 0.0) != (b > 0.0), a + b, 0.0) / least[some, None]
        reach = np.maximum(reach, apart.max(axis=0, initial=0.0))
    last = np.append(m.dof_treeid[1:] != m.dof_treeid[:-1], True) if m.nv else np.zeros(0, bool)
    found: dict[str, Any] = {"passing_least": least, "passing_reach": reach, "passing_last": last}
    sizes = {"npassing": len(least), "npassingdof": m.nv, "npassinggeom": m.ngeom, "npassed": SEEN}
    return Constraints(values=found, sizes=sizes, features={"thin"})


def _half_thickness(m: mujoco.MjModel, geoms: NDArray[np.intp]) -> NDArray[np.float64]:
    """Half of the least extent (m) of geoms; infinite for deformable bodies."""
    half = np.append(0.5 * thicknesses(m), np.inf)
    return half[np.where(geoms < 0, m.ngeom, geoms)]


def _levers(m: mujoco.MjModel, geoms: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The longest lever (m; 1 for translations) of each geom about each degree of freedom, 0 if that does not move it.

    Also returns the row of each geom of the model.
    """
    out, place = np.zeros((len(geoms), m.nv)), np.zeros(m.ngeom, np.intp)
    for row, g in enumerate(geoms.tolist()):
        place[g] = row
        round_ = m.geom_type[g] == mujoco.mjtGeom.mjGEOM_SPHERE  # rotation about its centre has no effect
        far = float(np.linalg.norm(m.geom_pos[g]) + (0.0 if round_ else m.geom_rbound[g]))
        body = int(m.geom_bodyid[g])
        while body > 0:
            first = int(m.body_jntadr[body])
            for j in reversed(range(first, first + int(m.body_jntnum[body]))):
                dof, offset = int(m.jnt_dofadr[j]), float(np.linalg.norm(m.jnt_pos[j]))
                kind = m.jnt_type[j]
                if kind == mujoco.mjtJoint.mjJNT_FREE:
                    out[row, dof : dof + 3], out[row, dof + 3 : dof + 6] = 1.0, far
                elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
                    out[row, dof] = 1.0
                    ends = m.jnt_range[j] if m.jnt_limited[j] else (-m.stat.extent, m.stat.extent)
                    far += float(np.max(np.abs(ends)))
                else:
                    count = 3 if kind == mujoco.mjtJoint.mjJNT_BALL else 1
                    out[row, dof : dof + count] = far + offset
                    far += 2.0 * offset
            far += float(np.linalg.norm(m.body_pos[body]))
            body = int(m.body_parentid[body])
    return out, place
