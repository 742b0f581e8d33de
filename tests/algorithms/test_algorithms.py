"""Algorithms on arrays. Reference: MuJoCo's M, bias, poses, Jacobians and momenta at the same states.

Tolerance: rounding of some hundred products, relative to the largest number.
"""

import threading

import mujoco
import numpy as np
import pytest
from helpers import oracle

import saltus
from saltus import algorithms

EVERYTHING = """
<mujoco>
  <option gravity="0.3 -0.2 -9.7"/>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".2 .1 .05" pos=".03 0 .01"/>
      <body name="arm" pos=".2 0 0">
        <joint name="ball" type="ball" armature=".02"/>
        <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/>
        <body name="hand" pos=".3 .1 0" quat=".8 .6 0 0">
          <joint name="turn" axis="0 1 1" armature=".1"/>
          <joint name="reach" type="slide" axis="1 0 .2"/>
          <geom type="sphere" size=".05" pos="0 .02 0"/>
        </body>
      </body>
    </body>
    <body name="table" mocap="true" pos="1 2 3" quat=".6 0 .8 0">
      <geom type="box" size=".1 .1 .1"/>
    </body>
    <body name="other" pos="0 1 1">
      <joint name="swing" axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="coupling" armature=".3"><joint joint="turn" coef="1"/><joint joint="reach" coef="-.7"/></fixed>
  </tendon>
</mujoco>
"""


SHEET = """
<mujoco>
  <worldbody>
    <flexcomp name="sheet" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 1" dim="2" mass="1" radius=".01">
      <elasticity young="1e4" poisson=".2" thickness="1e-2"/>
      <contact selfcollide="none"/>
    </flexcomp>
    <body pos="1 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module", params=["humanoid", EVERYTHING, SHEET], ids=["humanoid", "everything", "sheet"])
def case(request):
    """A model, and MuJoCo's model and data at a random state."""
    model = saltus.load(request.param)
    m = model.mujoco
    d = mujoco.MjData(m)
    random = np.random.default_rng(1)
    mujoco.mj_integratePos(m, d.qpos, random.normal(size=m.nv), 1.0)
    d.qvel[:] = random.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    mujoco.mj_subtreeVel(m, d)
    return model, m, d


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_inertia_is_mujocos(case):
    model, m, d = case
    close(algorithms.crba(model, d.qpos), oracle.full_inertia(m, d))


def test_inverse_dynamics_are_mujocos(case):
    model, m, d = case
    a = np.random.default_rng(2).normal(size=m.nv)
    close(algorithms.rnea(model, d.qpos, d.qvel, a), oracle.full_inertia(m, d) @ a + d.qfrc_bias)


def test_forward_dynamics_solve_mujocos_equations(case):
    model, m, d = case
    tau = np.random.default_rng(3).normal(size=m.nv)
    expected = np.linalg.solve(oracle.full_inertia(m, d), tau - d.qfrc_bias)
    found = algorithms.aba(model, d.qpos, d.qvel, tau)
    condition = np.linalg.cond(oracle.full_inertia(m, d))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * condition * np.abs(expected).max())


def test_inverse_inertia_inverts_mujocos(case):
    model, m, d = case
    M = oracle.full_inertia(m, d)
    inverse = algorithms.mass_matrix_inverse(model, d.qpos)
    np.testing.assert_array_equal(inverse, inverse.T)
    np.testing.assert_allclose(inverse @ M, np.eye(m.nv), atol=1e-15 * np.linalg.cond(M))


def test_poses_are_mujocos(case):
    model, _, d = case
    found = algorithms.kinematics(model, d.qpos)
    close(found.xpos, d.xpos)
    close(found.xquat, d.xquat)


def test_jacobians_of_points_are_mujocos(case):
    model, m, d = case
    point = np.array([0.1, -0.2, 0.3])
    for body in range(m.nbody):
        translation, rotation = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        at = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
        mujoco.mj_jac(m, d, translation, rotation, at, body)
        close(algorithms.jacobian(model, d.qpos, body, point), np.concatenate([translation, rotation]))
    name = model.names("body")[-1]
    by_name = algorithms.jacobian(model, d.qpos, name)
    np.testing.assert_array_equal(by_name, algorithms.jacobian(model, d.qpos, m.nbody - 1))


def test_momenta_are_mujocos(case):
    """Without those of tendons' armatures, which are at no place."""
    model, m, d = case
    found = algorithms.centroidal(model, d.qpos, d.qvel)
    close(found.com, d.subtree_com[0])
    close(found.momentum[:3], m.body_subtreemass[0] * d.subtree_linvel[0])
    close(found.momentum[3:], d.subtree_angmom[0])
    close(found.matrix @ d.qvel, found.momentum)


def test_rows_are_single_states(case):
    model, m, d = case
    random = np.random.default_rng(4)
    q, v, a = d.qpos + 0.1 * random.normal(size=(3, m.nq)), *random.normal(size=(2, 3, m.nv))
    for function, arrays in (
        (algorithms.rnea, (q, v, a)),
        (algorithms.aba, (q, v, a)),
        (algorithms.crba, (q,)),
        (algorithms.mass_matrix_inverse, (q,)),
    ):
        rows = function(model, *arrays)
        for k in range(3):
            np.testing.assert_array_equal(rows[k], function(model, *[array[k] for array in arrays]))
    frames, centroidal = algorithms.kinematics(model, q), algorithms.centroidal(model, q, v)
    jacobians = algorithms.jacobian(model, q, 1)
    assert frames.xquat.shape == (3, m.nbody, 4) and centroidal.matrix.shape == (3, 6, m.nv)
    np.testing.assert_array_equal(frames.xpos[2], algorithms.kinematics(model, q[2]).xpos)
    np.testing.assert_array_equal(centroidal.momentum[2], algorithms.centroidal(model, q[2], v[2]).momentum)
    np.testing.assert_array_equal(jacobians[2], algorithms.jacobian(model, q[2], 1))


def test_any_array_of_numbers_serves():
    model = saltus.load("double_pendulum")
    q = np.array([0.3, -0.2])
    expected = algorithms.crba(model, q)
    frozen, strided = q.copy(), np.repeat(q, 2)[::2]
    frozen.flags.writeable = False
    for form in (list(q), frozen, strided, q.astype(">f8")):
        np.testing.assert_array_equal(algorithms.crba(model, form), expected)
    assert algorithms.crba(model, np.empty((0, 2))).shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.1], [0.1, 0.2]), r"q \(2,\).*got q \(1,\)"),
        (([[0.1, 0.2]], [0.1, 0.2]), r"rows.*v \(2,\)"),
        (([[0.1, 0.2]], [[0.1, 0.2]] * 2), r"as many of each.*v \(2, 2\)"),
        ((["a", 0.1], [0.1, 0.2]), "arrays of numbers"),
        ((0.1, [0.1, 0.2]), r"got q \(\)"),
    ],
)
def test_other_shapes_are_named(arguments, words):
    with pytest.raises(saltus.OptionError, match=words):
        algorithms.centroidal(saltus.load("double_pendulum"), *arguments)


def test_only_models_and_their_bodies_are_taken():
    with pytest.raises(saltus.OptionError, match=r"saltus\.load"):
        algorithms.crba("double_pendulum", [0.1, 0.2])
    model = saltus.load("double_pendulum")
    for body, words in ((9, "no body 9"), ("nobody", "nobody")):
        with pytest.raises(saltus.SaltusError, match=words):
            algorithms.jacobian(model, [0.1, 0.2], body)
    with pytest.raises(saltus.OptionError, match=r"point must have shape \(3,\)"):
        algorithms.jacobian(model, [0.1, 0.2], 1, [0.0])


def test_threads_have_memory_of_their_own():
    model = saltus.load("humanoid")
    q = np.random.default_rng(5).normal(size=(2, 200, model.nq))
    expected = [algorithms.crba(model, rows) for rows in q]
    found = [None, None]

    def work(k):
        found[k] = algorithms.crba(model, q[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        np.testing.assert_array_equal(found[k], expected[k])


def test_the_regressor_gives_mujocos_inverse_dynamics(case):
    """Less the armatures of joints and of the fixed tendon, which are no parameters of bodies."""
    model, m, d = case
    a = np.random.default_rng(4).normal(size=(3, m.nv))
    q, v = np.tile(d.qpos, (3, 1)), np.tile(d.qvel, (3, 1))
    Y = algorithms.regressor(model, q, v, a)
    np.testing.assert_array_equal(Y[1], algorithms.regressor(model, d.qpos, d.qvel, a[1]))
    armature = np.diag(m.dof_armature)
    if m.ntendon:
        arm = np.zeros(m.nv)
        for joint, factor in zip(m.wrap_objid, m.wrap_prm, strict=True):
            arm[m.jnt_dofadr[joint]] = factor
        armature = armature + m.tendon_armature[0] * np.outer(arm, arm)
    expected = a @ (oracle.full_inertia(m, d) - armature) + d.qfrc_bias
    close(Y @ algorithms.inertial_parameters(model).values, expected)
    with pytest.raises(saltus.OptionError, match=r"a \(3, 1\)"):
        algorithms.regressor(model, q, v, a[:, :1])
