"""Moving horizon estimation (`moving_horizon`).

References: the Kalman filter of a linear system; SciPy's least squares over all states of the window; SciPy's
constrained minimiser (SLSQP) of the same cost, written out with matrices; the true motion of a body that turns,
measured without noise.
"""

import numpy as np
import pytest
from helpers.measured import SPRINGS
from scipy.optimize import least_squares, minimize

import saltus

PENDULUM = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="q" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".05" contype="0"/>
    <site name="end" pos="0 0 -1"/></body>
  </worldbody><sensor><framepos name="end" objtype="site" objname="end"/></sensor></mujoco>"""
BODY = """
<mujoco><option timestep="0.02" gravity="0 0 -1"/><worldbody>
  <body name="body"><freejoint name="root"/><geom type="box" size=".3 .2 .1" mass="1" contype="0" conaffinity="0"/>
    <site name="imu" pos=".1 .2 0"/></body></worldbody>
  <sensor><framepos name="place" objtype="body" objname="body"/><framequat name="turn" objtype="site" objname="imu"/>
  </sensor></mujoco>"""


@pytest.mark.parametrize("horizon", [1, 4])
def test_a_linear_system_has_the_estimates_of_the_kalman_filter(horizon):
    sim = saltus.Simulation(SPRINGS, "euler")
    sim.qpos[:], sim.qvel[:] = [0.1, -0.2], [0.3, 0.1]
    rng = np.random.default_rng(0)
    y, u = rng.normal(size=(12, 2)), rng.normal(size=(12, 1))
    y[4, 0] = np.nan
    noise = (1e-4, [1e-2, 2e-2])
    wanted = saltus.kalman(sim, *noise, covariance=0.1).run(y, u, steps=2)
    found = saltus.moving_horizon(sim, *noise, covariance=0.1, horizon=horizon).run(y, u, steps=2)
    assert np.allclose(found.time, wanted.time) and found.names == wanted.names
    for name in ("qpos", "qvel", "covariance"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), rtol=0, atol=1e-9)


def test_a_pendulum_has_the_least_cost_that_scipy_finds():
    """The same cost over all states of the window, with differences of steps as derivatives."""
    truth = saltus.Simulation(PENDULUM, "rk4")
    truth.qpos[:], truth.qvel[:] = 2.0, -1.0
    rng = np.random.default_rng(1)
    readings = []
    for k in range(6):
        truth.step(bool(k))
        readings.append(truth.sensordata + 0.05 * rng.normal(size=3))
    sim = saltus.Simulation(PENDULUM, "rk4")
    sim.qpos[:] = 1.5
    found = saltus.moving_horizon(sim, 1e-4, 0.05**2, covariance=0.5, horizon=5).run(readings)
    other = saltus.Simulation(PENDULUM, "rk4")

    def residuals(flat):
        x, out = flat.reshape(6, 2), [(flat[:2] - [1.5, 0.0]) / np.sqrt(0.5)]
        for k, reading in enumerate(readings):
            other.qpos[:], other.qvel[:] = x[k, :1], x[k, 1:]
            out.append((reading - other.sensordata) / 0.05)
            other.step()
            if k < 5:
                out.append((x[k + 1] - np.r_[other.qpos, other.qvel]) / 1e-2)
        return np.concatenate(out)

    best = least_squares(residuals, np.tile([1.5, 0.0], 6), xtol=1e-15, ftol=1e-15, gtol=1e-12).x
    # differences of 1e-8 leave a gradient of some 1e-8
    assert np.allclose(np.r_[found.qpos[-1], found.qvel[-1]], best[-2:], rtol=0, atol=1e-6)


def test_bounds_are_those_of_a_constrained_minimum():
    sim = saltus.Simulation(SPRINGS, "euler")
    sim.qpos[:] = [0.1, 0.05]
    rng = np.random.default_rng(2)
    y = rng.normal(size=(4, 2)) * 0.3 - [0.3, 0.0]
    bounds = {"b": (0.0, None), "velocity of a": (-0.2, 0.2)}
    found = saltus.moving_horizon(sim, 1e-3, 1e-2, covariance=0.1, horizon=3, bounds=bounds).run(y)
    A, _ = sim.linearize()
    H, start = np.array([[0.0, 1, 0, 0], [0, 0, 1, 0]]), np.array([0.1, 0.05, 0, 0])

    def cost(flat):
        x = flat.reshape(4, 4)
        parts = [(x[0] - start) / np.sqrt(0.1), ((x[1:] - x[:-1] @ A.T) / np.sqrt(1e-3)).ravel()]
        return sum(float(p @ p) for p in [*parts, ((y - x @ H.T) / np.sqrt(1e-2)).ravel()])

    box = [(None, None), (0.0, None), (-0.2, 0.2), (None, None)] * 4
    best = minimize(cost, np.tile(start, 4), bounds=box, method="SLSQP", options=dict(ftol=1e-15, maxiter=1000))
    assert np.allclose(np.r_[found.qpos[-1], found.qvel[-1]], best.x[-4:], rtol=0, atol=1e-5)
    assert found.qpos[-1][1] == 0.0 and (found.qpos[:, 1] >= 0).all() and (abs(found.qvel[:, 0]) <= 0.2).all()


def test_a_turning_body_is_found_from_its_pose_alone():
    truth = saltus.Simulation(BODY, "rk4")
    truth.qvel[:] = [0.1, 0.2, 0.3, 1.0, 2.0, -1.5]
    sim = saltus.Simulation(BODY, "rk4")
    sim.qpos[3:] = [0.8, 0.0, 0.6, 0.0]
    estimator = saltus.moving_horizon(sim, 1e-8, 1e-8, covariance=4.0, horizon=9)
    for k in range(10):
        if k:
            truth.step()
            estimator.predict()
        estimator.update(truth.sensordata)
    assert estimator.converged
    # the prior's weight beside that of the readings, 1e-8 / 4, times the first errors
    assert np.allclose(estimator.qvel, truth.qvel, rtol=0, atol=1e-5)
    assert np.allclose(abs(estimator.qpos @ truth.qpos - truth.qpos[:3] @ truth.qpos[:3]), 1.0, atol=1e-7)


@pytest.mark.parametrize(
    ("text", "how", "said"),
    [
        (SPRINGS, dict(process_noise=0.0), "process_noise must be positive definite"),
        (SPRINGS, dict(bounds={"c": (0, 1)}), "c"),
        (SPRINGS, dict(bounds={"a": (1, 0)}), "bounds of 'a' must rise"),
        (SPRINGS, dict(bounds={"a": 1.0}), r"must be \(least, greatest\)"),
        (SPRINGS, dict(horizon=0), "horizon"),
        (SPRINGS, dict(bounds={"a": (0.5, 1.0)}), "the start is outside the bounds of 'position of a'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(text, how, said):
    with pytest.raises(saltus.OptionError, match=said):
        saltus.moving_horizon(
            saltus.Simulation(text, "euler"), **{"process_noise": 1e-4, "measurement_noise": 1e-2, **how}
        )


def test_orientations_have_no_bounds():
    sim = saltus.Simulation(BODY, "rk4")
    name = sim.model.dof_names()[4]
    with pytest.raises(saltus.OptionError, match="is an orientation, which has no bounds"):
        saltus.moving_horizon(sim, 1e-4, 1e-2, bounds={name: (0, 1)})
