"""Contacts of rods whose segments twist.

Law: a segment moves as a rigid body, its lever arm turns with its joint; MuJoCo's soft law. References: MuJoCo 4.0 at
random deformations and frames (tolerances in `helpers.constraints`; Jacobians 1e-14, as sums of a dozen products); its
motions of half a second: 1e-8, which rounding grows to; a cylinder that rolls down a slope, 2/3 g sin α.
"""

import re

import mujoco
import numpy as np
import pytest
from helpers.constraints import assert_same_rows, dense_J, tight
from helpers.rod_scenes import FIXED, SPRINGS, coil, line, rod, turning, world
from numpy.testing import assert_allclose

import saltus

SIX = dict(condim=6)
BESIDE = rod("other", line(3), 'pos="40 0 90"')
ROWS = {
    "on the floor": world(rod("rod", line(6), 'pos="0 0 .019"', **SIX) + BESIDE, 0.0),
    "above the floor, within the margin": world(rod("rod", line(6), 'pos="0 0 .03"', margin=0.05) + BESIDE, 0.0),
    "clamped": world(rod("rod", line(6), 'pos="0 0 .022" euler="0 3 0"', '<pin id="0 1"/>', **SIX) + BESIDE, 0.0),
    "on a ball": world(rod("rod", line(6), 'pos="0 0 .01"', **SIX) + BESIDE, places=[("ball", "0 0 -.1")]),
    "on a capsule": world(rod("rod", line(6), 'pos="0 0 .01"', condim=4) + BESIDE, places=[("capsule", "0 .02 -.23")]),
    "on a box": world(rod("rod", line(6), 'pos="0 0 .01"', condim=1) + BESIDE, places=[("crate", "0 0 -.05")]),
    "two": world(rod("rod", line(6), 'pos="0 0 .01"', **SIX) + rod("other", line(5), 'pos="0 0 .03" euler="0 0 60"')),
    "with itself": world(rod("rod", coil(1.2, 25), "", itself="auto", **SIX) + BESIDE),
    "an end on a body that turns": world(turning(rod("rod", line(6), 'pos="0 0 -.031"', '<pin id="0"/>')) + BESIDE, 0),
    "clamped to a body that turns": world(
        turning(rod("rod", line(6), 'pos="0 0 -.031"', '<pin id="4 5"/>', **SIX)) + BESIDE, 0.0
    ),
    "its middle on a body that turns": world(
        turning(rod("rod", line(6), 'pos="0 0 -.031"', '<pin id="2 3"/>', **SIX)) + BESIDE, 0.0
    ),
}


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_are_mujocos(name, cone):
    _, contacts, *_ = assert_same_rows(ROWS[name].replace("<option", f'<option cone="{cone}"'), states=3, spread=0.02)
    assert contacts > 0


@pytest.mark.parametrize("name", ["on the floor", "two", "with itself", "its middle on a body that turns"])
def test_rows_follow_the_kept_frames(name):
    """Reference directions turn with a segment, relative to the frames of the last step, and the material with them."""
    sim = saltus.Simulation(ROWS[name].replace("<option", '<option cone="elliptic"'))
    m = sim.model.mujoco
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    mujoco.mj_integratePos(m, d.qpos, 0.02 * rng.standard_normal(m.nv), 1.0)
    mujoco.mj_step1(m, d)
    # tangents at an angle to those of now, and any directions across
    for f in range(m.nflex):
        first, last = m.flex_elemdataadr[f] + np.array([0, 2 * m.flex_elemnum[f]])
        a, b = (m.flex_vertadr[f] + m.flex_elem[first:last].reshape(-1, 2)).T
        t = d.flexvert_xpos[b] - d.flexvert_xpos[a] + 0.02 * rng.standard_normal((len(a), 3))
        t /= np.linalg.norm(t, axis=1)[:, None]
        u = np.cross(t, rng.standard_normal(t.shape))
        u /= np.linalg.norm(u, axis=1)[:, None]
        frames = np.hstack([t, u]).ravel()
        d.plastic[m.flex_plasticadr[f] : m.flex_plasticadr[f] + len(frames)] = frames
    sim.qpos[:] = d.qpos
    sim.engine.d.views["plastic"][:] = d.plastic
    mujoco.mj_forward(m, d)
    sim.forward()
    assert d.ncon > 0
    wanted = dense_J(m, d)
    assert_allclose(sim.data.efc_J, wanted, rtol=0, atol=1e-14 * abs(wanted).max())


GROUND = 'pos="0 0 .0199"'
RUNS = {
    "falls and twists": (rod("rod", line(6), 'pos="0 0 .06" euler="0 10 20"') + BESIDE, {}),
    "rolls": (rod("rod", line(6), GROUND) + BESIDE, {}),
    "lies over an edge": (
        rod("rod", line(8), 'pos=".03 .02 .23"', young=1e6) + BESIDE,
        {"geoms": '<geom type="box" size=".1 .3 .1" pos="0 0 .1"/>'},
    ),
    "is pushed by a ball": (rod("rod", line(6), GROUND) + BESIDE, {"places": [("ball", ".05 -.14 .1")]}),
    "crossed": (rod("rod", line(6), GROUND, **SIX) + rod("other", line(5), 'pos=".02 0 .07" euler="0 0 70"'), {}),
    "a coil that touches itself": (rod("rod", coil(1.08, 25), 'pos="0 0 .05"', itself="auto") + BESIDE, {}),
}


def both(name, integrator="discrete", cone="pyramidal"):
    """The same start of a run here and in MuJoCo, both solved to the end."""
    rods, more = RUNS[name]
    text = world(rods, 0.0, f'integrator="{integrator}" cone="{cone}"', **more)
    if integrator == "discrete":
        text = text.replace(SPRINGS, FIXED)
    m = tight(mujoco.MjModel.from_xml_string(text))
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    slides = [i for i in range(m.nv) if re.match(r"rod_\d", m.body(m.dof_bodyid[i]).name)]
    if name == "rolls":
        d.qvel[slides[1::3]] = 0.5
    if name == "falls and twists":
        d.qvel[twists(m)] = 5.0
    if name == "is pushed by a ball":
        d.qvel[m.jnt_dofadr[m.body("ball").jntadr[0]] + 1] = 1.0
    sim.qvel[:] = d.qvel
    return sim, m, d


def twists(m):
    """Degrees of freedom of the joints that twist segments."""
    return [int(m.jnt_dofadr[j]) for j in range(m.njnt) if re.match(r"rod_twist", m.joint(j).name)]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("integrator", ["discrete", "Euler", "RK4"])
def test_motions_of_half_a_second_are_mujocos(name, integrator):
    if integrator != "discrete" and name in ("a coil that touches itself", "lies over an edge"):
        pytest.skip("needs steps below 0.6 ms; twists that grow from rounding")
    sim, m, d = both(name, integrator, "elliptic" if name in ("rolls", "crossed") else "pyramidal")
    most, places = 0, m.jnt_qposadr[m.dof_jntid[twists(m)]]
    for _ in range(250):
        mujoco.mj_step(m, d)
        sim.step()
        most = max(most, d.ncon)
        assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-8)
    assert most > 2
    assert name not in ("rolls", "falls and twists", "is pushed by a ball") or abs(d.qpos[places]).max() > 0.5


def test_limits_and_friction_of_twists_are_mujocos():
    """Rows of joints that twist are softened by torsion, under `discrete`; the twist of 0.02 rad reaches its limits."""
    spec = mujoco.MjSpec.from_string(world(RUNS["rolls"][0], 0.0, 'integrator="discrete"').replace(SPRINGS, FIXED))
    for joint in spec.joints:
        if "rod_twist" in joint.name:
            joint.limited, joint.range, joint.frictionloss = 1, [-0.02, 0.02], 1e-4
    m = tight(spec.compile())
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    d.qvel[twists(m)] = sim.qvel[twists(m)] = [-3.0, 1.0, 2.0, 4.0, -5.0]
    kinds = set()
    for _ in range(100):
        mujoco.mj_step(m, d)
        sim.step()
        kinds |= set(d.efc_type)
    assert {1, 3} <= kinds
    assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-10)


def test_a_rod_rolls_as_a_cylinder():
    """Down a slope of 10 degrees without slip: 2/3 g sin α; the soft contact creeps, by 2e-3 of it."""
    slope, length = np.radians(10), 9.81 * np.array([np.sin(np.radians(10)), np.cos(np.radians(10))])
    text = world(
        rod("rod", line(6), GROUND) + BESIDE, 0.0, f'integrator="discrete" gravity="0 {length[0]} {-length[1]}"'
    )
    sim = saltus.Simulation(text.replace(SPRINGS, FIXED))
    m = sim.model.mujoco
    sim.run(0.1)
    start = sim.qvel.copy()
    sim.run(0.4)
    gained = (sim.qvel - start)[[i for i in range(m.nv) if re.match(r"rod_\d", m.body(m.dof_bodyid[i]).name)][1::3]]
    assert_allclose(gained.mean(), 2 / 3 * 9.81 * np.sin(slope) * 0.4, rtol=1e-3)
    assert_allclose(sim.qvel[twists(m)] * 0.02, -sim.qvel[m.body("rod_0").dofadr[0] + 1], rtol=4e-3)


def test_adhesion_acts_on_vertices_and_twists():
    """The attraction of a box with adhesion, at its edges with lever arms across the rod: MuJoCo's, to 1e-12."""
    geoms = '<geom type="box" size=".131 .009 .1" pos=".02 .0 -.1" adhesion="3" gap=".05"/>'
    text = world(rod("rod", line(6), 'pos="0 .02 .025" euler="0 0 5"') + BESIDE, geoms=geoms)
    m = tight(mujoco.MjModel.from_xml_string(text))
    d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
    mujoco.mj_integratePos(m, d.qpos, 0.01 * np.random.default_rng(2).standard_normal(m.nv), 1.0)
    sim.qpos[:] = d.qpos
    for _ in range(50):
        mujoco.mj_step(m, d)
        sim.step()
    assert d.ncon > 1
    assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-12 * abs(d.qpos).max())


def test_contacts_bear_the_weight():
    """At rest on a floor: m g, in a contact sensor and in the forces on vertices."""
    sensor = '<sensor><contact geom1="floor" reduce="netforce" data="force" num="1"/></sensor>'
    text = world(rod("rod", line(6), GROUND) + BESIDE, 0.0)
    sim = saltus.Simulation(text.replace("</mujoco>", f"{sensor}</mujoco>"))
    sim.run(1.0)
    sim.forward()
    weight = 0.5 * 9.81
    assert_allclose(abs(sim.sensordata).max(), weight, rtol=1e-6)
    m = sim.model.mujoco
    slides = [i for i in range(m.nv) if re.match(r"rod_\d", m.body(m.dof_bodyid[i]).name)]
    assert_allclose(sim.data.qfrc_constraint[slides[2::3]].sum(), weight, rtol=1e-6)


def test_lanes_are_as_floats():
    """The same kernels in lanes, for a rod that rolls."""
    sim, _, d = both("rolls")
    batch = saltus.Batch(sim.model, 3)
    batch.qvel[:] = d.qvel
    batch.qvel[1] = 0.0
    sim.step(50)
    batch.step(50)
    for k in (0, 2):
        assert_allclose(batch.qpos[k], sim.qpos, rtol=0, atol=1e-13)
    assert abs(batch.qpos[1] - sim.qpos).max() > 1e-3


@pytest.mark.slow
def test_derivatives_of_runs_and_steps():
    """Differences by 1e-6 of a rod that a ball pushes, without events in them: 1e-6 of the largest."""
    sim, m, _ = both("is pushed by a ball", "Euler")
    sim.step(40)
    kept, velocity = sim.snapshot(), sim.qvel.copy()
    _, gradient = saltus.run_gradient(sim, 0.02, lambda run: (run.qpos[-1] ** 2).sum(), "qvel", mode="forward")
    found = np.asarray(gradient["qvel"])
    for i in range(1, m.nv, 6):
        ends = []
        for side in (1e-6, -1e-6):
            sim.restore(kept)
            sim.qvel[:] = velocity
            sim.qvel[i] += side
            ends.append(float((sim.run(0.02, sample=0.02).qpos[-1] ** 2).sum()))
        assert_allclose((ends[0] - ends[1]) / 2e-6, found[i], rtol=0, atol=1e-6 * abs(found).max())


def test_contacts_that_cannot_move_have_no_rows():
    """Vertices on the world, on a floor: as in MuJoCo, contacts without rows and forces."""
    sim = saltus.Simulation(world(rod("rod", line(6), GROUND, '<pin id="0 1"/>') + BESIDE, 0.0))
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    sim.forward()
    assert [c["efc_address"] < 0 for c in sim.data.contact] == [c.efc_address < 0 for c in d.contact]
    assert sum(c.efc_address < 0 for c in d.contact) == 1


def test_what_is_not_simulated_is_refused():
    box = rod("rod", line(6), GROUND, radius=0.01).replace(
        "<elasticity", '<elasticity section="box" sectionsize=".02 .01"'
    )
    with pytest.raises(saltus.ModelError, match="section of a box"):
        saltus.Simulation(world(box))
    with pytest.raises(saltus.OptionError, match="require the soft law"):
        saltus.Simulation(world(RUNS["rolls"][0]), "moreau_jean", contact="hard")
