"""Columns of a sample: shapes, types, and dimensions in files."""

from __future__ import annotations

import numpy as np

#: The columns of a recording, and the dimensions of a row of each.
DIMENSIONS: dict[str, tuple[str, ...]] = {
    "time": (),
    "qpos": ("qpos_name",),
    "qvel": ("qvel_name",),
    "act": ("act_name",),
    "ctrl": ("ctrl_name",),
    "energy": ("energy_kind",),
    "contact_state": ("contact_name",),
    "mocap_pos": ("mocap_name", "axis"),
    "mocap_quat": ("mocap_name", "quaternion_part"),
    "contact_mode": ("contact_name",),
    "contact_force": ("contact_name", "axis"),
    "contact_pos": ("contact_name", "axis"),
    "actuation_state": ("actuation_name",),
    "ledger": ("account",),
    "tree_asleep": ("tree_name",),
    "prescribed_force": ("motion_name",),
}

#: Columns of contact points; empty in recordings of pairs of geoms alone.
POINTS = ("contact_mode", "contact_force", "contact_pos")


def row_shapes(
    nq: int,
    nv: int,
    na: int = 0,
    nu: int = 0,
    ncontact: int = 0,
    nmocap: int = 0,
    npoint: int = 0,
    nactuation: int = 0,
    nledger: int = 0,
    ntree: int = 0,
    nmotion: int = 0,
) -> dict[str, tuple]:
    """Shape of a sample in each column.

    `npoint`: contact points with a mode and a force: `ncontact`, or 0 where contacts are pairs of geoms.
    `nactuation`: discrete states of actuation. `nledger`: accounts of a ledger of energy, where one is kept.
    `ntree`: kinematic trees, where they may fall asleep. `nmotion`: joints with prescribed motions.
    """
    return {
        "time": (),
        "qpos": (nq,),
        "qvel": (nv,),
        "act": (na,),
        "ctrl": (nu,),
        "energy": (2,),
        "contact_state": (ncontact,),
        "mocap_pos": (nmocap, 3),
        "mocap_quat": (nmocap, 4),
        "contact_mode": (npoint,),
        "contact_force": (npoint, 3),
        "contact_pos": (npoint, 3),
        "actuation_state": (nactuation,),
        "ledger": (nledger,),
        "tree_asleep": (ntree,),
        "prescribed_force": (nmotion,),
    }


def dtype_of(column: str) -> type:
    """Type of a column's numbers."""
    return {"contact_state": np.bool_, "contact_mode": np.int8, "tree_asleep": np.int32}.get(column, np.float64)


def tables(shapes: dict[str, tuple], room: int) -> dict[str, np.ndarray]:
    """Arrays for so many samples, by column."""
    return {name: np.empty((room, *shape), dtype=dtype_of(name)) for name, shape in shapes.items()}
