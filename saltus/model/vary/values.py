"""The kernels' Model of many simulations: values derived from fields that vary."""

from collections import defaultdict
from typing import Any

import numpy as np

from saltus.errors import OptionError
from saltus.model.compile.actuators import actuator_values, setpoint_periods
from saltus.model.compile.constraints.dry_friction import friction_values
from saltus.model.compile.constraints.equalities import equality_values
from saltus.model.compile.constraints.limits import limit_values
from saltus.model.compile.constraints.solver import inertia_scale
from saltus.model.compile.tendons import parameters
from saltus.model.compile.tree import FLAGS, attached_poses, off, tree_values
from saltus.model.contact.bounds import bounding_radii
from saltus.model.contact.collisions import Pair, laws_of, pairs_of_file
from saltus.model.contact.contact_parameters import soft_laws
from saltus.model.features import name_of
from saltus.model.tree.chains import chain_values
from saltus.model.vary.stack import Stack
from saltus.number.structs import Struct

_COPIED = ("body_invweight0", "body_pos", "body_quat", "body_mass", "jnt_pos", "jnt_axis", "jnt_actfrcrange")
_COPIED += ("qpos_spring", "geom_size", "tendon_length0", "tendon_lengthspring", "tendon_actfrcrange")
_COPIED += ("cam_pos0", "cam_poscom0", "cam_mat0")


def kernel_values(
    s: Stack, struct: Struct, left_out: frozenset[str], safe_timestep: float, fields: frozenset[str] | None = None
) -> dict[str, np.ndarray]:
    """Fields of the kernels' Model that differ between simulations [n, ...].

    `struct`: the Model of one of them, in which every constraint has its own law; `safe_timestep` (s) bounds the time
    constants of soft constraints. `fields`: those of the Model that may differ, by default those that do so in
    `struct`. Values are complex where those of `s` are.
    """
    fields = struct.layout.varied if fields is None else fields
    poses = attached_poses(s)
    views = struct.views
    values = {name: getattr(s, name) for name in _COPIED}
    values |= tree_values(s, poses) | actuator_values(s) | parameters(s, left_out)
    values["geom_rbound"] = s.geom_rbound
    if s.geom_size.ndim > 2:
        values["geom_rbound"] = bounding_radii(s.geom_type, s.geom_size, s.geom_rbound)
    if not off(s, FLAGS.mjDSBL_GRAVITY):
        values["opt_gravity"] = s.opt.gravity[..., None, :]
    values["opt_magnetic"] = s.opt.magnetic[..., None, :]
    values["opt_impratio"] = np.asarray(s.opt.impratio)
    values["opt_scale"] = np.asarray(inertia_scale(s))
    joints, dofs = struct.njntlimit, struct.ndoffriction
    limited, rubbed = views["limit_obj"], views["friction_obj"]
    values |= limit_values(s, limited[:joints], limited[joints:])
    values |= friction_values(s, rubbed[:dofs], rubbed[dofs:])
    values |= equality_values(s, views["eq_id"])
    values |= chain_values(s, np.stack([views["chain_body1"], views["chain_body2"]], axis=1))
    values |= _laws(s, struct, safe_timestep)
    _check_periods(s, struct)
    own = {name: len(struct.layout.shape(name, struct.sizes)) for name in fields}
    return {name: value for name, value in values.items() if name in own and np.ndim(value) > own[name]}


def _laws(s: Stack, struct: Struct, safe: float) -> dict[str, np.ndarray]:
    """Parameters of the laws of all constraints, each at its place among the Model's laws."""
    views = struct.views
    joints, dofs = struct.njntlimit, struct.ndoffriction
    limited, rubbed, equal = views["limit_obj"], views["friction_obj"], views["eq_id"]
    found = [
        (views["limit_law"][:joints], _soft(s, "jnt_sol{}", limited[:joints], safe)),
        (views["limit_law"][joints:], _soft(s, "tendon_sol{}_lim", limited[joints:], safe)),
        (views["friction_law"][:dofs], _soft(s, "dof_sol{}", rubbed[:dofs], safe)),
        (views["friction_law"][dofs:], _soft(s, "tendon_sol{}_fri", rubbed[dofs:], safe)),
        (views["eq_law"], _soft(s, "eq_sol{}", equal, safe)),
    ]
    of_geoms = np.flatnonzero((views["collision_geom1"] >= 0) & (views["collision_geom2"] >= 0))
    pairs = _pairs(s, views["collision_geom1"][of_geoms], views["collision_geom2"][of_geoms])
    if pairs:
        found.append((views["collision_law"][of_geoms], laws_of(s, pairs, safe)))
    out: dict[str, np.ndarray] = {}
    for places, laws in found:
        if laws is None:
            continue
        if (laws["direct"] != views["law_direct"][places]).any():
            raise OptionError("vary: all solref must be (stiffness, damping), or all (time constant, damping ratio)")
        for name, value in laws.items():
            field = f"law_{name}"
            inner = struct.layout.shape(field, struct.sizes)[1:] if field in struct.layout.varied else None
            if inner is None or not len(places) or value.ndim == 1 + len(inner):
                continue
            if field not in out:
                own = views[field][..., 0]  # equal in all lanes
                out[field] = np.broadcast_to(own, (len(value), *own.shape)).astype(np.result_type(own, value))
            out[field][:, places] = value
    return out


def _soft(s: Stack, names: str, k: np.ndarray, safe: float) -> dict[str, np.ndarray] | None:
    """Laws of constraints; None if they are the model's own."""
    solref, solimp = (getattr(s, names.format(x)) for x in ("ref", "imp"))
    return soft_laws(solref[..., k, :], solimp[..., k, :], safe) if solref.ndim > 2 or solimp.ndim > 2 else None


def _pairs(s: Stack, geoms1: np.ndarray, geoms2: np.ndarray) -> list[Pair]:
    """Pairs of geoms, those that the file names in its order."""
    explicit = defaultdict(list)
    for key, k in reversed(pairs_of_file(s)):
        explicit[key].append(k)
    pairs = [(int(a), int(b)) for a, b in zip(geoms1, geoms2, strict=True)]
    return [Pair(a, b, named.pop() if (named := explicit[min(a, b), max(a, b)]) else -1) for a, b in pairs]


def _check_periods(s: Any, struct: Struct) -> None:
    """Raise OptionError if a servo of an angle would become periodic or not periodic: MuJoCo decides by its values."""
    if not s.nactuator or all(getattr(s, f"actuator_{x}").ndim == 2 for x in ("gainprm", "biasprm", "gear")):
        return
    wrong = np.real(setpoint_periods(s)) != struct.views["actuator_period"]
    if wrong.any():
        i, k = (int(x) for x in np.argwhere(np.atleast_2d(wrong))[0])
        name = name_of(s.plain, "ACTUATOR", k)
        raise OptionError(
            f"actuator_gainprm, actuator_biasprm and actuator_gear of {name} (simulation {i}): a position servo on an "
            "angle takes its error to the nearest turn where gainprm[0] = -biasprm[1]; vary both together, and no gear"
        )
