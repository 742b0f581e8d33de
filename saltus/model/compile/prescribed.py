"""Prescribed motions in the kernels' Model, and constraints that are left out because nothing could move there."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from saltus.errors import OptionError
from saltus.model.compile.constraints.hard import HardLaw, carried
from saltus.model.layout import model_layout
from saltus.number.structs import Struct

NO_MOTIONS = {"nmotion": 0, "nv_motion": 0, "ncarrier": 0, "nmover_motion": 0, "nrow_carried": 0}
More: TypeAlias = tuple[dict[str, Any], dict[str, int], set[str]]  # values, sizes, feature keys


class PrescribedMotions(NamedTuple):
    """Joints and mocap bodies whose motions are prescribed, by their numbers.

    `rescaled`: ratio of the sum of all dofs' inertias to that of the free ones, which scales errors of solvers.
    """

    joints: tuple[int, ...] = ()
    carriers: tuple[int, ...] = ()  # mocap numbers
    rescaled: float = 1.0


def prescribed(base: Struct, motions: PrescribedMotions) -> More:
    """Fields of joints with prescribed motions."""
    if not motions.joints:
        return {}, {}, set()
    joints = list(motions.joints)
    values: dict[str, Any] = {f"motion_{name}": base.views[f"jnt_{name}"][joints] for name in ("qposadr", "dofadr")}
    values["opt_scale"] = motions.rescaled * base.views["opt_scale"]
    values["dof_prescribed"] = _prescribed_dofs(base, motions).astype(int)
    return values, {"nmotion": len(joints), "nv_motion": base.nv}, {"prescribed"}


def carriers(base: Struct, motions: PrescribedMotions) -> More:
    """Fields of mocap bodies with prescribed motions: movers, under any contact law."""
    if not motions.carriers:
        return {}, {}, set()
    sizes = {"ncarrier": len(motions.carriers), "nmover": base.nmocap, "nmover_motion": base.nmocap}
    sizes["nrow_carried"] = base.sizes["nrowmax"]
    values = {
        "carrier_mocapid": np.array(motions.carriers),
        "collision_moves": base.views["collision_moves"] | carried(base),
    }
    return values, sizes, {"carriers", "movers"}


def without_idle(base: Struct, motions: PrescribedMotions, law: HardLaw) -> tuple[Struct, HardLaw]:
    """The kernels' Model and its law without contacts, limits and dry friction that act only on prescribed joints.

    Hard constraints would have no free degree of freedom there.

    Raises:
        OptionError: an equality acts only on prescribed joints.
    """
    if not motions.joints:
        return base, law
    there = _prescribed_dofs(base, motions)
    dofs, first, count = (base.views[name] for name in ("chain_dof", "chain_adr", "chain_num"))
    idle = np.array([n > 0 and there[dofs[a : a + n]].all() for a, n in zip(first, count, strict=True)], bool)
    keep = {
        size: np.array([c < 0 or not idle[c] for c in base.views[f"{kind}_chain"]], bool)
        for size, kind in (("ncollision", "collision"), ("nlimit", "limit"), ("nfriction", "friction"), ("neq", "eq"))
    }
    acting = ~keep["neq"] & (base.views["eq_active0"] != 0)
    if acting.any():
        number = int(base.views["eq_id"][acting][0])
        raise OptionError(
            f"motions: equality {number} acts only on joints with prescribed motions, which it cannot move; leave out "
            "one of their motions, or the equality (active='false')"
        )
    if all(kept.all() for kept in keep.values()):
        return base, law
    sizes = base.sizes | {size: int(kept.sum()) for size, kept in keep.items()}
    sizes["njntlimit"] = int(keep["nlimit"][: base.njntlimit].sum())
    sizes["ndoffriction"] = int(keep["nfriction"][: base.ndoffriction].sum())
    struct = Struct(model_layout(base.layout.features), sizes, base.kind)
    for name, view in struct.views.items():
        shape = base.layout.fields[name].shape
        kept = keep.get(shape[0]) if shape else None
        view[...] = base.views[name] if kept is None else base.views[name][kept]
    pairs, limits = keep["ncollision"], keep["nlimit"]
    return struct, law._replace(
        restitution=_kept(law.restitution, pairs),
        friction=_kept(law.friction, pairs),
        tangential_restitution=_kept(law.tangential_restitution, pairs),
        limit_restitution=_kept(law.limit_restitution, limits),
    )


def _kept(numbers: tuple[float, ...], keep: np.ndarray) -> tuple[float, ...]:
    """The selected numbers of a law, which may have none."""
    return tuple(np.array(numbers)[keep].tolist()) if numbers else numbers


def _prescribed_dofs(base: Struct, motions: PrescribedMotions) -> np.ndarray:
    """Mask of the prescribed degrees of freedom [nv]."""
    found = np.zeros(base.nv, bool)
    found[base.views["jnt_dofadr"][list(motions.joints)]] = True
    return found
