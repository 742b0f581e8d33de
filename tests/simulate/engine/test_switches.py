"""Equality constraints are switched on and off between steps, as MuJoCo's `eq_active` does.

Reference: MuJoCo 4.0's steps with the same switches. Steps of one method agree to rounding, amplified over 150 steps:
1e-9. The table of truth holds what is let go under all contact laws.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.errors import OptionError

CRANE = """
<mujoco><option timestep=".002"/>
<worldbody>
  <body name="hand" pos="0 0 .65"><joint name="lift" type="slide" axis="0 0 1" damping="20" stiffness="500"/>
    <geom type="box" size=".1 .1 .05" contype="0" conaffinity="0"/></body>
  <body name="box" pos="0 0 .5"><freejoint/><geom type="box" size=".08 .08 .08" contype="0" conaffinity="0"/></body>
  <body name="arm" pos="1 0 1"><joint name="shoulder" axis="0 1 0"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/>
    <body pos=".3 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"
      contype="0" conaffinity="0"/></body></body>
</worldbody>
<tendon><fixed name="belt"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef=".5"/></fixed></tendon>
<equality>
  <weld name="grasp" body1="hand" body2="box"/>
  <joint name="gears" joint1="elbow" joint2="shoulder" polycoef="0 2 0 0 0"/>
  <tendon name="brake" tendon1="belt" active="false"/>
  <connect name="pin" body1="arm" anchor=".3 0 0" active="false"/>
</equality>
</mujoco>"""
SWITCHES = {0: (1, 1, 0, 0), 40: (1, 0, 1, 0), 80: (0, 0, 0, 1), 120: (0, 1, 1, 0)}  # by step


@pytest.fixture(scope="module")
def crane():
    return saltus.load(CRANE)


def switched(sim, steps=150):
    for k in range(steps):
        if k in SWITCHES:
            sim.eq_active[:] = SWITCHES[k]
        sim.step()
    return sim.qpos.copy(), sim.qvel.copy()


@pytest.mark.parametrize(("integrator", "number"), [("euler", 0), ("implicitfast", 3), ("rk4", 1)])
def test_steps_are_mujocos(crane, integrator, number):
    m = mujoco.MjModel.from_xml_string(CRANE)
    m.opt.integrator = number
    data = mujoco.MjData(m)
    for k in range(150):
        if k in SWITCHES:
            data.eq_active[:] = SWITCHES[k]
        mujoco.mj_step(m, data)
    qpos, qvel = switched(saltus.Simulation(crane, integrator))
    np.testing.assert_allclose(qpos, data.qpos, atol=1e-9)
    np.testing.assert_allclose(qvel, data.qvel, atol=1e-8)


def test_an_inactive_equality_changes_no_bit(crane):
    without = saltus.load(CRANE.replace('<weld name="grasp" body1="hand" body2="box"/>', ""))
    one, other = saltus.Simulation(crane), saltus.Simulation(without)
    one.eq_active[0] = 0
    one.step(100)
    other.step(100)
    assert np.array_equal(one.qpos, other.qpos)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_each_simulation_of_a_batch_has_its_own(crane, precision):
    batch = saltus.Batch(crane, 5, precision=precision)
    batch.eq_active[:, 0] = [1, 0, 1, 0, 1]
    batch.eq_active[2, 2] = 1
    batch.step(60)
    for i, grasp in enumerate([1, 0, 1, 0, 1]):
        sim = saltus.Simulation(crane)
        sim.eq_active[:] = grasp, 1, i == 2, 0
        sim.step(60)
        np.testing.assert_allclose(batch.qpos[i], sim.qpos, atol=1e-10 if precision == "float64" else 2e-4)
    assert batch.eq_active[:, 0].tolist() == [1, 0, 1, 0, 1]
    batch.reset([1])
    assert batch.eq_active[:2].tolist() == [[1, 1, 0, 0]] * 2


def test_state_is_copied_saved_and_reset(crane):
    sim = saltus.Simulation(crane)
    sim.eq_active[0] = 0
    kept = sim.snapshot()
    other = saltus.Simulation(crane)
    other.restore(kept)
    assert other.eq_active.tolist() == [0, 1, 0, 0] == sim.data.eq_active.tolist()
    sim.reset()
    assert sim.eq_active.tolist() == [1, 1, 0, 0]


def test_derivatives_are_of_the_active_ones(crane):
    """Reference: central differences of steps."""
    sim = saltus.Simulation(crane)
    sim.eq_active[:] = 0, 0, 1, 0
    sim.step(5)
    kept, (A, _) = sim.snapshot(), sim.linearize()
    ends = []
    for sign in (1, -1):
        sim.restore(kept)
        sim.qvel[-1] += sign * 1e-6
        sim.step()
        ends.append(sim.qvel.copy())
    difference = (ends[0] - ends[1]) / 2e-6
    nv = crane.nv
    np.testing.assert_allclose(A[nv : 2 * nv, 2 * nv - 1], difference, atol=1e-6)
    assert abs(difference[-2]) > 0.01  # the brake couples both joints


def test_what_cannot_be_switched_is_named(crane):
    sim = saltus.Simulation(crane)
    sim.eq_active[0] = 0.5
    with pytest.raises(OptionError, match="0 or 1"):
        sim.step()
    batch = saltus.Batch(crane, 2)
    with pytest.raises(OptionError, match="0 or 1"):
        batch.eq_active = 2
    nothing = CRANE.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>')
    sim = saltus.Simulation(nothing)
    sim.eq_active[2] = 1
    with pytest.raises(OptionError, match=r"equality 'brake' cannot be switched: .*disabled"):
        sim.step()
