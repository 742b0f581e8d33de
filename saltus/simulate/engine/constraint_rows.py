"""Contacts and constraint rows in MuJoCo's format, from the solver's blocks.

A block of a pyramidal contact has a row for each direction; here it is unfolded into the pyramid's edges.
"""

from typing import Any

import mujoco
import numpy as np

from saltus.contact.counts import NBLOCK, NCON, NITER
from saltus.contact.pairs import contact_pairs
from saltus.contact.rows.adhesive_contacts import acting_blocks
from saltus.contact.rows.blocks import CONE, EQUALITY, FRICTION, PYRAMID
from saltus.model.model import Model
from saltus.number.structs import Struct

CONTACT = np.dtype(
    [
        ("geom1", int),
        ("geom2", int),
        ("flex", int, 2),  # deformable bodies, -1 for geoms; which of their elements or vertices, -1 for none
        ("elem", int, 2),
        ("vert", int, 2),
        ("dim", int),
        ("dist", float),
        ("pos", float, 3),
        ("frame", float, (3, 3)),
        ("friction", float, 5),
        ("includemargin", float),
        ("efc_address", int),  # address of the first row, -1 without rows
    ]
)
TYPES = mujoco.mjtConstraint
FIELDS = ("efc_J", "efc_pos", "efc_D", "efc_R", "efc_aref", "efc_force", "efc_frictionloss", "efc_type", "efc_id")


def contacts(m: Struct, d: Struct) -> np.ndarray:
    """All contacts, those in the gap included, as a structured array: dist (m), pos (m), frame [3, 3], ... .

    geom1 is the one of the lower type; the frame's first row is the normal from geom1 to geom2, in world axes. Where a
    deformable body takes part the geom is -1, and elements and vertices have their numbers in it, as in MuJoCo.
    """
    sides = contact_pairs(m, d)
    n, law = len(sides.law), sides.law
    out = np.zeros(n, CONTACT)
    out["geom1"], out["geom2"], out["flex"] = sides.geom1, sides.geom2, sides.flex
    out["elem"] = out["vert"] = -1
    if m.nflexcon:
        elements, vertex, flex = d.views["contact_elem"][:n], d.views["contact_vert"][:n], out["flex"]
        soft = flex >= 0
        first_element, first_vertex = m.views["flex_elemadr"][flex], m.views["flex_vertadr"][flex]
        out["elem"] = np.where(soft & (elements >= 0), elements - first_element, -1)
        out["vert"][:, 1] = np.where(soft[:, 1] & (vertex >= 0), vertex - first_vertex[:, 1], -1)
    out["dim"], out["friction"] = m.views["law_dim"][law], m.views["law_friction"][law]
    out["dist"], out["pos"] = d.views["contact_dist"][:n], d.views["contact_pos"][:n]
    out["frame"] = d.views["contact_frame"][:n].reshape(n, 3, 3)
    out["includemargin"] = m.views["law_margin"][law]
    address = np.concatenate([[0], np.cumsum(row_counts(d))]).astype(int)
    block = acting_blocks(m, d, n)
    out["dim"][block != d.views["contact_block"][:n]] = 1  # sticking contacts have no friction in the gap
    out["efc_address"] = np.where(block < 0, -1, address[np.maximum(block, 0)])
    return out


def closed_pairs(m: Struct, d: Struct) -> np.ndarray:
    """Mask of listed pairs of geoms with a contact that acts; mask of colliding geoms if pairs are not listed.

    Colliding geoms are those that may touch anything, in their order.
    """
    if "broad" in m.layout.features:
        sides = contact_pairs(m, d)
        acts = d.views["contact_dist"][: len(sides.law)] < m.views["law_margin"][sides.law]
        return np.isin(m.views["collider"], np.concatenate([sides.geom1[acts], sides.geom2[acts]]))
    closed = np.zeros(len(m.views["collision_geom1"]), bool)
    if closed.size:
        pairs = d.views["contact_collision"][: d.views["count"][NCON]]
        acts = d.views["contact_dist"][: len(pairs)] < m.views["law_margin"][m.views["collision_law"][pairs]]
        closed[pairs[acts]] = True
    return closed


def pair_names(model: Model, m: Struct) -> list[str]:
    """Names of the pairs of geoms and deformable bodies that may touch, the lower type of geom first.

    Where pairs are not listed, names of the geoms that may touch anything.
    """
    geoms, flexes = model.names("geom"), model.names("flex")
    if "broad" in m.layout.features:
        return [geoms[g] for g in m.views["collider"]]
    sides = [zip(m.views[f"collision_geom{k}"], m.views[f"collision_flex{k}"], strict=True) for k in (1, 2)]
    first, second = ([geoms[g] if g >= 0 else flexes[f] for g, f in side] for side in sides)
    return [f"{a} {b}" for a, b in zip(first, second, strict=True)]


def most_at_once(m: Struct) -> str:
    """Description of the capacity that was exceeded: contacts, or pairs of geoms near each other."""
    near = f", or {m.nfound} pairs of geoms near each other," if m.nfound else ""
    return f"more than {m.nconmax} contacts{near}"


def row_counts(d: Struct) -> np.ndarray:
    """Number of MuJoCo's rows of each block."""
    n = int(d.views["count"][NBLOCK])
    dim, kind = d.views["block_dim"][:n], d.views["block_kind"][:n]
    return np.where(kind == PYRAMID, 2 * (dim - 1), dim)


def iterations(d: Struct) -> int:
    """Iterations of the last solve for constraint forces; 0 where there was nothing to solve."""
    count = d.views["count"]
    return int(count[NITER]) if count[NBLOCK] else 0


def rows(model: Model, m: Struct, d: Struct) -> dict[str, np.ndarray]:
    """efc_J [nefc, nv], efc_pos, efc_D, efc_R, efc_aref, efc_force, efc_frictionloss, efc_type, efc_id [nefc].

    efc_pos is the violation with the margin taken off.
    """
    n = int(d.views["count"][NBLOCK])
    kind, index = d.views["block_kind"][:n], d.views["block_id"][:n]
    # the solver's equalities of tendons follow all others
    order = sorted(range(n), key=lambda b: (0, index[b]) if kind[b] == EQUALITY else (1, b))
    parts: list[dict[str, Any]] = [_rows_of(model, m, d, b) for b in order]
    if not parts:
        return {
            f: np.zeros((0, model.nv) if f == "efc_J" else 0, int if f[4:] in ("type", "id") else float) for f in FIELDS
        }
    return {f: np.concatenate([part[f] for part in parts]) for f in FIELDS}


def _rows_of(model: Model, m: Struct, d: Struct, b: int) -> dict[str, Any]:
    """Jacobian and other columns of the rows of one block."""
    get = lambda name: int(d.views[f"block_{name}"][b])  # noqa: E731
    kind, dim, first, law = get("kind"), get("dim"), get("row"), get("law")
    dofs = np.concatenate([m.views["chain_dof"], d.views["flex_dof"], d.views["found_dof"]])[get("dofs") :][
        : get("num")
    ]
    own = slice(first, first + dim)
    J = np.zeros((dim, model.nv))
    J[:, dofs] = d.views["row_J"][get("J") :][: dim * len(dofs)].reshape(len(dofs), dim).T
    values = {name: d.views[f"row_{name}"][own] for name in ("pos", "D", "aref", "force", "residual")}
    force = values["force"]
    if kind == PYRAMID:
        fold = _edges(m.views["law_friction"][law][: dim - 1])
        J = fold @ J
        count = len(fold)
        if d.views["dual_force"].size:  # the solver's own unknowns
            force = d.views["dual_force"][2 * first : 2 * first + count]
        else:
            force = -values["D"][0] * np.minimum(fold @ values["residual"], 0.0)
        values = dict(
            pos=np.full(count, values["pos"][0]), D=np.full(count, values["D"][0]), aref=fold @ values["aref"]
        )
    count = len(J)
    return dict(
        efc_J=J,
        efc_pos=values["pos"],
        efc_D=values["D"],
        efc_R=1.0 / values["D"],
        efc_aref=values["aref"],
        efc_force=force,
        efc_frictionloss=np.full(count, d.views["row_loss"][first] if kind == FRICTION else 0.0),
        efc_type=np.full(count, _type(m, kind, get("id"), get("chain"))),
        efc_id=np.full(count, _id(m, kind, get("id"), get("chain"))),
    )


def _edges(friction: np.ndarray) -> np.ndarray:
    """The edges [2 n, 1 + n] of a pyramid: normal plus and minus friction times each direction."""
    n = len(friction)
    fold = np.zeros((2 * n, 1 + n))
    fold[:, 0] = 1.0
    for k, mu in enumerate(friction):
        fold[2 * k, 1 + k], fold[2 * k + 1, 1 + k] = mu, -mu
    return fold


def _type(m: Struct, kind: int, index: int, chain: int) -> int:
    """MuJoCo's type of a row."""
    if kind == EQUALITY:
        return TYPES.mjCNSTR_EQUALITY.value
    if kind == FRICTION:
        of_dof = index < m.ndoffriction
        return (TYPES.mjCNSTR_FRICTION_DOF if of_dof else TYPES.mjCNSTR_FRICTION_TENDON).value
    if kind == PYRAMID:
        return TYPES.mjCNSTR_CONTACT_PYRAMIDAL.value
    if kind == CONE:
        return TYPES.mjCNSTR_CONTACT_ELLIPTIC.value
    if _of_bodies(m, chain):
        return TYPES.mjCNSTR_CONTACT_FRICTIONLESS.value
    return (TYPES.mjCNSTR_LIMIT_JOINT if index < m.njntlimit else TYPES.mjCNSTR_LIMIT_TENDON).value


def _id(m: Struct, kind: int, index: int, chain: int) -> int:
    """MuJoCo's number of the object of a row: equality, degree of freedom, joint, tendon, contact."""
    if kind == EQUALITY:
        return int(m.views["eq_id"][index])
    if kind == FRICTION:
        return int(m.views["friction_obj"][index])
    if kind in (PYRAMID, CONE) or _of_bodies(m, chain):
        return index
    return int(m.views["limit_obj"][index])


def _of_bodies(m: Struct, chain: int) -> bool:
    """Whether a chain belongs to a contact, not to a limit."""
    if chain >= len(m.views["chain_body1"]):  # chains of deformable bodies
        return True
    return bool(m.views["chain_body1"][chain] or m.views["chain_body2"][chain])
