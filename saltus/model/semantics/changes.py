"""Changes between MuJoCo's releases that alter motion, and the models that they concern.

Each is followed as the model's release asks, refused by name with a remedy, or told in a warning where only the points
of contacts differ. Source: MuJoCo's changelog, from release 3.9 to 4.0.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.actuator_enums import INPUT_VOLTAGE
from saltus.model.enums import BOX, CAPSULE, CYLINDER, FREE, MESH, PLANE
from saltus.model.semantics.releases import Release, declared, name_of

ENABLE_SLEEP = mujoco.mjtEnableBit.mjENBL_SLEEP.value
IMPLICITFAST = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
BIAS_DCMOTOR = mujoco.mjtBias.mjBIAS_DCMOTOR.value


class Change(NamedTuple):
    """A change that came with a release.

    `concerns`: description of what it concerns in a model and its text, "" for nothing. `remedy`: how to write what the
    older release meant; "" where a warning is enough.
    """

    since: Release
    concerns: Callable[[Any, str], str]
    remedy: str = ""


def _named(m: Any, kind: str, index: int) -> str:
    """Kind and name of an object, or its number."""
    name = mujoco.mj_id2name(m, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), int(index))
    return f"{kind} {name or f'#{index}'!r}"


def _first(m: Any, kind: str, chosen: Any, text: str) -> str:
    """Text about the first of the chosen objects, "" if there is none."""
    found = np.flatnonzero(chosen)
    return f"{text} ({_named(m, kind, found[0])})" if len(found) else ""


def _deformable(m: Any, _: str) -> str:
    return _first(m, "flex", np.ones(m.nflex), "elastic constants, contacts and rods of deformable bodies")


def _dampratio(_: Any, text: str) -> str:
    return "damping from dampratio" if re.search(r"\bdampratio\s*=", text) else ""


def _tendon_limits(m: Any, text: str) -> str:
    if re.search(r"\bactuatorfrclimited\s*=", text):
        return ""
    return _first(m, "tendon", m.tendon_actfrclimited, "actuatorfrcrange of a tendon without actuatorfrclimited")


def _dc_motors(m: Any, _: str) -> str:
    motors = (m.actuator_biastype == BIAS_DCMOTOR) & (m.actuator_ctrlspec & ~INPUT_VOLTAGE != 0)
    return _first(m, "actuator", motors, "gains of a dc motor's controller")


def _mocap_children(m: Any, _: str) -> str:
    below = (m.body_mocapid[m.body_parentid] >= 0) & (m.body_geomnum > 0)
    return _first(m, "body", below, "contacts of children of mocap bodies")


def _spinning(m: Any, _: str) -> str:
    if m.opt.integrator != IMPLICITFAST:
        return ""
    return _first(m, "joint", m.jnt_type == FREE, "implicitfast on free bodies")


def _sleep(m: Any, text: str) -> str:
    asked = m.opt.enableflags & ENABLE_SLEEP and not re.search(r"\bsleep_tolerance\s*=", text)
    return "the default of sleep_tolerance" if asked else ""


def _gaps(m: Any, _: str) -> str:
    return _first(m, "geom", m.geom_gap, "margin and gap") or _first(m, "pair", m.pair_gap, "margin and gap")


def _other_defaults(m: Any, text: str) -> str:
    """Actuators of one kind in a file whose defaults have parameters for another."""
    kinds = "motor|position|velocity|intvelocity|damper|cylinder|muscle|adhesion|dcmotor|pid|orientation"
    within = " ".join(re.findall(r"<default\b.*</default>", text, re.DOTALL))
    of_defaults = set(re.findall(rf"<({kinds})\b", within))
    used = set(re.findall(rf"<({kinds})\b", text.replace(within, ""))) if within else set()
    return "parameters of actuators from defaults of other kinds" if of_defaults and used - of_defaults else ""


def _touching(*shapes: int) -> Callable[[Any, str], str]:
    """Description of contacts between two geoms of these shapes, or of one shape with itself."""

    def concerns(m: Any, _: str) -> str:
        active = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
        numbers = [int(np.sum(active & (m.geom_type == shape))) for shape in shapes]
        there = numbers[0] > 1 if len(shapes) == 1 else min(numbers) > 0
        names = [mujoco.mjtGeom(shape).name.removeprefix("mjGEOM_").lower() for shape in shapes]
        return f"points of contacts of {' with '.join([*names, names[0]][:2])}" if there else ""

    return concerns


def _forces_at_welds(m: Any, _: str) -> str:
    sensed = np.isin(m.sensor_type, (mujoco.mjtSensor.mjSENS_FORCE.value, mujoco.mjtSensor.mjSENS_TORQUE.value)).any()
    held = bool(np.any(m.eq_type == mujoco.mjtEq.mjEQ_WELD.value)) or m.ntendon > 0
    return "readings of force and torque sensors by welds and tendons" if sensed and held else ""


CHANGES = (
    Change((4, 0), _deformable, "keep to this release's meaning; its changelog gives constants for the older one's"),
    Change((3, 17), _touching(CAPSULE, MESH)),
    Change((3, 16), _other_defaults),
    Change((3, 15), _dampratio, "write kv in place of dampratio"),
    Change((3, 14), _tendon_limits, 'write actuatorfrclimited="false"'),
    Change((3, 14), _forces_at_welds),
    Change((3, 13), _touching(PLANE, MESH)),
    Change((3, 13), _touching(CYLINDER)),
    Change((3, 12), _dc_motors, "multiply the gains by K/R, and write input pos or vel"),
    Change((3, 12), _mocap_children, "exclude them with <contact><exclude>"),
    Change((3, 12), _touching(BOX)),
    Change((3, 11), _spinning, "choose another integrator"),
    Change((3, 11), _sleep, 'write sleep_tolerance="1e-4"'),
    Change((3, 9), _gaps, "write margin minus gap in place of margin"),
)


def followed(m: mujoco.MjModel, text: str, left_out: frozenset[str]) -> str:
    """Raise ModelError for changes since a model's release that are not undone; return a text of those to be told.

    `text`: the model's MJCF, of which some changes need to know attributes. `left_out`: kinds of features left out.
    """
    release = declared(m)
    told = []
    for change in CHANGES:
        found = "" if release >= change.since else change.concerns(m, text)
        if not found or (change.concerns is _deformable and "flex" in left_out):
            continue
        said = f"{found} changed with {name_of(change.since)}"
        if change.remedy:
            raise ModelError(f"semantics {name_of(release)} are not those of Saltus here: {said}; {change.remedy}")
        told.append(said)
    return "; ".join(told)
