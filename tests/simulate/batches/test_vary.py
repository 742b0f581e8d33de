"""Batches whose simulations vary in the model.

References: MuJoCo's mj_step on the changed model, and a simulation of it alone. Tolerances: 1e-10 for steps of MuJoCo,
whose sums are in another order; bits where the same code runs.
"""

import copy
import pickle

import mujoco
import numpy as np
import pytest
from helpers.cases import same_bits

import saltus
from saltus.errors import OptionError

WALKER = """
<mujoco><option timestep="0.004" tolerance="0" iterations="100" ls_iterations="50"/><worldbody>
<geom name="floor" type="plane" size="9 9 .1"/>
<body name="trunk" pos="0 0 .42"><freejoint/><geom name="box" type="box" size=".2 .1 .05" mass="3"/>
 <body name="leg" pos=".1 0 0"><joint name="hip" axis="0 1 0" damping=".2"/>
  <geom name="shin" type="capsule" fromto="0 0 0 0 0 -.35" size=".03" mass=".5"/></body></body></worldbody>
<actuator><position name="servo" joint="hip" kp="20" kv="1"/></actuator>
<sensor><framepos objtype="body" objname="leg"/></sensor></mujoco>
"""
VARY = ("body_mass", "geom_friction", "geom_size", "dof_damping", "actuator_gainprm", "actuator_biasprm", "opt.gravity")
N = 11


def batch(threads=1, n=N, **options):
    """A batch of walkers, each with numbers of its own."""
    made = saltus.Batch(WALKER, n, threads=threads, vary=VARY, **options)
    rng = np.random.default_rng(3)
    scale = rng.uniform(0.8, 1.2, size=(N, 6))[:n]
    model = made.model
    model.body_mass[:, 1:] *= scale[:, :2]
    made.geom("floor").friction[:, 0] *= scale[:, 2]
    model.geom_size[:, 1:] *= scale[:, 3, None, None]
    made.joint("hip").damping *= scale[:, 4]
    gain = 20.0 * scale[:, 5]
    made.actuator("servo").gainprm[:, 0] = gain
    model.actuator_biasprm[:, 0, 1] = -gain
    model.opt.gravity[:, 2] = -9.0 - scale[:, 0]
    made.qvel = np.random.default_rng(4).normal(size=(N, model.nv))[:n]
    made.ctrl = 0.3
    return made


@pytest.fixture(scope="module")
def moved():
    """A batch after 60 steps, in which the walkers fall over."""
    made = batch()
    made.step(60)
    return made


def test_each_is_mujocos_changed_model(moved):
    """From the same state one step, which is all that chaos of contacts leaves to compare to 1e-10."""
    for i in range(N):
        m = moved.model_of(i).mujoco
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.ctrl[:] = moved.qpos[i], moved.qvel[i], 0.3
        mujoco.mj_step(m, d)
        sim = moved.simulation(i)
        sim.step()
        np.testing.assert_allclose(sim.qvel, d.qvel, rtol=0, atol=1e-10 * max(1.0, np.abs(d.qvel).max()))
    assert np.ptp(moved.qpos[:, 2]) > 1e-3


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_simulations_alone_go_on_with_the_same_bits(precision):
    made = batch(threads=2, precision=precision)
    made.step(20)
    alone = [made.simulation(i) for i in range(N)]
    made.step(30)
    for i, sim in enumerate(alone):
        sim.step(30)
        assert same_bits(sim.qpos, made.qpos[i].astype(float)) and same_bits(sim.qvel, made.qvel[i].astype(float))
        assert sim.time == made.time[i]


def test_bits_do_not_depend_on_threads_or_neighbours(moved):
    for other in (batch(threads=2), batch(n=3)):
        other.step(60)
        assert same_bits(other.qpos, moved.qpos[: other.n])


def test_without_changes_it_is_the_common_model():
    """To rounding: sums may be in another order."""
    plain, varied = saltus.Batch(WALKER, 3, threads=1), saltus.Batch(WALKER, 3, threads=1, vary=VARY)
    for made in (plain, varied):
        made.step(30)
    np.testing.assert_allclose(varied.qpos, plain.qpos, rtol=0, atol=1e-12)


def test_what_is_read(moved):
    """Positions of bodies and readings of sensors, of each simulation's own model."""
    xpos, readings = moved.read(("xpos", "sensordata"))
    for i in (0, N - 1):
        sim = saltus.Simulation(moved.model_of(i))
        sim.qpos[:] = moved.qpos[i]
        np.testing.assert_allclose(xpos[i], sim.data.xpos, rtol=0, atol=1e-14)
        np.testing.assert_allclose(readings[i], sim.sensordata, rtol=0, atol=1e-14)
    contacts = moved.contacts()
    assert len(contacts.dist) and (contacts.dist < 0).any()


def test_changes_between_steps():
    """A change has its effect from the next step on, in its own simulation alone."""
    made, same = batch(), batch()
    for each in (made, same):
        each.step(5)
    made.body("trunk").mass[3] = 9.0
    for each in (made, same):
        each.step(5)
    differs = (made.qvel != same.qvel).any(axis=1)
    assert differs.tolist() == [i == 3 for i in range(N)]
    assert made.model_of(3).body_mass[1] == 9.0 and made.model_of(3).body_subtreemass[1] > 9.0


@pytest.mark.parametrize("again", [copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_alike(again):
    made = batch()
    made.step(5)
    other = again(made)
    for each in (made, other):
        each.step(5)
    assert same_bits(made.qpos, other.qpos)


def test_what_cannot_be():
    with pytest.raises(OptionError, match="geom_type"):
        saltus.Batch(WALKER, 2, vary=["geom_type"])
    with pytest.raises(OptionError, match="no tendon_stiffness"):
        saltus.Batch(WALKER, 2, vary=["tendon_stiffness"])
    with pytest.raises(OptionError, match="nothing in the model reads dof_solref"):
        saltus.Batch(WALKER, 2, vary=["dof_solref"])
    made = saltus.Batch(WALKER, 2, vary=["body_mass", "body_pos"])
    with pytest.raises(OptionError, match="dof_damping does not vary in this batch; vary has body_mass, body_pos"):
        made.model.dof_damping = 1.0
    with pytest.raises(OptionError, match="joint 'hip': damping does not vary"):
        made.joint("hip").damping = 1.0
    with pytest.raises(OptionError, match=r"body_mass has shape \(2, 3\), not \(5,\)"):
        made.model.body_mass = np.ones(5)
    for name, value, message in (
        ("body_mass", np.nan, "body_mass must be finite: simulation 1"),
        ("body_mass", -1.0, "body_mass must be positive: simulation 1"),
        ("body_pos", 1.0, r"body_pos\[trunk\] cannot vary \(simulation 1\): .* set by its qpos"),
    ):
        getattr(made.model, name)[1, 1] = value
        with pytest.raises(OptionError, match=message):
            made.step()
        getattr(made.model, name)[1, 1] = getattr(made.model.shared, name)[1]
    made.step()


ARMED = """
<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><body pos=".5 0 0">
  <joint name="b" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></body></worldbody>
<tendon><fixed name="t" armature=".1"><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed></tendon>
<actuator><motor name="m" tendon="t" armature=".2"/><motor name="n" joint="b" armature=".1"/></actuator></mujoco>"""


def test_inertia_of_a_tendon_does_not_vary():
    """Armature and gear of its actuators, which make it, are refused; those of joints vary (beside a single one)."""
    for field, place in (("actuator_armature", (1, 0)), ("actuator_gear", (1, 0, 0))):
        made = saltus.Batch(ARMED, 2, vary=[field])
        values = np.array(getattr(made.model, field))
        values[place] = 3.0
        setattr(made.model, field, values)
        with pytest.raises(OptionError, match=rf"{field}\[m\] cannot vary \(simulation 1\): it changes the inertia"):
            made.step()
    made = saltus.Batch(ARMED, 2, "euler", vary=["actuator_armature"])
    made.model.actuator_armature = [[0.2, 0.1], [0.2, 0.4]]
    made.ctrl = [[1.0, -2.0]] * 2
    made.step()
    alone = saltus.Simulation(saltus.load(ARMED).changed({"actuator_armature[n]": 0.4}), "euler")
    alone.ctrl = [1.0, -2.0]
    alone.step()
    np.testing.assert_allclose(made.qvel[1], alone.qvel, rtol=1e-12)
    assert np.abs(made.qvel[1] - made.qvel[0]).max() > 1e-3
