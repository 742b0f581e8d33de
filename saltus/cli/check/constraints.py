"""Constraints in `saltus check`: their kinds, their solver, and settings that are reinterpreted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.model.compile.constraints.many_trees import has_many_small_trees
from saltus.model.enums import CYLINDER, ELLIPSOID, MESH, SLIDE, pair_types
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.model.model import Model

GEOMS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain")
SOLVERS = ("PGS", "CG", "Newton")
SEAMS = (
    "hard contact acts on the surface of both together; soft contact, as MuJoCo's, on each alone, and what crosses a "
    "seam may catch on its edges: one geom instead of two has none"
)
FEW = 5  # iterations below which solvers rarely converge
EXPLICIT_EULER = ("euler", "implicit", "implicitfast")  # semi-implicit, with explicit damping of constraints


def solver(model: Model) -> str:
    """Describe the solver of constraint forces; "" for a model without constraints."""
    struct = model.struct()
    if not struct.nblockmax:
        return ""
    opt = model.opt
    parts = [SOLVERS[opt.solver], f"{'elliptic' if opt.cone else 'pyramidal'} cone", f"tolerance {opt.tolerance:g}"]
    parts += [f"at most {screen.count(opt.iterations, 'iteration')}"]
    parts += [f"impratio {opt.impratio:g}"] if opt.impratio != 1 else []
    if struct.opt_noslip_iterations:
        parts.append(f"then at most {struct.opt_noslip_iterations} noslip")
    if "many_trees" in struct.layout.features:
        parts[0] += " tree by tree, in a time that grows with the contacts"
    return ", ".join(parts) + _better_solver(model)


def _better_solver(model: Model) -> str:
    """Describe the advantage of Newton's method if the file names another solver."""
    if SOLVERS[model.opt.solver] == "Newton":
        return ""
    if has_many_small_trees(model.mujoco):
        return "; Newton would work tree by tree: a heap of 1000 bodies takes it less than half of the time of CG"
    return "; Newton finds the same forces in fewer iterations"


# ------------------------------------------------------------ contents


def simulated(model: Model) -> list[tuple[str, str, str]]:
    """Active constraints: kind, names, and a remark."""
    from saltus.model.contact.many_pairs import count_pairs

    m = model.struct()
    joints, tendons = np.array(model.names("joint"), object), np.array(model.names("tendon"), object)
    limits = _of_joints_then_tendons(m.limit_obj, m.njntlimit, joints, tendons)
    of_dofs = joints[model.dof_jntid]
    friction = _of_joints_then_tendons(m.friction_obj, m.ndoffriction, of_dofs, tendons)
    rows = [("limits", screen.some(limits), ""), ("dry friction", screen.some(dict.fromkeys(friction)), "")]
    rows.append(("equalities", _equalities(model, active=True), ""))
    if "broad" in m.layout.features:
        number = screen.count(count_pairs(model.mj_model), "pair")
        rows.append(
            ("contacts", f"{number} of geoms, too many to list", "those near each other are found at each step")
        )
    for foreign, why in ((False, ""), (True, "by MuJoCo's functions, see docs/reference/collision.md")):
        kinds = [_kind(model, int(c)) for c in np.flatnonzero(m.collision_foreign == foreign)]
        for what in ("geoms", "deformable bodies"):
            own = [kind for kind in kinds if ("flex" in kind) == (what != "geoms")]
            which = ", ".join(f"{n} {kind}" for kind, n in Counter(own).most_common())
            rows.append(("contacts", f"{screen.count(len(own), 'pair')} of {what}: {which}" if own else "", why))
    rows.append(("static friction", _static_friction(model), "of contacts, under hard contact alone"))
    rows.append(("seams", _seams(model), SEAMS))
    return [row for row in rows if row[1]]


def _static_friction(model: Model) -> str:
    """Names of the geoms and pairs whose contacts stick up to a coefficient above that of sliding, and that."""
    from saltus.model.contact.static_friction import static_friction_of

    found = static_friction_of(model.mj_model)
    geoms, pairs = model.names("geom"), model.names("pair")
    numbers = [f"{geoms[g]} {x:g}" for g, x in found.geoms.items()]
    return screen.some([*numbers, *(f"pair {pairs[k]} {x:g}" for k, x in found.pairs.items())])


def _seams(model: Model) -> str:
    """Names of pairs of flush geoms across which bodies may slide or roll."""
    from saltus.model.contact.seams import flush_pairs

    names = model.names("geom")
    return screen.some([f"{names[a]} and {names[b]}" for a, b in flush_pairs(model.struct())])


def inactive(model: Model) -> str:
    """Names of the equality constraints that are switched off in the file."""
    return _equalities(model, active=False)


def _of_joints_then_tendons(objects: Any, njoint: int, joints: np.ndarray, tendons: np.ndarray) -> list[str]:
    return [*joints[objects[:njoint]], *tendons[objects[njoint:]]]


def _equalities(model: Model, *, active: bool) -> str:
    """Names of the active or inactive equality constraints, by type."""
    which = _active_equalities(model) if active else np.flatnonzero(model.eq_active0 == 0)
    names: dict[str, list[str]] = {}
    for i in which:
        names.setdefault(EQUALITIES[model.eq_type[i]], []).append(model.names("equality")[i])
    return "; ".join(f"{kind} {screen.some(found)}" for kind, found in names.items())


def _active_equalities(model: Model) -> np.ndarray:
    from saltus.model.compile.constraints.equalities import EQUALITY_ROWS

    if not model.struct().eq_type.size:
        return np.zeros(0, int)
    return np.flatnonzero((model.eq_active0 != 0) & np.isin(model.eq_type, list(EQUALITY_ROWS)))


def _kind(model: Model, c: int) -> str:
    """Kind of collision pair c, as "plane-box"; for flexes "sphere-flex", "flex-flex" or "flex-itself"."""
    m = model.struct()
    kind, geom = m.collision_kind[c], m.collision_geom1[c]
    if kind >= 0:
        return "-".join(GEOMS[t] for t in pair_types(int(kind)))
    if geom >= 0:
        return f"{GEOMS[model.geom_type[geom]]}-flex"
    return "flex-itself" if m.collision_flex1[c] == m.collision_flex2[c] else "flex-flex"


# ------------------------------------------------------------ warnings


@dataclass(frozen=True)
class Soft:
    """A soft constraint, such as "limit of knee", with the parameters in its file."""

    kind: str  # "limit of", "contact of", ...
    name: str
    solref: tuple[float, ...]
    solimp: tuple[float, ...]


def warnings(model: Model, integrator: Integrator) -> list[str]:
    """Warnings about settings that are interpreted differently, or that are too stiff for the timestep."""
    if not model.struct().nblockmax:
        return []
    contacts = list(_contacts(model))
    soft = [*_limits(model), *_frictions(model), *_equality_laws(model)]
    soft += [Soft("contact of", name, *_law(p["solref"], p["solimp"])) for name, _, p in contacts]
    judge = lambda law: _judgements(law, float(model.opt.timestep), _refsafe(model), integrator)  # noqa: E731
    found = [(text, thing.kind, thing.name) for thing in soft for text in judge(thing)]
    found += [(text, "contact of", name) for name, pair, p in contacts for text in _oddities(model, pair, p)]
    found += _early_limits(model)
    groups: dict[tuple[str, str], list[str]] = {}
    for text, kind, name in found:
        groups.setdefault((kind, text), []).append(name)
    out = [f"{kind} {screen.some(dict.fromkeys(names))}: {text}" for (kind, text), names in groups.items()]
    if model.opt.iterations < FEW:
        few = screen.count(model.opt.iterations, "iteration")
        out.append(f"the solver stops after {few}, before it converges; MuJoCo's would too, with a different result")
    return out + _older_search(model)


def _older_search(model: Model) -> list[str]:
    """Warning that the file's choice of MuJoCo's older collision search does not apply to Saltus's own kernels."""
    import mujoco

    asked = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_NATIVECCD.value
    if not asked or not np.isin(model.geom_type, (ELLIPSOID, CYLINDER, MESH)).any():
        return []
    return [
        "the file switches nativeccd off; only pairs that MuJoCo's functions collide heed that: where other convex "
        "shapes lie deep in each other, MuJoCo's older search finds other contacts"
    ]


def _refsafe(model: Model) -> bool:
    import mujoco

    return not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_REFSAFE.value


def _law(solref: Any, solimp: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(float(x) for x in solref), tuple(float(x) for x in solimp)


def _limits(model: Model) -> Iterator[Soft]:
    m, joints, tendons = model.struct(), model.names("joint"), model.names("tendon")
    for k, i in enumerate(m.limit_obj):
        if k < m.njntlimit:
            yield Soft("limit of", joints[i], *_law(model.jnt_solref[i], model.jnt_solimp[i]))
        else:
            law = _law(model.tendon_solref_lim[i], model.tendon_solimp_lim[i])
            yield Soft("limit of", tendons[i], *law)


def _frictions(model: Model) -> Iterator[Soft]:
    m, joints, tendons = model.struct(), model.names("joint"), model.names("tendon")
    for k, i in enumerate(m.friction_obj):
        if k < m.ndoffriction:
            name = joints[model.dof_jntid[i]]
            yield Soft("dry friction of", name, *_law(model.dof_solref[i], model.dof_solimp[i]))
        else:
            law = _law(model.tendon_solref_fri[i], model.tendon_solimp_fri[i])
            yield Soft("dry friction of", tendons[i], *law)


def _equality_laws(model: Model) -> Iterator[Soft]:
    for i in _active_equalities(model):
        yield Soft("equality", model.names("equality")[i], *_law(model.eq_solref[i], model.eq_solimp[i]))


def _contacts(model: Model) -> Iterator[tuple[str, Any, dict]]:
    """Yield name, pair and parameters of each pair of geoms that may touch.

    In models with too many pairs to list, yield one pair for any two sets of contact parameters.
    """
    from saltus.model.compile.constraints.broad import exemplary_pairs
    from saltus.model.contact import collisions

    m, names = model.mj_model, model.names("geom")
    struct = model.struct()
    if "broad" in struct.layout.features:
        for pair in exemplary_pairs(m):
            yield f"{names[pair.geom1]}-{names[pair.geom2]}", pair, collisions.parameters(m, pair)
        return
    acting = set(zip(map(int, struct.collision_geom1), map(int, struct.collision_geom2), strict=True))
    for pair in collisions.pairs(m) if acting else ():
        if (pair.geom1, pair.geom2) in acting:
            yield f"{names[pair.geom1]}-{names[pair.geom2]}", pair, collisions.parameters(m, pair)


def _judgements(law: Soft, h: float, safe: bool, integrator: Integrator) -> Iterator[str]:
    """Warnings about solref and solimp with timestep h (s)."""
    from saltus.simulate.soft_contact.analysis import contact_law

    first, second = law.solref
    acting = contact_law(law.solref, law.solimp, timestep=h, refsafe=safe)
    if (first > 0) != (second > 0):
        yield f"solref {_numbers(law.solref)} has mixed signs; the default {_numbers(acting.used_solref)} is used"
    elif 0 < first < 2 * h:
        under = f"the time constant {first:g} s is less than two timesteps"
        yield f"{under} and raised to {2 * h:g} s (refsafe)" if safe else f"{under}, and refsafe is off"
    if acting.used_solimp != law.solimp:
        yield f"solimp {_numbers(law.solimp)} is out of range; {_numbers(acting.used_solimp)} is used"
    limit, omega = largest_step(acting.used_solref, acting.used_solimp, integrator)
    if h > limit:
        yield (
            f"oscillates at {omega:.4g} rad/s, too fast for a timestep of {h:g} s: {integrator.name} needs less "
            f"than {limit:.3g} s"
        )


def _numbers(values: Any) -> str:
    return " ".join(f"{x:g}" for x in values)


def largest_step(solref: Any, solimp: Any, integrator: Integrator) -> tuple[float, float]:
    """Largest stable step (s) for the violation r of a single constraint, and its frequency ω (rad/s).

    At the largest impedance d: r'' + d B r' + d² K r = 0, ω = d √K. Semi-implicit Euler with explicit damping is stable
    for h² ω² + 2 h d B < 4, undamped for h < 2/ω; for other methods see
    `saltus.simulate.diagnosis.linear_stability`.
    """
    from saltus.model.contact.contact_parameters import reference
    from saltus.simulate.diagnosis.linear_stability import stable_timestep

    d = max(solimp[:2])
    stiffness, damping = map(float, reference(solref, solimp[1], 0.0))
    k, b = d * d * stiffness, d * damping
    omega = math.sqrt(max(k, 0.0))
    if k <= 0 and b <= 0:
        return math.inf, omega
    if integrator.name in EXPLICIT_EULER:
        return 4.0 / (b + math.sqrt(b * b + 4.0 * k)), omega
    return stable_timestep(integrator, np.roots([1.0, b, k]).astype(complex)[None])[0], omega


def _oddities(model: Model, pair: Any, parameters: dict) -> Iterator[str]:
    """Warnings about the margin of a contact and about parameters decided by priority."""
    margin, gap = float(parameters["margin"]), float(parameters["gap"])
    if margin > 0:
        old = f"; before MuJoCo 4.0 this meant {margin - gap:g} m" if gap > 0 else ""
        yield f"acts from a distance of {margin:g} m (margin), so bodies may rest that far apart{old}"
    first, second = parameters["solreffriction"]
    if (first > 0) != (second > 0):
        yield f"solreffriction {first:g} {second:g} has mixed signs and is ignored"
    rank = [int(model.geom_priority[g]) for g in (pair.geom1, pair.geom2)]
    if pair.explicit < 0 and rank[0] != rank[1]:
        loser = pair.geom1 if rank[0] < rank[1] else pair.geom2
        for name, own, other in (
            ("condim", parameters["dim"], int(model.geom_condim[loser])),
            ("friction", float(parameters["friction"][0]), float(model.geom_friction[loser, 0])),
        ):
            if own < other:
                yield f"has {name} {own:g} by priority, where the other geom has {other:g}"


def _early_limits(model: Model) -> Iterator[tuple[str, str, str]]:
    """Yield a warning (text, kind, name) for each limit with a margin."""
    m = model.struct()
    unit: Callable[[int], str] = lambda j: "m" if model.jnt_type[j] == SLIDE else "rad"  # noqa: E731
    for k, (i, margin) in enumerate(zip(m.limit_obj, m.limit_margin, strict=True)):
        if margin > 0:
            of_joint = k < m.njntlimit
            name = model.names("joint" if of_joint else "tendon")[i]
            before = f"{margin:g} {unit(i) if of_joint else 'm'}"
            yield f"acts from {before} before the end of its range (margin)", "limit of", name
