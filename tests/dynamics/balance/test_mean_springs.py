"""Mean forces of springs over a step do exactly the work by which the springs' energy falls, in plain Python.

Law: force times displacement is V(start) - V(end), whatever the step; for small steps the force is that of the spring.
Reference: the energies written out, MuJoCo's force, and conservation of MuJoCo's energy.

Tolerances: rounding; the iteration ends where velocities change by 1e-13 of the largest.
"""

import mujoco
import numpy as np
import pytest
from helpers.plain_python import plain_python
from numpy.testing import assert_allclose

import saltus
from saltus.dynamics.balance.joint_ends import cayley_factor
from saltus.dynamics.balance.mean_springs import mean_force, mean_slope, mean_torque, over_sine
from saltus.spatial.quaternions import quat_exp, quat_multiply

K, POLY = 1.3, (0.2, 0.1)


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def stored(x):
    return x * x * (0.5 * K + x * (POLY[0] / 3 + x * POLY[1] / 4))


def angle(q):
    return 2.0 * np.arctan2(np.linalg.norm(q[1:]), abs(q[0]))


def test_a_spring_of_one_displacement():
    for x, y in [(0.3, -0.8), (0.5, 0.5), (0.0, 0.0), (-2.0, 1.0)]:
        assert_allclose(mean_force(K, POLY, x, y) * (y - x), stored(y) - stored(x), atol=1e-15)
        r, s = abs(x), abs(y)
        assert_allclose(mean_slope(K, POLY, r, s) * (s * s - r * r), stored(s) - stored(r), atol=1e-15)
    assert_allclose(mean_force(K, POLY, 0.7, 0.7), 0.7 * (K + 0.7 * (POLY[0] + 0.7 * POLY[1])), rtol=1e-15)


@pytest.mark.parametrize("size", [1e-6, 1e-2, 1.0, 2.5])
def test_a_torque_does_its_work(size):
    """Also across half a turn from the reference, from which on the energy falls again."""
    rng, crossed = np.random.default_rng(0), 0
    for _ in range(20):
        q = rng.standard_normal(4)
        q = tuple(q / np.linalg.norm(q))
        turning = rng.standard_normal(3)
        turning = tuple(size * turning / np.linalg.norm(turning))
        end = quat_multiply(q, quat_exp(turning))
        crossed += q[0] * end[0] < 0.0
        torque = np.array(mean_torque(K, POLY, q, turning))
        assert_allclose(torque @ turning, stored(angle(q)) - stored(angle(end)), atol=4e-15)
        assert np.linalg.norm(torque) < 3 * np.pi * (K + np.pi * (POLY[0] + np.pi * POLY[1]))
    assert crossed or size < 1.0


def test_a_short_step_has_the_spring_s_torque():
    turn = np.array([0.3, -0.5, 0.2])
    r = np.linalg.norm(turn)
    torque = mean_torque(K, POLY, quat_exp(tuple(turn)), (1e-9, 0.0, 0.0))
    assert_allclose(torque, -turn * (K + r * (POLY[0] + r * POLY[1])), atol=1e-8)


def test_factors():
    for x in (0.0, 5e-4, 1.1e-3, 0.9, 1.6):
        assert_allclose(over_sine(x), x / np.sin(x) if x else 1.0, rtol=1e-14)
        assert_allclose(cayley_factor((0.6 * x, 0.0, 0.8 * x)), np.tan(x / 2) / (x / 2) if x else 1.0, rtol=1e-14)


BOX = '<geom type="box" size=".1 .05 .04" pos=".1 .02 .01" contype="0" conaffinity="0"/>'
PATHS = {
    "joints": ("stiffness", ""),
    "fixed": (
        "",
        '<fixed stiffness="3 1 2" springlength=".2"><joint joint="a" coef="1"/><joint joint="c" coef="-.7"/></fixed>',
    ),
    "path": ("", '<spatial stiffness="30 5 4"><site site="o"/><site site="p"/><site site="q"/></spatial>'),
    "slack": ("", '<spatial stiffness="40" springlength=".2 .42"><site site="p"/><site site="q"/></spatial>'),
    "wrapped": ("", '<spatial stiffness="30"><site site="o"/><geom geom="w"/><site site="q"/></spatial>'),
}


def world(name, free=False):
    springs, tendon = PATHS[name]
    k = 'stiffness="2 .4 .3" springref="20"' if springs else ""
    ball = 'stiffness=".8 .2 .1"' if springs else ""
    base = f'<joint name="f" type="free" {ball}/>' if free else f'<joint name="a" axis="0 1 .3" {k}/>'
    if free:
        tendon = tendon.replace('<site site="o"/>', "").replace('<joint joint="a" coef="1"/>', "")
    return f"""<mujoco><option timestep=".02" gravity="0 0 {0 if free else -9}"/><worldbody>
      <site name="o" pos="0 .3 .4"/><geom name="w" size=".05" pos=".1 .2 .2" contype="0" conaffinity="0"/>
      <body>{base}{BOX}<site name="p" pos=".1 0 .1"/><body pos=".2 0 0"><joint type="ball" {ball}/>{BOX}
      <body pos=".2 0 0"><joint name="c" type="slide" axis="1 0 1" {k.replace("20", ".1")}/>{BOX}
      <site name="q" pos=".1 .1 0"/></body></body></body></worldbody>
      {"<tendon>" + tendon + "</tendon>" if tendon else ""}</mujoco>"""


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", PATHS)
def test_energy_stays(name, free):
    """Springs of joints and tendons in a mechanism; also momenta of a free one, from a spring within it."""
    if free and name == "wrapped":
        pytest.skip("the geom is the world's")
    sim = saltus.Simulation(world(name, free), "energy_momentum")
    m = sim.model.mujoco
    d = mujoco.MjData(m)
    sim.qvel[:] = 1.5 * np.random.default_rng(2).standard_normal(m.nv)
    energies, momenta = [], []
    for _ in range(8):
        d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
        mujoco.mj_forward(m, d)
        mujoco.mj_subtreeVel(m, d)
        mujoco.mj_energyPos(m, d)
        mujoco.mj_energyVel(m, d)
        energies.append(d.energy.copy())
        momenta.append([*m.body_subtreemass[1] * d.subtree_linvel[1], *d.subtree_angmom[1]])
        sim.step()
    total = np.sum(energies, axis=1)
    assert_allclose(total, total[0], atol=2e-12 * np.max(energies))
    assert np.ptp(energies, axis=0)[0] > 1e-3
    if free and name != "joints":
        assert_allclose(momenta, np.tile(momenta[0], (8, 1)), atol=1e-12)
    assert sim.unconverged == 0
