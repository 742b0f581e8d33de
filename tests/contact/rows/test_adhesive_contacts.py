"""Contacts of geoms that stick.

Law: the force of a contact lies in its friction cone moved down the normal by the adhesion; across the gap it acts
along the normal alone (MuJoCo documentation, Computation, "Adhesion"). References: MuJoCo 4.0; a ball that hangs from a
ceiling by its adhesion; the energy balance. Tolerances: rows 1e-10 and forces 1e-8 as in `helpers.constraints`;
what follows from positions alone, 1e-12; steps by MuJoCo's own integrators, where its solver is tight, 1e-9.
"""

import copy

import mujoco
import numpy as np
import pytest
from helpers.adhesive import SENSORS, sticky
from helpers.constraints import assert_same_rows, complete, matched, near, put, relative

import saltus
from saltus.model.event_enums import SLIP
from saltus.simulate.analysis.current_contacts import touching

CONES = "pyramidal", "elliptic"
DIMS = 1, 3, 4, 6
# ------------------------------------------------------------ rows and forces


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("dim", DIMS)
def test_rows_and_accelerations(dim, cone):
    """Of contacts that touch, and of those in the gap, which have one row."""
    _, contacts, m = assert_same_rows(sticky(dim, cone), 12, spread=0.03)
    assert contacts >= 6 and m.flg_adhesion


@pytest.mark.slow
@pytest.mark.parametrize("solver", [mujoco.mjtSolver.mjSOL_CG, mujoco.mjtSolver.mjSOL_PGS])
@pytest.mark.parametrize("cone", CONES)
def test_other_solvers(cone, solver):
    """They end at the forces that Newton's method ends at."""
    m = complete(sticky(3, cone))
    exact = mujoco.MjData(m)
    other = copy.copy(m)
    other.opt.solver, other.opt.iterations = solver, 20000
    sim, rng = saltus.Simulation(saltus.load(other)), np.random.default_rng(4)
    for _ in range(3):
        state = near(m, rng, 0.02)
        exact.qpos[:], exact.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, exact)
        put(sim, exact)
        assert relative(sim.data.qacc, exact.qacc) < 1e-5


@pytest.mark.parametrize("flags", ["", 'spring="disable"', 'spring="disable" damper="disable"'])
def test_what_is_passive(flags):
    """The attraction follows from positions; it is left out where MuJoCo leaves out all passive forces."""
    m = complete(sticky(3, "elliptic", rest=f"<option><flag {flags}/></option>"))
    d, sim, rng = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(1)
    for _ in range(5):
        state = near(m, rng, 0.03)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, d)
        put(sim, d)
        for name in ("qfrc_adhesion", "qfrc_passive"):
            np.testing.assert_allclose(getattr(sim.data, name), getattr(d, name), rtol=0, atol=1e-12)
        assert d.qfrc_adhesion.any() == ("damper" not in flags)


@pytest.mark.parametrize("adhesion", [2.0, 0.0, -1.0])
def test_a_pair_has_its_own(adhesion):
    """Whatever its geoms say; a negative one repels, as in MuJoCo."""
    pair = f'<contact><pair geom1="floor" geom2="alone" margin=".01" gap=".05" adhesion="{adhesion}"/></contact>'
    assert_same_rows(sticky(3, "pyramidal", rest=pair), 8, spread=0.03)


SHEET = """<mujoco><option cone="{}"/><worldbody><flexcomp name="sheet" type="grid" dim="2" count="6 6 1"
  spacing=".1 .1 .1" radius=".01" mass="3"><contact margin=".02" selfcollide="none"/><edge damping="1"/></flexcomp>
  <body pos=".03 .02 .11"><freejoint/><geom size=".1" mass="1" gap=".03" adhesion="2"/></body></worldbody></mujoco>"""


@pytest.mark.slow
def test_deformable_bodies_are_stuck_to():
    for cone in CONES:
        _, contacts, m = assert_same_rows(SHEET.format(cone), states=6, spread=0.01)
        assert contacts > 2
        d, sim = mujoco.MjData(m), saltus.Simulation(saltus.load(m))
        mujoco.mj_forward(m, d)
        put(sim, d)
        assert d.qfrc_adhesion.any()
        np.testing.assert_allclose(sim.data.qfrc_adhesion, d.qfrc_adhesion, rtol=0, atol=1e-12)


# ------------------------------------------------------------ what is read of them


@pytest.mark.parametrize("cone", CONES)
def test_net_forces_are_sensed(cone):
    xml = sticky(4, cone, rest=SENSORS).replace(
        '<body pos=".3 0 0">', '<body pos=".3 0 0"><site name="here" size=".3"/>'
    )
    m = complete(xml)
    d, sim, rng = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(5)
    pulls = False
    for _ in range(8):
        state = near(m, rng, 0.03)
        d.qpos[:], d.qvel[:] = state["qpos"], state["qvel"]
        mujoco.mj_forward(m, d)
        put(sim, d)
        scale = 1e-8 * max(1.0, abs(d.sensordata).max(), abs(d.efc_force).max())
        np.testing.assert_allclose(sim.sensordata, d.sensordata, rtol=0, atol=scale)
        table, wanted = touching(sim.engine), np.zeros(6)
        for k, c in zip(matched(sim.data.contact, d.contact), range(d.ncon), strict=True):
            mujoco.mj_contactForce(m, d, c, wanted)
            force = wanted[:3] @ d.contact[c].frame.reshape(3, 3)
            np.testing.assert_allclose(table[k, 3:6], force, rtol=0, atol=scale)
            pulls |= wanted[0] < 0.0 and d.contact[c].dim == 4
    assert pulls


def test_a_ball_hangs_from_the_ceiling():
    """Up to its adhesion, in the gap; what is read of the contact is what holds the ball."""
    for adhesion, stays in ((12.0, True), (9.0, False)):
        sim = saltus.Simulation(HANGING.format(adhesion=adhesion))
        sim.qpos[2] -= 0.001
        sim.step(2000)
        assert (sim.qpos[2] > 0.88) == stays
        if stays:
            force = sim.run(0.01).contact_force[-1, 0]
            np.testing.assert_allclose(force, [0.0, 0.0, 9.81], atol=1e-6)


def test_friction_is_bounded_by_pressure_and_adhesion():
    """On the floor: μ (m g + δ) = 0.5 (9.81 + 12) = 10.9 N."""
    for push, slides in ((10.0, False), (12.0, True)):
        sim = saltus.Simulation(HANGING.format(adhesion=12.0).replace('pos="0 0 1" euler="180 0 0"', 'pos="0 0 .8"'))
        sim.step(300)
        sim.xfrc_applied[1, 0] = push
        trajectory = sim.run(0.2)
        assert (SLIP in trajectory.contact_mode) == slides
        assert (sim.qvel[0] > 0.1) == slides


HANGING = """<mujoco><option cone="elliptic" impratio="100"/><worldbody>
  <geom name="ceiling" type="plane" pos="0 0 1" euler="180 0 0" size="2 2 .1" friction=".5" gap=".02"/>
  <body pos="0 0 .9"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
  <joint type="slide" axis="0 0 1" ref=".9"/><geom size=".1" mass="1" friction=".5" adhesion="{adhesion}"/></body>
</worldbody></mujoco>"""


# ------------------------------------------------------------ steps


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "RK4", "discrete"])
@pytest.mark.parametrize("cone", CONES)
def test_steps_are_those_of_mujoco(cone, integrator):
    """200 steps in which contacts close and part."""
    m = complete(sticky(3, cone, f'integrator="{integrator}" timestep="0.001"'))
    d, sim, rng = mujoco.MjData(m), saltus.Simulation(saltus.load(m)), np.random.default_rng(0)
    state = near(m, rng, 0.02, 0.3)
    for name, value in state.items():
        getattr(d, name)[:] = value
    put(sim, d)
    rows = set()
    for _ in range(200):
        mujoco.mj_step(m, d)
        rows.add((d.ncon, d.nefc))
    sim.step(200)
    assert len(rows) > 3
    np.testing.assert_allclose(sim.qpos, d.qpos, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_lanes():
    """Simulations side by side, some touching and some in the gap, are those alone; neighbours change no bit."""
    model = saltus.load(complete(sticky(3, "elliptic", 'timestep="0.001"')))
    batch, rng = saltus.Batch(model, 7, threads=1), np.random.default_rng(3)
    states = [near(model.mujoco, rng, 0.03, 0.3) for _ in range(7)]
    batch.qpos, batch.qvel = (np.array([state[name] for state in states]) for name in ("qpos", "qvel"))
    alone = saltus.Batch(model, 1, threads=1)
    alone.qpos, alone.qvel = batch.qpos[2:3], batch.qvel[2:3]
    single = saltus.Batch(model, 7, threads=1, precision="float32")
    single.qpos, single.qvel = batch.qpos, batch.qvel
    assert_contacts_as_singly(batch, states, 1e-9)
    for each in (batch, alone, single):
        each.step(30)
    np.testing.assert_array_equal(batch.qpos[2], alone.qpos[0])
    np.testing.assert_allclose(single.qpos, batch.qpos, rtol=0, atol=1e-4)
    for i, state in enumerate(states):
        sim = saltus.Simulation(model)
        sim.qpos[:], sim.qvel[:] = state["qpos"], state["qvel"]
        sim.step(30)
        np.testing.assert_allclose(batch.qpos[i], sim.qpos, rtol=0, atol=1e-9)


def assert_contacts_as_singly(batch, states, tolerance):
    found, adhesion = batch.contacts(), batch.read("qfrc_adhesion")
    passive = batch.read("qfrc_passive")
    assert (found.force[:, 0] < 0.0).any()
    for i, state in enumerate(states):
        sim = saltus.Simulation(batch.model)
        sim.qpos[:], sim.qvel[:] = state["qpos"], state["qvel"]
        np.testing.assert_allclose(adhesion[i], sim.data.qfrc_adhesion, rtol=0, atol=1e-12)
        np.testing.assert_allclose(passive[i], sim.data.qfrc_passive, rtol=0, atol=1e-12)
        table = touching(sim.engine)
        close = tolerance * max(abs(table[:, 3:6]).max(initial=0.0), 1.0)
        np.testing.assert_allclose(found.world_force[found.simulation == i], table[:, 3:6], rtol=0, atol=close)


FALLING = """<mujoco><option timestep="0.0005" cone="{cone}" tolerance="1e-13"/><worldbody>
  <geom type="plane" size="0 0 1" friction="0.3" condim="{dim}" margin=".01" gap=".03"/>
  <body pos="0 0 0.16"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom size="0.1" mass="2" friction="0.3" condim="{dim}" adhesion="30" solref=".02 .2"/></body></worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "implicitfast", "energy_momentum", "discrete"])
def test_the_energy_balance_closes(integrator):
    """Bodies that slide have constant inertia: force times way is the change of energy, but for gravity's first order
    in methods of first order, ½ m g h times the change of velocity at most.
    """
    for cone, dim in (("elliptic", 3), ("pyramidal", 3), ("elliptic", 1)):
        sim = saltus.Simulation(FALLING.format(cone=cone, dim=dim), integrator)
        sim.qvel[0] = 0.5
        report = sim.run(0.5, sample=0.01, ledger=True).energy_report()
        assert report["contact"].min() < -0.1
        assert not report["limits"].any()
        bound = 1e-10 if integrator == "energy_momentum" else 0.5 * 2 * 9.81 * sim.timestep * 2 * 2.0
        assert abs(report.residual).max() < bound


# ------------------------------------------------------------ laws, and what is left out


@pytest.mark.parametrize("integrator", ["dopri5", "moreau_jean"])
def test_other_laws_refuse_it(integrator):
    text = HANGING.format(adhesion=3.0)
    with pytest.raises(saltus.OptionError, match="adhesion, which only the soft law"):
        saltus.Simulation(text, integrator, contact="hard")
    for make in (saltus.Simulation, lambda *args, **options: saltus.Batch(args[0], 2, **options)):
        with pytest.raises(saltus.OptionError, match="adhesion, which only the soft law"):
            make(text, contact=saltus.Compliant(lambda m, d, gap, velocity: (gap, gap, gap)))
    saltus.Simulation(saltus.load(text, ignore=["adhesion"]), integrator, contact="hard")


def test_left_out():
    """As without the attribute, to the bit; and the model says what it lacks."""
    text = HANGING.format(adhesion=12.0)
    model = saltus.load(text, ignore=["adhesion"])
    assert model.ignored == ("adhesion: geom #1",)
    without, plain = saltus.Simulation(model), saltus.Simulation(text.replace('adhesion="12.0"', ""))
    assert without.engine.m.layout.features == plain.engine.m.layout.features
    for sim in (without, plain):
        sim.step(50)
    np.testing.assert_array_equal(without.qpos, plain.qpos)
    assert not without.data.qfrc_adhesion.any()


@pytest.mark.slow
def test_derivatives():
    """Of a step with contacts that touch, and some in the gap, with differences of steps."""
    sim, rng = (
        saltus.Simulation(saltus.load(complete(sticky(3, "elliptic", 'timestep="0.001"')))),
        np.random.default_rng(2),
    )
    state = near(sim.model.mujoco, rng, 0.02, 0.3)
    sim.qpos[:], sim.qvel[:] = state["qpos"], state["qvel"]
    A, _ = sim.linearize()
    nv, h = sim.model.nv, 1e-6
    for k in range(0, 2 * nv, 5):
        after = []
        for sign in (1, -1):
            moved = saltus.Simulation(sim.model)
            moved.qpos[:], moved.qvel[:] = state["qpos"], state["qvel"]
            change = np.zeros(nv)
            change[k % nv] = sign * h
            if k < nv:
                mujoco.mj_integratePos(sim.model.mujoco, moved.qpos, change, 1.0)
            else:
                moved.qvel[:] += change
            moved.step()
            after.append(moved.qvel.copy())
        difference = (after[0] - after[1]) / (2 * h)
        np.testing.assert_allclose(A[nv:, k], difference, rtol=1e-5, atol=1e-5 * max(1.0, abs(difference).max()))
