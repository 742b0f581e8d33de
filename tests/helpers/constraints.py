"""Constrained mechanisms in our program and in MuJoCo: solved to the end in both, contacts and rows matched one by one.

Compiling takes most of the time of these tests, so mechanisms written for them are `complete`d: with a box, a tendon
and a pair of geoms far away from everything, they all need the same kernels.
"""

import os

import mujoco
import numpy as np
from scipy.optimize import linear_sum_assignment

import saltus
from helpers import oracle

ROWS = ("efc_pos", "efc_D", "efc_aref", "efc_force")
BITS = mujoco.mjtDisableBit
OFF = {
    "contact": BITS.mjDSBL_CONTACT.value,
    "limit": BITS.mjDSBL_LIMIT.value,
    "frictionloss": BITS.mjDSBL_FRICTIONLOSS.value,
    "equality": BITS.mjDSBL_EQUALITY.value,
}
CLOSE = 1e-9  # a violation (m, rad) so small that rounding decides whether a row acts
FAR = 1000.0  # m


def complete(source):
    """The compiled model of MJCF text or a file, solved `tight`ly, with what makes all need the same kernels."""
    text = isinstance(source, str) and source.lstrip().startswith("<")
    spec = mujoco.MjSpec.from_string(source) if text else mujoco.MjSpec.from_file(os.fspath(source))
    apart = dict(contype=0, conaffinity=0)
    world, types = spec.worldbody, mujoco.mjtGeom
    world.add_geom(name="far box", type=types.mjGEOM_BOX, size=[0.1, 0.1, 0.1], pos=[0, 0, -FAR], **apart)
    body = world.add_body(name="far body", pos=[0.1 * FAR, 0, -FAR])
    body.add_joint(name="far slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0], limited=0)
    body.add_geom(name="far ball", type=types.mjGEOM_SPHERE, size=[0.1, 0, 0], **apart)
    spec.add_pair(geomname1="far box", geomname2="far ball")
    tendon = spec.add_tendon(name="far tendon", limited=0)
    for k in range(2):
        world.add_site(name=f"far site {k}", pos=[k, 0, -FAR])
        tendon.wrap_site(f"far site {k}")
    return tight(spec.compile())


def tight(m):
    """The model with solvers that go on until rounding stops them."""
    m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.tolerance, m.opt.iterations = 1e-20, 200
    m.opt.ls_tolerance, m.opt.ls_iterations = 1e-6, 100
    m.opt.ccd_tolerance, m.opt.ccd_iterations = 1e-12, 200
    return m


def reference(model):
    """MjModel of a loaded model, constraints included, without what the model ignores."""
    disabled = model.mujoco.opt.disableflags
    m = oracle.reference(model)
    m.opt.disableflags = disabled
    for kind in model.left_out & OFF.keys():
        m.opt.disableflags |= OFF[kind]
    if "noslip" in model.left_out:
        m.opt.noslip_iterations = 0
    return m


def near(m, rng, spread=0.1, speed=1.0):
    """A state about the model's qpos0: moved by `spread` (m, rad) and moving at `speed`."""
    qpos = m.qpos0.copy()
    mujoco.mj_integratePos(m, qpos, spread * rng.normal(size=m.nv), 1.0)
    return {"qpos": qpos, "qvel": speed * rng.normal(size=m.nv), "ctrl": rng.normal(size=m.nu)}


def reachable(m, n, seed=0, every=15, speed=0.3):
    """n states on a way that MuJoCo goes from the first keyframe or qpos0, `every` so many steps, under random control.

    Yields the same MjData again and again, everything computed. States in which rounding decides whether a row acts
    are passed over, but not too many.
    """
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    d.qvel[:] += speed * rng.normal(size=m.nv)
    low, high = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-0.3, 0.3]).T if m.nu else (0, 0)
    taken = passed = 0
    while taken < n:
        d.ctrl[:] = rng.uniform(low, high, m.nu)
        mujoco.mj_step(m, d, every)
        mujoco.mj_forward(m, d)
        if undecided(d):
            passed += 1
            assert passed <= n
            continue
        taken += 1
        yield d


def undecided(d):
    """Whether rounding decides if some contact or limit acts."""
    limits = np.isin(d.efc_type, [kind.value for kind in LIMITS])
    margins = [abs(c.dist - c.includemargin) for c in d.contact] + list(abs(d.efc_pos - d.efc_margin)[limits])
    return min(margins, default=1.0) < CLOSE


TYPES = mujoco.mjtConstraint
LIMITS = TYPES.mjCNSTR_LIMIT_JOINT, TYPES.mjCNSTR_LIMIT_TENDON


def put(sim, d):
    """MuJoCo's state and inputs into a simulation, and everything computed."""
    for name in ("qpos", "qvel", "act", "mocap_pos", "mocap_quat", "ctrl", "qfrc_applied", "xfrc_applied"):
        getattr(sim, name)[:] = getattr(d, name)
    sim.forward()


def matched(found, contacts):
    """For each of MuJoCo's contacts the place of ours: the same geoms or elements, and the nearest position."""
    wanted = [tuple(map(int, (*c.geom, *c.flex, *c.elem, *c.vert))) for c in contacts]
    got = [tuple(map(int, (c["geom1"], c["geom2"], *c["flex"], *c["elem"], *c["vert"]))) for c in found]
    assert sorted(got) == sorted(wanted)
    place = np.full(len(wanted), -1)
    for pair in set(wanted):
        ours = [k for k, g in enumerate(got) if g == pair]
        theirs = [k for k, g in enumerate(wanted) if g == pair]
        cost = [[np.linalg.norm(found[a]["pos"] - contacts[b].pos) for b in theirs] for a in ours]
        for a, b in zip(*linear_sum_assignment(cost), strict=True):
            place[theirs[b]] = ours[a]
    return place


def dense_J(m, d):
    """MuJoCo's efc_J [nefc, nv]."""
    J = np.zeros((d.nefc, m.nv))
    if not mujoco.mj_isSparse(m):
        J.flat[:] = d.efc_J[: J.size]
    elif d.nefc:
        mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    return J


def assert_same_contacts(data, d, tolerance):
    """Assert that a simulation's contacts are MuJoCo's, in any order; returns the place of ours for each of them."""
    found = data.contact
    assert data.ncon == d.ncon
    place = matched(found, d.contact)
    for a, b in zip(found[place], d.contact, strict=True):
        assert a["dim"] == b.dim
        np.testing.assert_allclose(a["friction"], b.friction, rtol=1e-14)
        np.testing.assert_allclose(a["includemargin"], b.includemargin, rtol=1e-14, atol=1e-16)
        for name in ("dist", "pos"):
            np.testing.assert_allclose(a[name], getattr(b, name), rtol=0, atol=tolerance, err_msg=name)
        np.testing.assert_allclose(a["frame"], b.frame.reshape(3, 3), rtol=0, atol=100 * tolerance)
        assert (a["efc_address"] < 0) == (b.efc_address < 0)
    return place


def row_places(data, d, place):
    """For each of MuJoCo's rows the place of ours; contacts may come in another order."""
    before = int(np.sum(d.efc_type < TYPES.mjCNSTR_CONTACT_FRICTIONLESS.value))
    order = list(range(before))
    for k, c in zip(place, d.contact, strict=True):
        if c.efc_address >= 0:
            assert c.efc_address == len(order)
            ours = int(data.contact[k]["efc_address"])
            count = int(np.sum((d.efc_id == d.efc_id[c.efc_address]) & (d.efc_type == d.efc_type[c.efc_address])))
            order += range(ours, ours + count)
    return np.array(order, int)


def errors(m, sim, d, tolerance=1e-10):
    """Largest differences between a simulation and MuJoCo at the same state, each relative to the largest of its kind.

    Contacts, types and numbers of rows must be the same, Jacobian and what follows from positions and velocities agree
    to `tolerance`. Returns a dict of what depends on solvers: "qacc" and "efc_force".
    """
    data = sim.data
    place = assert_same_contacts(data, d, tolerance)
    assert data.nefc == d.nefc
    order = row_places(data, d, place)
    np.testing.assert_array_equal(data.efc_type[order], d.efc_type)
    other = d.efc_type < TYPES.mjCNSTR_CONTACT_FRICTIONLESS.value
    np.testing.assert_array_equal(data.efc_id[order][other], d.efc_id[other])
    violation = d.efc_pos - d.efc_margin
    wanted = dict(efc_J=dense_J(m, d), efc_pos=violation, efc_aref=d.efc_aref, efc_frictionloss=d.efc_frictionloss)
    for name, value in wanted.items():
        scale = max(1.0, np.max(np.abs(value), initial=0.0))
        np.testing.assert_allclose(getattr(data, name)[order], value, rtol=0, atol=tolerance * scale, err_msg=name)
    # an error in the distance changes the impedance by its slope
    np.testing.assert_allclose(data.efc_D[order], d.efc_D, rtol=1e3 * tolerance)
    np.testing.assert_allclose(data.efc_R[order], d.efc_R, rtol=1e3 * tolerance)
    return {
        "qacc": relative(data.qacc, d.qacc),
        "efc_force": relative(data.efc_force[order], d.efc_force),
        "qfrc_constraint": relative(data.qfrc_constraint, d.qfrc_constraint) if d.nefc else 0.0,
    }


def relative(found, wanted):
    """Largest difference, relative to the largest value."""
    return np.max(np.abs(found - wanted), initial=0.0) / max(np.max(np.abs(wanted), initial=0.0), 1e-3)


def assert_same_rows(source, states=20, seed=0, spread=0.1, speed=1.0, tolerance=1e-8, qpos=None):
    """Assert that a mechanism's contacts, rows, forces and accelerations are MuJoCo's at random states about its qpos0.

    `source`: MJCF text, or an MjModel. `qpos(rng, q)` changes positions further. Returns the largest number of rows,
    contacts and the MjModel.
    """
    m = complete(source) if isinstance(source, str) else source
    sim, d, rng = saltus.Simulation(saltus.load(m)), mujoco.MjData(m), np.random.default_rng(seed)
    rows = contacts = 0
    for _ in range(states):
        state = near(m, rng, spread, speed)
        if qpos is not None:
            qpos(rng, state["qpos"])
        mujoco.mj_resetData(m, d)
        for name, value in state.items():
            getattr(d, name)[:] = value
        mujoco.mj_forward(m, d)
        if undecided(d):
            continue
        put(sim, d)
        worst = errors(m, sim, d)
        assert max(worst.values()) < tolerance, worst
        rows, contacts = max(rows, d.nefc), max(contacts, d.ncon)
    assert sim.unconverged == 0
    return rows, contacts, m
