"""Models as CasADi functions (`casadi_functions`, `casadi_number`).

References: Pinocchio, whose algorithms and analytical derivatives share nothing with ours; the compiled kernels; and
MuJoCo for positions on the manifold. Tolerance: rounding of some thousand products, relative to the largest number;
inverses lose up to the condition of M besides.
"""

import functools
import pickle
import sys

import mujoco
import numpy as np
import pytest

import saltus
from saltus import algorithms
from saltus.algorithms.casadi_number import Expression

TREE = """
<mujoco>
  <option gravity="0.3 -0.2 -9.7"/>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".2 .1 .05" pos=".03 0 .01"/>
      <body name="arm" pos=".2 0 0">
        <joint name="ball" type="ball" armature=".02" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/>
        <body name="hand" pos=".3 .1 0" quat=".8 .6 0 0">
          <joint name="turn" axis="0 .6 .8" armature=".1" range="-1 1"/>
          <joint name="reach" type="slide" axis="1 0 0"/>
          <geom name="palm" type="sphere" size=".05" pos="0 .02 0"/>
          <site name="tip" pos="0 .1 0" quat=".6 .8 0 0"/>
        </body>
      </body>
    </body>
    <body name="table" mocap="true" pos="1 2 3" quat=".6 0 .8 0"><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <tendon>
    <fixed name="coupling" armature=".3"><joint joint="turn" coef="1"/><joint joint="reach" coef="-.7"/></fixed>
  </tendon>
</mujoco>
"""
SERIAL = """
<mujoco>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <inertial pos=".03 0 .01" mass="2" diaginertia=".1 .2 .25"/>
      <body name="arm" pos=".2 0 0">
        <joint name="lift" axis="0 1 0"/>
        <inertial pos=".1 .05 0" mass="1" diaginertia=".02 .03 .04"/>
        <body name="hand" pos=".3 .1 0" quat=".8 .6 0 0">
          <joint name="turn" axis="0 0 1"/>
          <inertial pos="0 .02 .1" mass=".5" diaginertia=".01 .02 .015"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("casadi", reason="CasADi is not installed: pip install 'saltus[casadi]'")


@pytest.fixture(scope="module")
def tree(library):
    return saltus.casadi(TREE)


def state_of(model, seed=0):
    rng = np.random.default_rng(seed)
    q = model.qpos0.copy()
    mujoco.mj_integratePos(model.mj_model, q, rng.normal(size=model.nv), 1.0)
    return q, *rng.normal(size=(2, model.nv))


def close(found, wanted, tolerance=1e-13):
    assert np.abs(np.array(found).reshape(np.shape(wanted)) - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(3))
def test_equations_are_those_of_the_compiled_kernels(tree, seed):
    model = tree.model
    q, v, x = state_of(model, seed)
    close(tree.mass_matrix(q), algorithms.crba(model, q))
    close(tree.bias(q, v), algorithms.rnea(model, q, v, 0 * v))
    close(tree.inverse(q, v, x), algorithms.rnea(model, q, v, x))
    close(tree.forward(q, v, x), algorithms.aba(model, q, v, x), 1e-12)
    close(tree.mass_matrix_inverse(q), algorithms.mass_matrix_inverse(model, q), 1e-12)
    close(tree.jacobian("hand", (0.1, 0.2, 0.3))(q), algorithms.jacobian(model, q, "hand", (0.1, 0.2, 0.3)))


def test_positions_are_mujocos(tree):
    m = tree.model.mujoco
    q, _, dq = state_of(tree.model)
    data = mujoco.MjData(m)
    data.qpos[:] = q
    mujoco.mj_kinematics(m, data)
    for found, place in (
        (tree.body("hand"), data.body("hand")),
        (tree.body("table"), data.body("table")),
        (tree.geom("palm"), data.geom("palm")),
        (tree.site("tip"), data.site("tip")),
    ):
        position, rotation = found(q)
        close(position, place.xpos)
        close(rotation, place.xmat.reshape(3, 3))
    away, back = q.copy(), np.zeros(m.nv)
    mujoco.mj_integratePos(m, away, dq, 1.0)
    close(tree.displace(q, dq), away)
    mujoco.mj_differentiatePos(m, back, 1.0, q, away)
    close(tree.difference(q, away), back, 1e-12)


def test_derivatives_are_those_of_pinocchio(library, tmp_path):
    pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
    path = tmp_path / "serial.xml"
    path.write_text(SERIAL)
    robot = pinocchio.buildModelFromMJCF(str(path))
    data = robot.createData()
    functions = saltus.casadi(SERIAL)
    q, v, x = state_of(functions.model)
    turn = np.array(functions.body("base")(q)[1])
    # Pinocchio: quaternions (x, y, z, w), velocities of the base in its own axes
    P = np.eye(functions.model.nv)
    P[:3, :3] = turn.T
    theirs = np.concatenate([q[:3], np.roll(q[3:7], -1), q[7:]])
    close(functions.mass_matrix(q), P.T @ pinocchio.crba(robot, data, theirs) @ P)
    # with Euler's transport term between the two frames of acceleration
    drift = np.concatenate([-np.cross(v[3:6], turn.T @ v[:3]), np.zeros(functions.model.nv - 3)])
    tau = P.T @ pinocchio.rnea(robot, data, theirs, P @ v, P @ x + drift)
    close(functions.inverse(q, v, x), tau)
    a = P.T @ (pinocchio.aba(robot, data, theirs, P @ v, P @ tau) - drift)
    close(functions.forward(q, v, tau), a, 1e-12)
    close(a, x, 1e-12)
    # joints beyond the base: their coordinates are the same in both
    pinocchio.computeRNEADerivatives(robot, data, theirs, P @ v, P @ x + drift)
    by_q, by_v, by_a = functions.inverse_derivatives(q, v, x)
    close(np.array(by_q)[:, 6:], P.T @ np.array(data.dtau_dq)[:, 6:])
    close(np.array(by_v)[:, 6:], P.T @ np.array(data.dtau_dv)[:, 6:])
    close(by_a, np.array(functions.mass_matrix(q)))


def test_derivatives_are_the_limits_of_differences(tree):
    """Central differences along the axes of v: steps of 1e-5 leave 1e-9 by truncation and rounding."""
    model = tree.model
    q, v, x = state_of(model, 4)
    h = 1e-5

    def columns(f):
        return np.column_stack([(f(h * e) - f(-h * e)) / (2 * h) for e in np.eye(model.nv)])

    def moved(e):
        return np.array(tree.displace(q, e)).ravel()

    pairs = ((tree.inverse_derivatives, algorithms.rnea), (tree.forward_derivatives, algorithms.aba))
    for derivatives, algorithm in pairs:
        evaluated = functools.partial(algorithm, model)
        by_q, by_v, by_x = derivatives(q, v, x)
        close(by_q, columns(lambda e, f=evaluated: f(moved(e), v, x)), 1e-8)
        close(by_v, columns(lambda e, f=evaluated: f(q, v + e, x)), 1e-8)
        close(by_x, columns(lambda e, f=evaluated: f(q, v, x + e)), 1e-8)
    T = np.array(tree.tangent(q))
    close(T, columns(moved), 1e-8)


def test_casadi_differentiates_the_functions(tree, library):
    """Through displace, at no displacement too, where the exponential has its series."""
    model = tree.model
    q, v, x = state_of(model, 5)
    step = library.SX.sym("dq", model.nv)
    slope = library.Function("slope", [step], [library.jacobian(tree.forward(tree.displace(q, step), v, x), step)])
    close(slope(np.zeros(model.nv)), np.array(tree.forward_derivatives(q, v, x)[0]), 1e-11)


def test_what_is_left_out_is_named(tree):
    assert tree.left_out == ("contacts", "limits of joints and tendons", "dampers of joints")
    assert "without contacts, limits of joints and tendons, dampers of joints" in repr(tree)


def test_equality_constraints_are_warned_of(library):
    closed = TREE.replace(
        "</mujoco>", '<equality><connect name="loop" body1="hand" body2="table" anchor="0 0 0"/></equality></mujoco>'
    )
    with pytest.warns(
        saltus.SaltusWarning, match=r"equality constraints \(loop\) of the model are not in the functions"
    ):
        assert "equality constraints" in saltus.casadi(closed).left_out


def test_refusals(library, tree):
    with pytest.raises(saltus.OptionError, match="no degree of freedom"):
        saltus.casadi("<mujoco/>")
    with pytest.raises(saltus.SaltusError, match="nowhere"):
        tree.site("nowhere")
    with pytest.raises(saltus.OptionError, match="point must be 3 finite numbers"):
        tree.jacobian("hand", (0.0, np.nan, 0.0))


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(ImportError, match=r"saltus\.casadi needs CasADi: pip install 'saltus\[casadi\]'$") as found:
        saltus.casadi("pendulum")
    assert found.value.name == "casadi"


def test_functions_are_made_again_from_a_pickle(tree):
    again = pickle.loads(pickle.dumps(tree))
    q, v, _ = state_of(tree.model)
    assert np.array_equal(np.array(again.bias(q, v)), np.array(tree.bias(q, v)))


def test_open_conditions_have_no_truth(library):
    x = Expression(library.SX.sym("x"))
    with pytest.raises(TypeError, match="is open"):
        bool(x < 1.0)
    assert bool(Expression(library.SX(2)) > 1.0) and x.free_symbols() == ["x"]
