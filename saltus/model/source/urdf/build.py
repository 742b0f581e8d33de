"""From the plan for a URDF file to MuJoCo's compiled model: meshes, base, actuators, which links touch.

Imports MuJoCo and no other large package, since a helper process runs it on files from strangers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mujoco

from saltus.model.source.compiler import compile_spec
from saltus.model.source.urdf.inertia import merge_impossible
from saltus.model.source.urdf.meshes import triangles
from saltus.model.source.urdf.pictures import without_faulty
from saltus.model.source.urdf.plan import APART, Choices, Joint, Mesh, Plan
from saltus.model.source.urdf.remarks import Remark

HIDDEN = 3  # group of the collision shapes of links that have pictures; not shown, as in MuJoCo's own models
BANDWIDTH = 5.0  # Hz: natural frequency of a servo with the inertia of its joint at the reference position
MESH = re.compile(r"mesh(\d+)x\d*$")  # names in a plan's text; the last digits count scales
ELEMENT = re.compile(r"Element name '([^']*)'")  # in messages of MuJoCo's compiler
FLAT = "volume is too small"  # in such a message
DEEP = 1e-6  # m; shapes that overlap by less merely touch
Pairs = Sequence[tuple[str, str]]  # names of two bodies
FAULTS = (ValueError, RuntimeError, mujoco.FatalError)  # of MuJoCo's compiler


class Built(NamedTuple):
    """MuJoCo's description and compiled model of a URDF file, and remarks on what became of it."""

    spec: Any  # mujoco.MjSpec, for which the stubs lag behind
    model: mujoco.MjModel
    remarks: list[Remark]


def build(plan: Plan) -> Built:
    """The model of a plan. Raises the errors of MuJoCo's compiler.

    Pictures that the compiler refuses are left out, with a remark: the motion does not need them.
    """
    remarks: list[Remark] = []
    plan, spec, model = _drawable(_read_meshes(plan, remarks), remarks)
    if plan.choices.self_collision is not False and (pairs := overlapping(model)):
        chosen = plan.choices.self_collision == APART
        apart = [pair for pair in pairs if chosen or _joined_to_base(model, pair)]
        remarks += _on_overlaps([] if chosen else apart, [pair for pair in pairs if pair not in apart])
        spec, model = _compiled(plan, apart, []) if apart else (spec, model)
    if plan.choices.actuators == "position":
        _set_gains(spec, model, plan)
    return Built(spec, model, remarks)


def as_json(plan: Plan) -> dict[str, Any]:
    """A plan as values that JSON holds."""
    chosen = plan.choices._replace(package_path=())
    return {**plan._asdict(), "choices": list(chosen)}


def from_json(values: dict[str, Any]) -> Plan:
    """A plan from `as_json`, after its way through JSON."""
    joints = [Joint(name, effort, tuple(limits) if limits else None) for name, effort, limits in values["joints"]]
    meshes = [Mesh(*mesh) for mesh in values["meshes"]]
    return Plan(**{**values, "joints": joints, "meshes": meshes, "choices": Choices(*values["choices"])})


def overlapping(m: mujoco.MjModel) -> list[tuple[str, str]]:
    """Names of the bodies whose shapes overlap at the reference position and may touch."""
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_collision(m, data)
    found: dict[tuple[str, str], None] = {}
    for contact in data.contact:
        if contact.dist < -DEEP and min(contact.geom) >= 0:
            first, second = sorted(int(m.geom_bodyid[geom]) for geom in contact.geom)
            found[m.body(first).name, m.body(second).name] = None
    return list(found)


def _joined_to_base(m: mujoco.MjModel, pair: tuple[str, str]) -> bool:
    """Whether of two bodies one is fixed to the world and the other joined to it: MuJoCo lets them touch.

    It does not let other neighbours touch, nor these if the base floats.
    """
    welds = [int(m.body_weldid[m.body(name).id]) for name in pair]
    return min(welds) == 0 and int(m.body_weldid[m.body_parentid[max(welds)]]) == 0


def _on_overlaps(apart: Pairs, left: Pairs) -> list[Remark]:
    """Remarks on links that overlap at the reference position: those that are kept from touching, and the others."""
    found = []
    if apart:
        names = tuple(f"{first} and {second}" for first, second in apart)
        found.append(Remark("links that overlap the fixed base", names, "they do not touch each other, as neighbours"))
    if left:
        meaning = "they push each other apart; load with self_collision='not overlapping', or False"
        names = tuple(f"{first} and {second}" for first, second in left)
        found.append(Remark("links that overlap at the reference position", names, meaning))
    return found


# ------------------------------------------------------------ meshes and pictures


def _read_meshes(plan: Plan, remarks: list[Remark]) -> Plan:
    """The plan with the triangles of meshes that MuJoCo does not read, without pictures that cannot be read."""
    meshes = []
    for mesh in plan.meshes:
        try:
            given = None if mesh.path is None else triangles(mesh.path)
        except ValueError as error:
            if not mesh.picture:
                raise ValueError(f"{error} (link '{mesh.link}')") from None
            remarks.append(Remark("picture with a mesh", (mesh.link,), f"not drawn: {error}"))
            meshes.append(mesh._replace(path=None))
        else:
            meshes.append(mesh._replace(given=given))
    return plan._replace(meshes=meshes)


def _drawable(plan: Plan, remarks: list[Remark]) -> tuple[Plan, Any, mujoco.MjModel]:
    """The plan without the pictures that the compiler refuses, with its description and compiled model."""
    found: list[Remark] = []
    try:
        spec, model = _compiled(plan, (), found)
    except FAULTS:
        text, found = without_faulty(plan.text, lambda text: _fault(plan._replace(text=text)))
        plan = plan._replace(text=text)
        spec, model = _compiled(plan, (), found)
    remarks += found
    return plan, spec, model


def _fault(plan: Plan) -> str | None:
    """Why the compiler refuses a plan; None if it does not."""
    try:
        _compiled(plan, (), [])
    except FAULTS as error:
        return _line(error)
    return None


def _compiled(plan: Plan, apart: Pairs, remarks: list[Remark]) -> tuple[Any, mujoco.MjModel]:
    """Description and compiled model, without pictures whose meshes are refused; `apart`: bodies do not touch."""
    refused: set[int] = set()
    flat: set[int] = set()
    while True:
        spec: Any = mujoco.MjSpec.from_string(plan.text)
        meshes = _name_meshes(spec, plan, refused, flat)
        merged = merge_impossible(spec)
        _hide_shapes(spec)
        _choose(spec, plan, apart)
        try:
            model = compile_spec(spec)
        except FAULTS as error:
            named = ELEMENT.search(str(error))
            at = meshes.get(named[1], -1) if named else -1
            if at >= 0 and plan.meshes[at].picture and at not in refused:
                refused.add(at)
                remarks.append(Remark("picture with a mesh", (plan.meshes[at].link,), f"not drawn: {_line(error)}"))
            elif at >= 0 and plan.meshes[at].weightless and FLAT in str(error) and at not in flat:
                flat.add(at)
            else:
                raise
        else:
            remarks += merged
            return spec, model


def _name_meshes(spec: Any, plan: Plan, refused: set[int], flat: set[int]) -> dict[str, int]:
    """Give meshes their files and names, and return their numbers in the plan; without those that are refused.

    `flat`: those whose volume is too small for an inertia, which is not needed.
    """
    taken: dict[str, int] = {}
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for mesh in list(spec.meshes):
        found = MESH.match(mesh.name)
        if found is None:
            continue
        at = int(found[1])
        path = plan.meshes[at].path
        if path is None or at in refused:
            for geom in [geom for geom in spec.geoms if geom.meshname == mesh.name]:
                spec.delete(geom)
            spec.delete(mesh)
            continue
        stem = Path(path).stem
        taken[stem] = taken.get(stem, 0) + 1
        name = stem if taken[stem] == 1 else f"{stem}_{taken[stem]}"
        while name in names.values():
            name += "_"
        names[mesh.name] = name
        mesh.name = name
        numbers[name] = at
        given = plan.meshes[at].given
        if given is None:
            mesh.file = path
        else:
            mesh.file, mesh.uservert, mesh.userface = "", given[0].reshape(-1), given[1].reshape(-1)
        if plan.meshes[at].picture or at in flat:
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # no volume is needed
    for geom in spec.geoms:
        if geom.meshname in names:
            geom.meshname = names[geom.meshname]
    spec.meshdir = ""  # paths are whole
    return numbers


def _hide_shapes(spec: Any) -> None:
    """Show pictures of links, and collision shapes where there are none."""
    for body in spec.bodies:
        seen = any(_is_picture(geom) for geom in body.geoms)
        for geom in body.geoms:
            if not _is_picture(geom):
                geom.group = HIDDEN if seen else 0


def _is_picture(geom: Any) -> bool:
    return geom.contype == 0 and geom.conaffinity == 0


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()).removeprefix("Error: ")


# ------------------------------------------------------------ choices


def _choose(spec: Any, plan: Plan, apart: Pairs) -> None:
    """Base, actuators and collisions as chosen; bodies that do not touch."""
    chosen = plan.choices
    if chosen.base == "floating":
        spec.body(plan.root).add_freejoint(name=f"{plan.root}_free_joint")
    if chosen.self_collision is False:
        for geom in spec.geoms:
            geom.conaffinity = 0  # what is added to the model later, with 1 and 1, is still touched
    for first, second in apart:
        spec.add_exclude(name=f"{first} {second}", bodyname1=first, bodyname2=second)
    if chosen.actuators in ("torque", "position"):
        for joint in plan.joints:
            _add_actuator(spec, joint, chosen.actuators)
    if chosen.actuators == "position" and not plan.integrator:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # their damping, implicitly


def _add_actuator(spec: Any, joint: Joint, kind: str) -> None:
    actuator = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_motor()
    if joint.effort and math.isfinite(joint.effort):
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange = [-joint.effort, joint.effort]
    within = joint.limits
    if kind == "torque":
        within = (-joint.effort, joint.effort) if joint.effort and math.isfinite(joint.effort) else None
    if within is not None:
        actuator.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.ctrlrange = list(within)


def _set_gains(spec: Any, m: mujoco.MjModel, plan: Plan) -> None:
    """Gains of servos, in the description and the model: force = kp (ctrl - q) - kv v, critically damped.

    kp = M_jj omega^2 and kv = 2 M_jj omega, with the inertia M_jj of the joint at the reference position.
    """
    omega = 2 * math.pi * BANDWIDTH
    for joint in plan.joints:
        inertia = float(m.dof_M0[m.jnt_dofadr[m.joint(joint.name).id]])
        kp, kv = (float(f"{gain:.6g}") for gain in (inertia * omega**2, 2 * inertia * omega))
        described, compiled = spec.actuator(joint.name), m.actuator(joint.name).id
        described.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        m.actuator_biastype[compiled] = int(mujoco.mjtBias.mjBIAS_AFFINE)
        described.gainprm[0] = m.actuator_gainprm[compiled, 0] = kp
        described.biasprm[1] = m.actuator_biasprm[compiled, 1] = -kp
        described.biasprm[2] = m.actuator_biasprm[compiled, 2] = -kv
