"""Values of fields that are said to be read act as in MuJoCo; others do not act in MuJoCo either.

Reference: MuJoCo 4.0's mj_step and mj_forward, on the model that holds every element, with one field of the compiled
model changed.

Tolerance: 1e-9 of the largest number of states and readings. Without a change both agree to 1e-13, so this leaves four
digits for forces that the change makes larger.
"""

import copy
import re

import mujoco
import numpy as np
import pytest
from helpers import everything

import saltus
from saltus.model.source.mujoco_fields import uses
from saltus.model.source.mujoco_fields.table import DRAWN, READ, UNUSED

TOLERANCE, STEPS = 1e-9, 2
SPEEDS = (1.0, 1e-3)  # of the starts: with friction that slides and that holds
EXPLODES = 1e4  # m/s, rad/s: where rounding is all of the motion
FACTORS = (1.01, 0.5, 3.0, 1e-2)
# marks and bounds that MuJoCo's compiler derives from other fields: other values contradict these
CONSISTENT = {"geom_rbound", "geom_aabb", "dof_M0", "body_subtreemass", "dof_length"}
CONSISTENT |= {"tolerance"}  # how far solvers go
INPUTS = {"body_mass", "body_inertia"}  # of which mj_setConst makes the constants that MuJoCo's step takes
# without effect on this model: other flags, contacts of deformable bodies, forces at rest, cameras of other modes
NOT_HERE = [
    "dof_solref",
    "geom_adhesion",
    "geom_gap",
    "geom_quat",
    "geom_rgba",
    "pair_adhesion",
    "pair_gap",
    "pair_solreffriction",
    "tendon_actfrcrange",
    "tendon_solimp_fri",
    "tendon_solref_fri",
    "actuator_acc0",
    "sensor_delay",
    "sensor_interval",
    "cam_intrinsic",
    "cam_mat0",
    "cam_pos0",
    "cam_poscom0",
    "cam_sensorsize",
    "flex_edgestiffness",
    "flex_friction",
    "flex_gap",
    "flex_margin",
    "flex_radius",
    "flex_solimp",
    "flex_solmix",
    "flex_solref",
    "flex_vert0",
    "flexedge_invweight0",
    "ls_tolerance",
    "noslip_tolerance",
    "o_friction",
    "o_margin",
    "o_solimp",
    "o_solref",
    "sleep_tolerance",
    "extent",
    "meaninertia",
]
ADDED = re.compile(r"(poly|margin|gap|cutoff|surfacevel)$")  # where numbers that are zero may be another, too
FLAGS = re.compile(r"_(limited|actfrclimited|actgravcomp|actearly|active0|ctrllimited|forcelimited|actlimited)$")


def holder(m, owner):
    return {"MjModel": m, "MjOption": m.opt, "MjStatistic": m.stat}[owner]


def readings(m, sensordata):
    """Readings but potential energy, which has the bending of deformable bodies here, and not in MuJoCo."""
    return np.delete(np.array(sensordata), m.sensor_adr[m.sensor_type == mujoco.mjtSensor.mjSENS_E_POTENTIAL])


def theirs(m, speed, speeds, controls):
    """States [STEPS, nq + nv + na] and the last readings [nsensordata] of MuJoCo."""
    d = mujoco.MjData(m)
    d.qvel[:] = speed * speeds
    states = []
    for ctrl in controls:
        d.ctrl[:] = ctrl
        mujoco.mj_step(m, d)
        states.append(np.concatenate([d.qpos, d.qvel, d.act]))
    for _ in range(2):  # the first leaves the sensor of kinetic energy at that of the step before
        mujoco.mj_forward(m, d)
    return np.array(states), readings(m, d.sensordata)


def ours(m, speed, speeds, controls, needed):
    """The same of Saltus; None if the model needs other kernels than those of the features `needed`."""
    sim = saltus.Simulation(saltus.load(m))
    if sim.engine.m.layout.features != needed:
        return None
    sim.qvel[:] = speed * speeds
    states = []
    for ctrl in controls:
        sim.ctrl[:] = ctrl
        sim.step()
        states.append(np.concatenate([sim.qpos, sim.qvel, sim.act]))
    return np.array(states), readings(m, sim.sensordata)


class Trial:
    """The model, its inputs, MuJoCo's results without a change, and the features that Saltus compiles for it."""

    def __init__(self):
        self.m = everything.compiled(everything.xml())
        rng = np.random.default_rng(0)
        self.inputs = rng.normal(size=self.m.nv), rng.uniform(0, 1, (STEPS, self.m.nu))
        self.before = [theirs(self.m, speed, *self.inputs) for speed in SPEEDS]
        self.needed = saltus.Simulation(saltus.load(self.m)).engine.m.layout.features

    def changes(self, owner, name):
        """Copies of the model with another value of a real or logical field."""
        value = getattr(holder(self.m, owner), name)
        for factor in FACTORS:
            m = copy.copy(self.m)
            if isinstance(value, np.ndarray) and FLAGS.search(name):
                getattr(holder(m, owner), name)[...] = 1 - value.astype(int)
            elif isinstance(value, np.ndarray):
                getattr(holder(m, owner), name)[...] = self._other(name, value, factor)
            else:
                setattr(holder(m, owner), name, factor * value + (factor == FACTORS[-1]))
            if name in INPUTS:
                mujoco.mj_setConst(m, mujoco.MjData(m))
            yield m

    def _other(self, name, value, factor):
        if "quat" in name or name == "jnt_axis":
            turned = value + factor * 0.01 * np.array([0.1, 0.2, -0.3, 0.1])[: value.shape[-1]]
            return np.where(self._kept(name)[:, None], value, turned / np.linalg.norm(turned, axis=-1, keepdims=True))
        some = np.arange(value.size).reshape(value.shape) % 2 if name.endswith("solmix") else 1.0
        added = (value != 0) | bool(ADDED.search(name))
        if name == "actuator_dampingpoly":  # the compiler marks joints whose actuators have dampers
            added = (self.m.actuator_damping != 0)[:, None]
        return value * (1 + (factor - 1) * some) + 0.013 * (factor == FACTORS[-1]) * added

    def _kept(self, name):
        """Objects whose frames the compiler has marked as special: a change would contradict the mark."""
        kind = name.split("_")[0]
        if kind == "jnt":
            return self.m.body_simple[self.m.jnt_bodyid] > 0
        return getattr(self.m, f"{kind}_sameframe", np.zeros(getattr(self.m, f"n{kind}", 0))) > 0


@pytest.fixture(scope="module")
def trial():
    return Trial()


def real(trial, field):
    """Whether a field has real numbers, or marks that may be any."""
    value = getattr(holder(trial.m, field.owner), field.name)
    if isinstance(value, np.ndarray):
        return value.size > 0 and (value.dtype.kind == "f" or bool(FLAGS.search(field.name)))
    return isinstance(value, float)


def difference(found, wanted):
    return max(np.abs(a - b).max() / max(1.0, np.abs(b).max()) for a, b in zip(found, wanted, strict=True))


GROUPS = [
    "body",
    "jnt",
    "dof",
    "geom",
    "site",
    "pair",
    "tendon",
    "wrap",
    "eq",
    "actuator",
    "sensor",
    "cam",
    "flex",
    "flexedge",
    "qpos0",
    "qpos",
    "opt",
]


def of_group(group):
    found = uses.fields()[0]
    if group == "opt":
        return [field for field in found if field.owner != "MjModel"]
    return [field for field in found if field.owner == "MjModel" and field.name.split("_")[0] == group]


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_read(group, trial):
    """What changes MuJoCo's motion or readings changes ours in the same way."""
    seen, unseen = [], []
    for field in of_group(group):
        if field.row.treatment != READ or field.name in CONSISTENT or not real(trial, field):
            continue
        acted = False
        for m in trial.changes(field.owner, field.name):
            for speed, before in zip(SPEEDS, trial.before, strict=True):
                wanted = theirs(m, speed, *trial.inputs)
                tame = np.isfinite(wanted[0]).all() and np.abs(wanted[0]).max() < EXPLODES
                if not tame or difference(wanted, before) < 100 * TOLERANCE:
                    continue
                found = ours(m, speed, *trial.inputs, trial.needed)
                if found is not None:
                    assert difference(found, wanted) < TOLERANCE, field.name
                    acted = True
            if acted:
                break
        (seen if acted else unseen).append(field.name)
    assert seen
    assert set(unseen) <= set(NOT_HERE), "these act no longer"


@pytest.mark.slow
def test_a_free_joint_has_no_range(trial):
    """A mark of a limit on a free joint does nothing."""
    m = copy.copy(trial.m)
    m.jnt_limited[m.jnt_type == mujoco.mjtJoint.mjJNT_FREE] = 1
    wanted = theirs(m, SPEEDS[0], *trial.inputs)
    assert difference(wanted, trial.before[0]) == 0
    assert difference(ours(m, SPEEDS[0], *trial.inputs, trial.needed), wanted) < TOLERANCE


@pytest.mark.slow
def test_not_read(trial):
    """Another value of what is drawn only, or without effect, changes no bit of MuJoCo's motion."""
    tried = 0
    for field in uses.fields()[0]:
        if field.row.treatment not in (DRAWN, UNUSED) or not real(trial, field):
            continue
        for m in trial.changes(field.owner, field.name):
            after = theirs(m, SPEEDS[0], *trial.inputs)
            np.testing.assert_array_equal(after[0], trial.before[0][0], field.name)
            tried += 1
    assert tried > 100
