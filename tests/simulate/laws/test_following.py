"""Controllers that follow reference motions (`following`).

References: the motion itself, of which the errors of computed torque do not know; the closed form of these errors; for
PID and gravity compensation, forces of the same controller with the target at one time. Tolerances: RK4's errors.
"""

import numpy as np
import pytest

import saltus
from saltus.simulate.laws.following import Following

ARM = """
<mujoco><option timestep="0.002"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" damping=".4" stiffness="2" armature=".05"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".03" contype="0"/></body></body>
  </worldbody><actuator><motor name="a" joint="a" gear="3"/><motor name="b" joint="b"/></actuator></mujoco>"""
KP, KD = 25.0, 4.0


def way():
    return saltus.minimum_jerk(ARM, [[0.2, 0.1], [0.5, -1.0], [1.0, 0.2], [0.8, 0.0]], [0.1, 0.6, 1.2, 1.6])


def steps():
    return saltus.gait(ARM, [[0.0, 0.2], [0.4, -0.3], [-0.2, 0.0]], [0.0, 0.3, 0.6], 0.7, start=0.2)


def off(t, error):
    """Errors of e'' + kd e' + kp e = 0 from rest."""
    decay, turning = KD / 2, np.sqrt(KP - KD**2 / 4)
    return np.exp(-decay * t) * error * (np.cos(turning * t) + decay / turning * np.sin(turning * t))


@pytest.mark.parametrize("motion", [way, steps])
def test_errors_of_computed_torque_do_not_know_of_the_motion(motion):
    wanted = motion()
    sim = saltus.Simulation(ARM, "rk4", control=saltus.follow(saltus.computed_torque(KP, KD), wanted))
    error = np.array([0.3, -0.2])
    sim.qpos[:], sim.qvel[:] = wanted.qpos(0.0) - error, wanted.qvel(0.0)
    for _ in range(6):
        sim.step(150)
        # accelerations have kinks at way points that are not at steps' ends: h³ of their jumps
        assert np.allclose(wanted.qpos(sim.time) - sim.qpos, off(sim.time, error), rtol=0, atol=1e-7)


def test_a_batch_follows_as_its_simulations_do():
    control = saltus.follow(saltus.computed_torque(KP, KD), way())
    assert isinstance(control, Following) and control.capacity == 4  # three segments
    batch = saltus.Batch(ARM, 3, threads=1, integrator="rk4", control=control)
    batch.qpos = [[0.2, 0.1], [0.0, 0.0], [0.5, 0.5]]
    batch.step(400)
    sim = saltus.Simulation(ARM, "rk4", control=control)
    sim.qpos[:] = [0.5, 0.5]
    sim.step(400)
    assert np.allclose(batch.qpos[2], sim.qpos, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["PID", "gravity_compensation"])
def test_servos_have_the_targets_of_the_time(kind):
    def servo(**target):
        if kind == "PID":
            return saltus.PID(KP, 0.5, KD, **target)
        return saltus.gravity_compensation(KP, KD, **target)

    wanted = way()
    moving = saltus.Simulation(ARM, "rk4", control=saltus.follow(servo(), wanted))
    for t in (0.0, 0.4, 0.6, 1.3, 2.0):
        still = saltus.Simulation(ARM, "rk4", control=servo(target=wanted.qpos(t), target_rate=wanted.qvel(t)))
        for sim in (moving, still):
            sim.time, sim.qpos[:], sim.qvel[:] = t, [0.3, -0.4], [0.5, 0.6]
            sim.forward()
        assert np.allclose(moving.ctrl, still.ctrl, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("control", "motion", "said"),
    [
        (lambda: saltus.PID(1), lambda: 3.0, "must be a ReferenceMotion"),
        (lambda: saltus.controller(lambda m, d, z: None), way, "control must be a saltus.PID"),
        (lambda: saltus.operational_space("tip", 1, 1, 0.0), way, "control must be a saltus.PID"),
        (lambda: saltus.PID(1), lambda: saltus.spline("pendulum", [[0], [1]], [0, 1]), "a model with other joints"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(control, motion, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.Simulation(ARM, "rk4", control=saltus.follow(control(), motion()))
