"""Extended Kalman filters (`kalman`, `measurement`, `estimates`).

References: the discrete algebraic Riccati equation of a linear system (SciPy); the chi-square law of normalised errors
and innovations over Monte-Carlo runs (Bar-Shalom, Li & Kirubarajan (2001), 5.4), whose bounds hold with probability
1 - 1e-4 for the seeds below; MuJoCo's own derivatives of sensors by finite differences.
"""

import mujoco
import numpy as np
import pytest
from helpers.measured import SPRINGS
from scipy.linalg import solve_discrete_are

import saltus
from saltus.control.tangent_states import central_differences, difference, displaced, put_state, state_of
from saltus.inverse.estimation.estimates import chi_square_interval
from saltus.inverse.estimation.measurement import Measurement

BODY = """
<mujoco><option timestep="0.02" gravity="0 0 -1"/><worldbody>
  <body name="body"><freejoint/><geom type="box" size=".3 .2 .1" mass="1" contype="0" conaffinity="0"/>
    <site name="imu" pos=".1 .2 0"/></body></worldbody>
  <sensor><framepos name="place" objtype="body" objname="body"/><framequat name="turn" objtype="site" objname="imu"/>
    <gyro name="gyro" site="imu"/></sensor></mujoco>"""


def test_the_gain_of_a_linear_system_is_that_of_the_riccati_equation():
    sim = saltus.Simulation(SPRINGS, "euler")
    Q, R = np.diag([1e-6, 2e-6, 1e-4, 3e-4]), np.diag([1e-3, 2e-3])
    A, _ = sim.linearize()
    H = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0]])
    wanted = solve_discrete_are(A.T, H.T, Q, R)  # covariance of the prediction
    kalman = saltus.kalman(sim, Q, R, covariance=1.0)
    for _ in range(1500):
        kalman.update([0.0, 0.0])
        kalman.predict()
    # H by differences: 1e-10 relative, and the convergence of 1500 steps
    assert np.abs(kalman.covariance - wanted).max() <= 1e-8 * np.abs(wanted).max()


def test_states_are_those_of_the_linear_filter():
    """Written out with matrices, from the same measurements and controls, one of them missing."""
    sim = saltus.Simulation(SPRINGS, "euler")
    sim.qpos[:], sim.qvel[:] = [0.1, -0.2], [0.3, 0.1]
    A, B = sim.linearize()
    H, R, Q, P = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0]]), np.diag([1e-3, 2e-3]), 1e-5 * np.eye(4), 0.1 * np.eye(4)
    rng = np.random.default_rng(0)
    y, u = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    y[4, 0] = np.nan
    x = np.concatenate([sim.qpos, sim.qvel])
    found = saltus.kalman(sim, 1e-5, [1e-3, 2e-3], covariance=0.1).run(y, u)
    assert sim.time == 0.0 and sim.qpos[0] == 0.1
    for k in range(20):
        there = np.isfinite(y[k])
        h, r = H[there], R[np.ix_(there, there)]
        S = h @ P @ h.T + r
        nu = y[k][there] - h @ x
        K = P @ h.T @ np.linalg.inv(S)
        x, P = x + K @ nu, (np.eye(4) - K @ h) @ P
        assert np.allclose(np.concatenate([found.qpos[k], found.qvel[k]]), x, rtol=0, atol=1e-8)
        assert np.allclose(found.covariance[k], P, rtol=0, atol=1e-9)
        assert np.isclose(found.nis[k], nu @ np.linalg.solve(S, nu), rtol=1e-7) and found.dof[k] == len(nu)
        x, P = A @ x + B @ u[k], A @ P @ A.T + Q
    assert found.std.shape == (20, 4) and found.names[2] == "velocity of a"


def simulated(sim, rng, start, Q, R, controls):
    """States and readings of a motion with noise in its steps and readings, from a start of some covariance.

    Covariances are diagonal; `controls` [T, nu]: row k acts from reading k on. A place and a quaternion are read first.
    """
    model, n = sim.model, len(Q)
    put_state(sim, displaced(model, state_of(sim), np.sqrt(start) @ rng.normal(size=n)))
    states, readings = [], []
    for k in range(len(controls)):
        if k:
            sim.ctrl[:] = controls[k - 1]
            sim.step()
            put_state(sim, displaced(model, state_of(sim), np.sqrt(Q) @ rng.normal(size=n)))
        noise, reading = np.sqrt(R) @ rng.normal(size=len(R)), sim.sensordata
        turned = reading[3:7].copy()
        mujoco.mju_quatIntegrate(turned, noise[3:6], 1.0)
        readings.append(np.concatenate([reading[:3] + noise[:3], turned, reading[7:] + noise[6:]]))
        states.append(state_of(sim))
    return states, np.array(readings)


def normalised_errors(sim, rng, start, Q, R, controls, runs=100):
    """Sums over runs of squared errors by their covariances: of filter and smoother at three times, of innovations."""
    times = (0, len(controls) // 2, len(controls) - 1)
    nees, nis, before = np.zeros((2, 3)), 0.0, sim.snapshot()
    for _ in range(runs):
        sim.restore(before)
        states, readings = simulated(sim, rng, start, Q, R, controls)
        sim.restore(before)
        found = saltus.kalman(sim, Q, R, covariance=start).run(readings, controls)
        for estimates, out in ((found, nees[0]), (saltus.smooth(found), nees[1])):
            for i, k in enumerate(times):
                state = estimates.qpos[k], estimates.qvel[k], estimates.act[k]
                error = difference(sim.model, state, states[k])
                out[i] += error @ np.linalg.solve(estimates.covariance[k], error)
        nis += found.nis.sum()
    return nees.ravel(), nis


def consistent(sums, dof):
    """Whether sums of `dof` squares of normal deviations are within their interval."""
    low, high = chi_square_interval(dof, 1 - 1e-4)
    return low <= np.min(sums) and np.max(sums) <= high


@pytest.mark.slow
def test_errors_and_innovations_of_a_floating_body_are_chi_square():
    """100 runs: errors of filter and smoother, normalised by their covariances, at the start, midway and at the end.

    The body spins by about a radian between the first and the last measurement, and its orientation is uncertain by 0.2
    rad at the start, so that an error in the tangent space's axes would show.
    """
    start = np.diag([0.1] * 3 + [0.2] * 3 + [0.3] * 6) ** 2
    Q = np.diag([1e-3] * 3 + [1e-2] * 3 + [2e-2] * 3 + [5e-2] * 3) ** 2
    R = np.diag([0.05] * 3 + [0.05] * 3 + [0.1] * 3) ** 2
    sim = saltus.Simulation(BODY, "euler")
    sim.qvel[:] = [0.2, 0.1, 0.5, 1.0, 3.0, -2.0]
    nees, nis = normalised_errors(sim, np.random.default_rng(2), start, Q, R, np.zeros((16, 0)))
    assert consistent(nees, 12 * 100) and consistent(nis, 9 * 16 * 100)


JOINTS = [f"{joint}{k}" for k in range(4) for joint in ("hip", "knee")]
LEG = """
<body name="thigh{k}" pos="{x} {y} 0"><joint name="hip{k}" axis="0 1 0" damping=".3" armature=".01"/>
  <geom type="capsule" fromto="0 0 0 -.1 0 -.15" size=".02" mass=".5" contype="0"/>
  <body pos="-.1 0 -.15"><joint name="knee{k}" axis="0 1 0" damping=".3" armature=".01"/>
    <geom type="capsule" fromto="0 0 0 .1 0 -.15" size=".015" mass=".3" contype="0"/>
    <geom pos=".1 0 -.15" size=".02" mass=".1"/></body></body>"""
QUADRUPED = f"""
<mujoco><option timestep=".005" cone="elliptic"/><default><geom conaffinity="0"/></default><worldbody>
  <geom type="plane" size="5 5 .1" contype="0" conaffinity="1"/>
  <body name="trunk" pos="0 0 .317"><freejoint/><geom type="box" size=".25 .1 .05" mass="6" contype="0"/>
    <site name="imu" pos=".05 .02 .03"/>
    {"".join(LEG.format(k=k, x=0.2 * (-1) ** k, y=0.12 * (-1) ** (k // 2)) for k in range(4))}</body></worldbody>
  <actuator>{"".join(f'<position joint="{name}" kp="120" kv="3"/>' for name in JOINTS)}</actuator>
  <sensor><framepos name="place" objtype="body" objname="trunk"/><framequat name="turn" objtype="site" objname="imu"/>
    <gyro name="gyro" site="imu"/>
    {"".join(f'<jointpos joint="{name}"/>' for name in JOINTS)}</sensor></mujoco>"""


@pytest.mark.slow  # 4000 steps, linearized
def test_errors_of_a_floating_robot_on_its_feet_are_chi_square():
    """100 runs of a robot that bends its knees, with noise in its forces; its feet keep touching the floor.

    Where it is and its heading are uncertain by 5 cm and 0.1 rad, its height and its tilt by what contact leaves; that
    the floor does not give way makes estimates of the height a hundred times as sure as its readings.
    """
    sim = saltus.Simulation(QUADRUPED, "euler")
    sim.run(2.0)
    sim.time = 0.0
    start = np.diag([0.05, 0.05, 2e-4, 2e-4, 2e-4, 0.1] + [5e-4] * 8 + [5e-3] * 14) ** 2
    Q = np.diag([0.0] * 14 + [1e-3] * 3 + [3e-3] * 3 + [1e-2] * 8) ** 2
    R = np.diag([0.02] * 3 + [0.01] * 6 + [2e-3] * 8) ** 2
    bend = 0.02 * (1 - np.cos(2 * np.pi * 0.005 / 0.2 * np.arange(40)))
    controls = np.outer(bend, [-1, 2] * 4)
    nees, nis = normalised_errors(sim, np.random.default_rng(2), start, Q, R, controls)
    assert sim.data.ncon == 4
    assert consistent(nees, 28 * 100) and consistent(nis, 17 * 40 * 100)


def test_uncertain_axes_turn_with_the_estimate():
    """A reading turns the estimate by a radian about one axis, and says nothing about two others, one less certain.

    Reference: the same errors seen from the turned estimate, by MuJoCo's differences of quaternions.
    """
    ball = BODY.replace("<freejoint/>", '<joint type="ball"/>')
    kalman = saltus.kalman(
        saltus.Simulation(ball, "euler"),
        0.0,
        [1e8, 1e8, 1e-6],
        covariance=[1e-4, 1e-6, 1.0] + 3 * [1e-9],
        sensors=["turn"],
    )
    kalman.update([np.cos(0.5), 0, 0, np.sin(0.5)])
    P, J, h = np.diag([1e-4, 1e-6, 1e-6 / (1.0 + 1e-6)]), np.empty((3, 3)), 1e-5
    for k, e in enumerate(np.eye(3)):
        ends = np.zeros((2, 3))
        for end, sign in zip(ends, (h, -h), strict=True):
            seen = np.array([1.0, 0, 0, 0])
            mujoco.mju_quatIntegrate(seen, np.array([0, 0, 1 / (1 + 1e-6)]) + sign * e, 1.0)
            mujoco.mju_subQuat(end, seen, kalman.qpos)
        J[:, k] = (ends[0] - ends[1]) / (2 * h)
    assert np.allclose(kalman.covariance[:3, :3], J @ P @ J.T, rtol=0, atol=1e-10)
    assert kalman.covariance[0, 1] < -3e-5


def test_wrong_noise_is_found_inconsistent():
    sim = saltus.Simulation(SPRINGS, "euler")
    y = np.random.default_rng(3).normal(size=(60, 2)) * 0.1
    right = saltus.kalman(sim, 1e-12, 0.01).run(y).consistency()
    assert right.holds and right.dof == 120
    assert not saltus.kalman(sim, 1e-12, 0.001).run(y).consistency().holds
    assert not saltus.kalman(sim, 1e-12, 0.1).run(y).consistency(0.99).holds


def test_derivatives_of_sensors_are_mujocos():
    """MuJoCo's `mjd_transitionFD` differentiates sensors at the same state; its steps leave 1e-6."""
    sim = saltus.Simulation(BODY.replace("framequat", "framexaxis"), "euler")
    rng = np.random.default_rng(4)
    put_state(sim, displaced(sim.model, state_of(sim), rng.normal(size=12)))
    kalman = saltus.kalman(sim, 1e-4, 1e-2, covariance=1.0)
    innovation = kalman.update(np.zeros(9))
    m = sim.model.mujoco
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, data)
    assert np.allclose(innovation.values, -data.sensordata, rtol=0, atol=1e-12)
    H = np.zeros((9, 12))
    mujoco.mjd_transitionFD(m, data, 1e-6, True, None, None, H, None)
    assert np.allclose(innovation.covariance, H @ H.T + 1e-2 * np.eye(9), rtol=0, atol=1e-5)


def test_derivatives_of_turns_are_exact_and_others_differences():
    """Errors of a quaternion, differences of them by 6e-6: truncation and rounding of 1e-10. A normal has no others."""
    xml = BODY.replace("<sensor>", '<sensor><normal name="n" geom1="ball" geom2="floor" cutoff="9"/>').replace(
        "<worldbody>", '<worldbody><geom name="floor" type="plane" size="9 9 1" pos="0 0 -3" contype="0"/>'
    )
    sim = saltus.Simulation(xml.replace('<geom type="box"', '<geom name="ball" type="box"'), "euler")
    put_state(sim, displaced(sim.model, state_of(sim), np.random.default_rng(5).normal(size=12)))
    measured = Measurement(sim, ["place", "turn", "n", "gyro"], "kalman")
    here, H = measured.derivatives(12)

    def apart(state):
        put_state(sim, state)
        return measured.error(measured.read(), here)

    start = state_of(sim)
    wanted = central_differences(sim.model, start, 12, apart)
    assert measured.size == 12 and np.allclose(H, wanted, rtol=0, atol=1e-8)
    assert np.allclose(H[3:6, 3:6] @ H[3:6, 3:6].T, np.eye(3), rtol=0, atol=1e-13)  # a rotation


def with_sensor(body, rest=""):
    return (
        f'<mujoco><option timestep="0.01"/><worldbody>{body}</worldbody>{rest}'
        '<sensor><jointpos name="at" joint="q"/></sensor></mujoco>'
    )


LINK = '<body><joint name="q" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".05"/></body>'
PISTON = with_sensor(
    LINK,
    '<actuator><general joint="q" dyntype="integrator" gainprm="5" actlimited="true" actrange="0 1"/></actuator>',
)


def test_states_of_actuators_are_estimated_within_their_range():
    sim = saltus.Simulation(PISTON, "euler")
    kalman = saltus.kalman(sim, [1e-6, 1e-6, 1e-3], 1e-6, covariance=[1e-6, 1e-6, 1.0])
    kalman.predict([0.3], steps=5)
    assert 0.0 < kalman.act[0] < 1.0
    kalman.update([-0.5])  # as if pushed backwards
    assert kalman.act[0] == 0.0 and kalman.qvel[0] < 0.0 and kalman.state.shape == (3,)


@pytest.mark.parametrize("how", [dict(integrator="rk4"), dict(integrator="dopri5"), dict(integrator="implicitfast")])
def test_covariances_move_by_the_derivatives_of_the_integrators_steps(how):
    sim = saltus.Simulation(with_sensor(LINK), **how)
    sim.qpos[:], sim.qvel[:] = 0.7, 1.2
    A, _ = sim.linearize()
    kalman = saltus.kalman(sim, 1e-6, 1e-4, covariance=[0.1, 0.2])
    kalman.predict()
    sim.step()
    assert np.allclose(kalman.covariance, A @ np.diag([0.1, 0.2]) @ A.T + 1e-6 * np.eye(2), rtol=1e-13, atol=0)
    assert kalman.qpos[0] == sim.qpos[0] and kalman.time == sim.time


DELAYED = with_sensor(LINK).replace('joint="q"/></sensor>', 'joint="q" delay=".05" nsample="8"/></sensor>')
RAY = with_sensor(LINK + '<site name="eye"/>').replace("</sensor>", '<rangefinder name="ray" site="eye"/></sensor>')


@pytest.mark.parametrize(
    ("sim", "said"),
    [
        (lambda: saltus.Simulation("<mujoco><worldbody>" + LINK + "</worldbody></mujoco>"), "no sensors"),
        (lambda: saltus.Simulation(RAY), r"'ray' \(rangefinder\) jump"),
        (lambda: saltus.Simulation(DELAYED), "delays of actuators and sensors"),
        (lambda: saltus.Simulation(with_sensor(LINK), "verlet"), "half steps"),
        (lambda: saltus.Batch(with_sensor(LINK), 2, threads=1), "must be a saltus.Simulation"),
    ],
)
def test_what_has_no_filter_is_refused_by_name(sim, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.kalman(sim(), 1e-4, 1e-2)


def test_a_sensor_with_jumps_is_left_out_by_name():
    kalman = saltus.kalman(saltus.Simulation(RAY), 1e-4, 1e-2, sensors=["at"])
    assert kalman.update([0.1]).names == ("at",)
    with pytest.raises(saltus.OptionError, match="unknown sensor 'att'"):
        saltus.kalman(saltus.Simulation(RAY), 1e-4, 1e-2, sensors=["att"])


def test_arguments_of_wrong_shape_or_sign_are_refused():
    sim = saltus.Simulation(with_sensor(LINK))
    for arguments, said in (
        (dict(process_noise=[1, 2, 3]), "process_noise must be"),
        (dict(process_noise=-1.0), "process_noise must be positive semidefinite"),
        (dict(measurement_noise=0.0), "measurement_noise must be positive definite"),
        (dict(process_noise=[[1, 2], [0, 1]]), "process_noise must be symmetric"),
        (dict(covariance=np.nan), "covariance must be"),
    ):
        with pytest.raises(saltus.OptionError, match=said):
            saltus.kalman(sim, **{"process_noise": 1e-4, "measurement_noise": 1e-2, **arguments})
    kalman = saltus.kalman(sim, 1e-4, 1e-2)
    for call, said in (
        (lambda: kalman.update([1.0, 2.0]), "y must have 1 readings"),
        (lambda: kalman.update([np.inf]), "must be finite, or NaN"),
        (lambda: kalman.predict([1.0]), "ctrl must be"),
        (lambda: kalman.run([1.0, 2.0]), "measurements must have shape"),
        (lambda: kalman.run([[1.0], [2.0]], [[1.0], [1.0]]), "controls must have shape"),
        (lambda: kalman.run([[1.0]]).consistency(2.0), "probability must be"),
    ):
        with pytest.raises(saltus.OptionError, match=said):
            call()
