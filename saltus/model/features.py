"""Detection of unsupported and optional features of a model; unsupported ones are refused unless ignored."""

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from saltus.arguments import words
from saltus.errors import ModelError, OptionError
from saltus.model.compile import fluid
from saltus.model.compile.actuators import supported_actuator
from saltus.model.compile.constraints.equalities import EQUALITY_ROWS
from saltus.model.compile.sensors import unfelt
from saltus.model.compile.sleep import why_awake
from saltus.model.compile.tendons import parameters
from saltus.model.contact import collisions, many_pairs
from saltus.model.enums import FREE, SOLVER_PGS, WRAP_CYLINDER, WRAP_SPHERE
from saltus.model.flex import contacts as flex_contacts
from saltus.model.flex import flexes
from saltus.model.sensor_enums import TACTILE

DISABLE = mujoco.mjtDisableBit
ENABLE = mujoco.mjtEnableBit


@dataclass(frozen=True)
class Feature:
    """A feature of a model that affects the motion and can be left out."""

    kind: str  # the word in `ignore`
    element: str  # the MJCF element
    name: str  # the name in the file, or "#index"
    text: str  # effect of the feature, for messages
    simulated: bool = False  # whether it is simulated unless left out


IGNORABLE = {  # kinds of features that can be left out
    "contact": "contacts",
    "limit": "joint and tendon limits",
    "frictionloss": "dry friction in joints and tendons",
    "equality": "equality constraints",
    "tendon": "springs, dampers and inertia of tendons",
    "actuator": "actuators whose laws are callbacks or plugins",
    "fluid": "fluid forces (density, viscosity)",
    "flex": "deformable bodies",
    "plugin": "engine plugins",
    "tactile": "tactile sensors",
    "plasticity": "plastic springs",
    "sleep": "sleeping of resting bodies",
    "adhesion": "adhesive contacts",
    "noslip": "the noslip solver",
    "diagexact": "constraint inertias computed at each state",
    "speculative": "contacts of bodies that would touch within the step",
}
CONSTRAINTS = {"contact", "limit", "frictionloss", "equality"}


def present(m: mujoco.MjModel) -> list[Feature]:
    """Features of the model that affect the motion and can be left out; `simulated` tells which are simulated."""
    found: list[Feature] = []
    constraints = not _disabled(m, DISABLE.mjDSBL_CONSTRAINT)
    if constraints:
        found += _contacts(m) + _limits(m) + _friction(m) + _equalities(m)
        found += _solver(m) if found else []
    found += _tendons(m) + _actuators(m) + _medium(m) + _others(m)
    return found


def unsupported(m: mujoco.MjModel) -> list[Feature]:
    """Features of the model that affect the motion and are not simulated."""
    return [feature for feature in present(m) if not feature.simulated]


def check(m: mujoco.MjModel, ignore: Iterable[str], file: str | None = None) -> list[str]:
    """Raise ModelError for the first feature that is neither simulated nor ignored; return the features left out."""
    ignore = ignored_kinds(ignore)
    found = present(m)
    refused = [feature for feature in found if feature.kind not in ignore and not feature.simulated]
    if refused:
        first, kinds = refused[0], list(dict.fromkeys(feature.kind for feature in refused))
        what = "it" if len(kinds) == 1 else "these"
        raise ModelError(
            f"{first.text} is not simulated yet; leave {what} out with ignore={kinds}",
            file=file,
            element=first.element,
            name=first.name,
        )
    return [f"{feature.kind}: {feature.element} {feature.name}" for feature in found if feature.kind in ignore]


def ignored_kinds(ignore: Iterable[str]) -> set[str]:
    """The kinds selected by `ignore`: keys of IGNORABLE, also in the plural, and "constraint" for all constraints."""
    kinds: set[str] = set()
    for word in words("ignore", ignore):
        kind = {"equalities": "equality"}.get(word, word.removesuffix("s"))
        if kind == "constraint":
            kinds |= CONSTRAINTS
        elif word in IGNORABLE or kind in IGNORABLE:
            kinds.add(word if word in IGNORABLE else kind)
        else:
            raise OptionError.unknown("feature in ignore", word, [*IGNORABLE, "constraint"])
    return kinds


def name_of(m: mujoco.MjModel, kind: str, index: int | np.integer) -> str:
    """Name of an object, or "#index" if it has none."""
    return mujoco.mj_id2name(m, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), int(index)) or f"#{index}"


def _disabled(m, bit) -> bool:
    return bool(m.opt.disableflags & bit.value)


def _contacts(m) -> list[Feature]:
    if _disabled(m, DISABLE.mjDSBL_CONTACT):
        return []
    number = many_pairs.count_pairs(m)
    if not number:
        return []
    pair = many_pairs.first_pair(m)
    first, second = (name_of(m, "GEOM", g) for g in (pair.geom1, pair.geom2))
    more = f" (and {number - 1} more pairs)" if number > 1 else ""
    return [Feature("contact", "geom", second, f"contact with geom {first!r}{more}", simulated=True)]


def _limits(m) -> list[Feature]:
    if _disabled(m, DISABLE.mjDSBL_LIMIT):
        return []
    limited = np.flatnonzero(np.logical_and(m.jnt_limited, m.jnt_type != FREE))
    joints = [Feature("limit", "joint", name_of(m, "JOINT", j), "its range", simulated=True) for j in limited]
    tendons = np.flatnonzero(m.tendon_limited) if m.ntendon else []
    return joints + [Feature("limit", "tendon", name_of(m, "TENDON", t), "its range", simulated=True) for t in tendons]


def _friction(m) -> list[Feature]:
    if _disabled(m, DISABLE.mjDSBL_FRICTIONLOSS):
        return []
    joints = sorted({int(m.dof_jntid[i]) for i in np.flatnonzero(m.dof_frictionloss)})
    found = [Feature("frictionloss", "joint", name_of(m, "JOINT", j), "dry friction", simulated=True) for j in joints]
    tendons = np.flatnonzero(m.tendon_frictionloss) if m.ntendon else []
    return found + [
        Feature("frictionloss", "tendon", name_of(m, "TENDON", t), "dry friction", simulated=True) for t in tendons
    ]


def _equalities(m) -> list[Feature]:
    if _disabled(m, DISABLE.mjDSBL_EQUALITY):
        return []
    simulated = np.isin(m.eq_type, list(EQUALITY_ROWS)) | (m.eq_active0 == 0)
    return [
        Feature("equality", "equality", name_of(m, "EQUALITY", i), "the constraint", simulated=bool(simulated[i]))
        for i in range(m.neq)
    ]


def _solver(m) -> list[Feature]:
    """Features of the solver that change the constraint forces of a model with constraints."""
    sticking = [("geom", g) for g in np.flatnonzero(m.geom_adhesion)]
    sticking += [("pair", k) for k in np.flatnonzero(m.pair_adhesion)]
    found = [Feature("adhesion", of, name_of(m, of.upper(), k), "adhesion", simulated=True) for of, k in sticking]
    if m.opt.noslip_iterations > 0:
        found.append(Feature("noslip", "option", "noslip_iterations", "the noslip solver", simulated=True))
    if flex_contacts.touches(m) and (m.opt.noslip_iterations > 0 or int(m.opt.solver) == SOLVER_PGS):
        found.append(Feature("flex", "option", "solver, noslip_iterations", "PGS or noslip with deformable bodies"))
    if m.opt.enableflags & ENABLE.mjENBL_DIAGEXACT.value:
        found.append(Feature("diagexact", "flag", "diagexact", "the exact diagonal"))
    if m.opt.enableflags & ENABLE.mjENBL_SPECULATIVE.value:
        found.append(Feature("speculative", "flag", "speculative", "speculative contact"))
    return found


def _tendons(m) -> list[Feature]:
    found = []
    forces = parameters(m)
    for t in range(m.ntendon):
        if any(np.any(values[t]) for values in forces.values()):
            way = m.wrap_type[m.tendon_adr[t] : m.tendon_adr[t] + m.tendon_num[t]]
            # tendons with inertia and wrapping geoms, which MuJoCo's compiler also refuses
            odd = forces["tendon_armature"][t] != 0 and bool(np.isin(way, (WRAP_SPHERE, WRAP_CYLINDER)).any())
            text = "armature of a tendon that wraps around geoms" if odd else "its force"
            found.append(Feature("tendon", "tendon", name_of(m, "TENDON", t), text, simulated=not odd))
    return found


def _actuators(m) -> list[Feature]:
    if _disabled(m, DISABLE.mjDSBL_ACTUATION):
        return []
    names = [name_of(m, "ACTUATOR", k) for k in range(m.nactuator) if not supported_actuator(m, k)]
    return [Feature("actuator", "actuator", name, "its law") for name in names]


def _medium(m) -> list[Feature]:
    if not fluid.present(m):
        return []
    return [Feature("fluid", "option", "density, viscosity", "the fluid force", simulated=True)]


def _tactile(m) -> list[Feature]:
    """Tactile sensors, which do not affect the motion, but cannot feel everything that they may touch."""
    tactile = np.flatnonzero(m.sensor_type == TACTILE) if m.nsensor else []
    if not len(tactile):
        return []
    pairs = [] if _disabled(m, DISABLE.mjDSBL_CONTACT) else collisions.pairs(m)
    flexible = flex_contacts.flex_pairs(m) if flex_contacts.touches(m) else []
    missing = [unfelt(m, int(s), pairs, flexible) for s in tactile]
    return [
        Feature("tactile", "sensor", name_of(m, "SENSOR", s), text or "its reading", simulated=not text)
        for s, text in zip(tactile, missing, strict=True)
    ]


def _others(m) -> list[Feature]:
    found = []
    for f in range(m.nflex):
        missing = flexes.unsupported(m, f)
        found.append(Feature("flex", "flex", name_of(m, "FLEX", f), missing or "elasticity", simulated=not missing))
    found += _tactile(m)
    found += [Feature("plugin", "plugin", name_of(m, "PLUGIN", p), "the plugin") for p in range(m.nplugin)]
    if np.any(m.jnt_plasticadr >= 0) or np.any(m.tendon_plasticadr >= 0):
        found.append(Feature("plasticity", "joint", "springyield", "a plastic spring"))
    if m.opt.enableflags & ENABLE.mjENBL_SLEEP.value:
        why = why_awake(m, frozenset())
        text = f"sleeping with {why}" if why else "sleeping"
        found.append(Feature("sleep", "flag", "sleep", text, simulated=not why))
    return found
