"""Models of packages on PyPI load and step, and have MuJoCo's forces, accelerations and readings of sensors.

References: MuJoCo 4.0's own compiler, which says what is a model, and its mj_forward.

Tolerance: as in test_actuation and test_smooth: 1e-9 of a force, 1e-11 of the largest acceleration, or what
rounding and the condition of the inertia matrix make of it. In the hand tendons go through geoms, where MuJoCo iterates
to 1e-6 rad and arms are right to 1e-5 (see test_tendon). Whole models, with contacts: 1e-9 of the largest of a kind,
and 1e-12 in gymnasium's simpler ones; exceptions are named with their reasons below.
"""

from collections import Counter

import mujoco
import numpy as np
import pytest
from helpers import packages
from helpers.actuators import compared, dense_moment, largest_error, our_moment, random_states
from helpers.colliding import separation
from helpers.constraints import put, reachable, tight
from helpers.oracle import full_inertia

import saltus
from saltus.number.kinds import lane64

LEAST = 0.95  # of models
REPORT = packages.Path(__file__).resolve().parents[2] / "docs" / "reference" / "models.md"
EPS = 2.2e-16


def there(package):
    try:
        return packages.root(package)
    except packages.Absent as absent:
        pytest.skip(str(absent))


@pytest.mark.slow
@pytest.mark.parametrize("package", packages.PACKAGES)
def test_models_load_and_step(package):
    """At least 95 of 100, and as docs/reference/models.md says."""
    there(package)
    line, details, refused = packages.report(package)
    models, taken = line.split("|")[3:5]
    assert int(taken) >= LEAST * int(models), refused
    text = REPORT.read_text(encoding="utf-8")
    assert line in text, (
        "write docs/reference/models.md anew: PYTHONPATH=tests python -m helpers.packages > docs/reference/models.md"
    )
    assert all(one in text for one in details)


@pytest.mark.slow
def test_part_of_a_model_is_told_from_a_model(tmp_path, monkeypatch):
    (tmp_path / "whole.xml").write_text("<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>")
    (tmp_path / "part.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    (tmp_path / "readme.txt").write_text("")
    monkeypatch.setattr(packages, "root", lambda package: tmp_path)
    found = {file.name: file for file in packages.files("any")}
    assert set(found) == {"whole.xml", "part.xml"}
    assert found["whole.xml"].reason is None and "Unrecognized" in found["part.xml"].reason
    line, details, refused = packages.report("any==1")
    assert line == "| any 1 | 2 | 1 | 1 | 100 % |" and not refused
    assert any("1 not compiled" in one for one in details)


FORCES = ["actuator_force", "qfrc_actuator", "actuator_length", "actuator_velocity", "qacc"]
QUANTITIES = [*FORCES, "ten_length", "ten_J", "act_dot"]
TOLERANCES = {"dm_control": 1e-9, "gymnasium": 1e-12}
# models with contacts of ellipsoids: iterations find their distance to 1e-12 m, and their normal, in which the distance
# is stationary, to the root of it; what contacts push and adhesion pulls with follow
ELLIPSOIDS = "assets/dog_v2/dog.xml", "fruitfly_v2/floor.xml", "fruitfly_v2/fruitfly.xml", "walkers/assets/rodent.xml"
NORMALS = 1e-5
# the ant's foot touches the ground on the edge of the box of its touch sensor, where rounding decides
ROUNDED = ("third_party/ant/ant.xml",)
# asks for MuJoCo's older search, which does not find the least depth (test_depths_of_the_arm), and has cylinders, whose
# edges MuJoCo 4.0.0 tilts where several contacts are allowed; radii of 2 cm make 1e-5 of 1e-12 m, as with ellipsoids
OLD_SEARCH = ("third_party/kinova/jaco_arm.xml",)
# glides on the floor at no distance, so that rounding decides in every state whether they touch
TOUCHING = ("mujoco/assets/point.xml",)


def rounding(m, d, name, tries=20):
    """Largest relative change of a quantity of MuJoCo's when its positions change by roundings."""
    rng, other, most = np.random.default_rng(1), mujoco.MjData(m), 0.0
    for _ in range(tries):
        for field in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "qacc_warmstart"):
            getattr(other, field)[:] = getattr(d, field)
        other.qpos[:] += 2e-15 * rng.normal(size=m.nq)
        mujoco.mj_forward(m, other)
        most = max(most, largest_error(getattr(other, name), getattr(d, name)))
    return most


def bound(name, m, d, quantity, tolerance):
    """How far a quantity may be from MuJoCo's."""
    if name.endswith(ELLIPSOIDS) and quantity in ("qacc", "sensordata", "qfrc_actuator"):
        return NORMALS
    if name.endswith(OLD_SEARCH) and quantity == "qacc":
        return 3.0 * NORMALS
    if name.endswith(ROUNDED) and quantity in ("qacc", "sensordata"):
        return max(tolerance, 2.0 * rounding(m, d, quantity))
    return tolerance


@pytest.mark.slow
@pytest.mark.parametrize("package", packages.PACKAGES[:2])
def test_quantities(package):
    """Forces, lengths, moment arms, accelerations and sensors of every model that moves or senses, on a random way.

    All need the same kernels, so that the many models take little time: contact's slip, which is left out, has tests of
    its own (tests/solve/soft/test_noslip.py).
    """
    there(package)
    tolerance = TOLERANCES[package.split("==")[0]]
    wrong, seen = [], Counter()
    for file in packages.each_file(package):
        if file.model is None or not (file.model.nv or file.model.nsensor) or file.name.endswith(TOUCHING):
            continue
        m = tight(file.model)
        m.opt.noslip_iterations = 0
        if file.name.endswith(OLD_SEARCH):
            m.opt.disableflags &= ~mujoco.mjtDisableBit.mjDSBL_NATIVECCD.value
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD.value
        sim = saltus.Simulation(packages.share_kernels(saltus.load(m)), "euler")
        for d in reachable(m, 3):
            put(sim, d)
            found = {name: getattr(sim.data, name) for name in QUANTITIES}
            if m.nsensor:
                found["sensordata"] = sim.sensordata
            for name, value in found.items():
                wanted = getattr(d, name)
                seen[name] += bool(np.any(wanted))
                error = largest_error(value, wanted)
                if not error < tolerance and not error < bound(file.name, m, d, name, tolerance):
                    wrong.append((file.name, name, error))
    assert not wrong
    assert min(seen[name] for name in FORCES) > 30, seen
    assert min(seen[name] for name in ("sensordata", "ten_J", "act_dot")) > 10 or package.startswith("gymnasium"), seen


@pytest.mark.slow
def test_depths_of_the_arm():
    """Two convex shapes overlap by the least that parts them: each contact's depth is what its normal needs for that.

    MuJoCo's older search, which the file asks for and some of whose normals need four times as much, never needs less
    (1e-6 m, where cylinders take part).
    """
    m = tight(mujoco.MjModel.from_xml_path(str(there(packages.PACKAGES[0]) / OLD_SEARCH[0])))
    assert m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_NATIVECCD.value
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD.value
    sim, deeper, seen = saltus.Simulation(packages.share_kernels(saltus.load(m)), "euler"), 0, 0
    for d in reachable(m, 3):
        put(sim, d)
        ours = {(c["geom1"], c["geom2"]): c for c in sim.data.contact}
        theirs = {tuple(c.geom): c for c in d.contact}
        assert ours.keys() == theirs.keys()
        for geoms, contact in ours.items():
            normals = np.array([contact["frame"][0], theirs[geoms].frame[:3]])
            own, other = separation(d, normals, *geoms)
            assert contact["dist"] == pytest.approx(own, abs=1e-6)
            assert other < own + 1e-6
            deeper += other < own - 1e-3
            seen += 1
    assert seen > 40 and deeper > 10


MUSCLES = {"hand/myohand_pose.xml": 1e-5, "leg/myolegs.xml": 1e-9}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUSCLES)
def test_muscles(name):
    """Tens of muscles around many geoms, at random postures within the joints' ranges."""
    found = sorted(there("myosuite==2.3.0").rglob(name))
    tolerance = MUSCLES[name]
    model = saltus.load(found[0], ignore=["constraints"])
    m = model.mujoco
    assert (m.actuator_gaintype == mujoco.mjtGain.mjGAIN_MUSCLE.value).sum() > 30
    rng = np.random.default_rng(5)
    states = random_states(m, lane64.width)
    for state in states:
        low, high = m.jnt_range.T
        state["qpos"] = m.qpos0.copy()
        hinged = m.jnt_type >= 2
        state["qpos"][m.jnt_qposadr[hinged]] = rng.uniform(low, high)[hinged]
        state["act"] = rng.uniform(0, 1, m.na)
    for ours, wanted in compared(model, states):
        for field in ("actuator_length", "actuator_velocity", "qfrc_actuator"):
            assert largest_error(ours(field), getattr(wanted, field)) < tolerance, field
        error = np.abs(ours("actuator_force") - wanted.actuator_force) / np.maximum(np.abs(wanted.actuator_force), 1e-3)
        assert error.max() < tolerance
        assert largest_error(our_moment(model, ours("moment")), dense_moment(m, wanted)) < tolerance
        assert largest_error(ours("act_dot"), wanted.act_dot) < tolerance
        condition = np.linalg.cond(full_inertia(m, wanted))
        assert largest_error(ours("qacc"), wanted.qacc) < max(tolerance, EPS * condition)
