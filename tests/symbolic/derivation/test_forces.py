"""Forces from outside: Q = Jᵀ F of forces at points and of torques, against virtual work and the engine's Jacobians.

`Simulation.jacobian` is the reference, itself checked against MuJoCo's mj_jac.
"""

import mujoco
import numpy as np
import pytest
import sympy
from helpers.derived import SPATIAL, Numbers, random_state

import saltus
from saltus.symbolic import Force, Torque, derive

ORIENTATIONS = ("relative", "absolute", "maximal")
POINT, FORCE = np.array([0.1, -0.2, 0.3]), np.array([2.0, -3.0, 5.0])


def in_joints(e, Q, qpos):
    """Q in joint coordinates: its power for each unit of qvel."""
    return np.array([e.from_joint(qpos, unit)[1] @ Q for unit in np.eye(e.model.nv)])


def at_state(e, qpos, qvel, name="applied", **options):
    return in_joints(e, Numbers(e)(*e.from_joint(qpos, qvel), name, **options), qpos)


def jacobians(model, qpos, body, point):
    """MuJoCo's Jacobians of a point of a body, given in its frame, and of its turning."""
    m = model.mujoco
    d = mujoco.MjData(m)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    b = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, body)
    place = d.xpos[b] + d.xmat[b].reshape(3, 3) @ point
    of_point, of_turning = np.zeros((2, 3, m.nv))
    mujoco.mj_jac(m, d, of_point, of_turning, place, b)
    return of_point, of_turning, place


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize(
    "model, body", [(SPATIAL, "hand"), (SPATIAL, "arm"), ("arm", "forearm"), ("cart_pole", "pole")]
)
def test_force_at_a_point_is_mujocos_jacobian_times_force(model, body, orientation):
    e = derive(model, orientation, applied=[Force(body, FORCE, POINT)])
    qpos, qvel = random_state(e)
    of_point, _, _ = jacobians(e.model, qpos, body, POINT)
    assert np.allclose(at_state(e, qpos, qvel), of_point.T @ FORCE, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("model, body", [(SPATIAL, "hand"), ("arm", "forearm")])
def test_torque_is_mujocos_jacobian_times_torque(model, body, orientation):
    e = derive(model, orientation, applied=[Torque(body, FORCE)])
    qpos, qvel = random_state(e)
    _, of_turning, _ = jacobians(e.model, qpos, body, POINT)
    assert np.allclose(at_state(e, qpos, qvel), of_turning.T @ FORCE, rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("model, body, against", [(SPATIAL, "hand", "base"), ("double_pendulum", "lower", "upper")])
def test_reactions_act_on_the_other_body_at_the_same_place(model, body, against, orientation):
    pair = [Force(body, FORCE, POINT, against=against), Torque(body, -FORCE, against=against)]
    e = derive(model, orientation, applied=pair)
    qpos, qvel = random_state(e)
    of_point, of_turning, place = jacobians(e.model, qpos, body, POINT)
    at_other, other_turning, origin = jacobians(e.model, qpos, against, np.zeros(3))
    back = at_other.T @ FORCE + other_turning.T @ np.cross(place - origin, FORCE)
    expected = of_point.T @ FORCE - of_turning.T @ FORCE - back + other_turning.T @ FORCE
    assert np.allclose(at_state(e, qpos, qvel), expected, rtol=1e-11, atol=1e-11)


def test_reactions_between_bodies_that_move_as_one_do_nothing():
    """Newton's third law: an internal pair has no power if both bodies turn together."""
    e = derive("double_pendulum", applied=[Force("lower", FORCE, POINT, "upper"), Torque("lower", FORCE, "upper")])
    qpos, qvel = [0.3, 0.4], [1.5, 0.0]
    assert at_state(e, qpos, qvel)[0] == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("model", ["double_pendulum", SPATIAL])
def test_virtual_work(model):
    """Q δq = F δr for every small displacement."""
    body = "lower" if model == "double_pendulum" else "hand"
    e = derive(model, applied=[Force(body, FORCE)])
    at, (q, v) = Numbers(e), e.from_joint(*random_state(e))
    place = e.choice.own.poses[e.mechanism.body(body)].pos
    at._known["place"] = list(place)
    Q = at(q, v, "applied")
    for i, along in enumerate(np.eye(len(v))):
        after, before = (at(at.moved(q, along, dt), along, "place") for dt in (1e-5, -1e-5))
        assert Q[i] == pytest.approx(FORCE @ (after - before) / 2e-5, abs=1e-8)


def test_names_become_inputs_and_expressions_may_hold_parameters():
    letters = {"body_ipos[pendulum][2]": "-l"}
    e = derive("pendulum", parameters=letters, applied=[Force("pendulum", ("2*F_x + l", 0, "1/3"), (0, 0, -2))])
    F, l, q = sympy.Symbol("F_x"), sympy.Symbol("l"), e.q[0]
    expected = 2 * sympy.cos(q) * (2 * F + l) + 2 * sympy.sin(q) / 3
    assert sympy.simplify(e.applied[0] - expected) == 0
    assert e.inputs[F] == "force on pendulum (N)" and l not in e.inputs


def test_generalised_force_of_equations():
    e = derive("pendulum")
    F = sympy.Symbol("F")
    assert e.generalised_force("pendulum", (F, 0, 0), (0, 0, -2))[0] == 2 * F * sympy.cos(e.q[0])


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_motors_dampers_and_springs_have_the_same_power_in_all_coordinates(orientation):
    """Q_α = S⁻ᵀ Q_θ: forces on joints, mapped, are the joints' own again."""
    e = derive("arm", orientation)
    qpos, qvel = np.array([0.4, -0.9]), np.array([1.0, 3.0])
    drive = at_state(e, qpos, qvel, "actuation", inputs={"tau1": 2.0, "tau2": -5.0})
    assert np.allclose(drive, [2.0, -5.0], rtol=1e-13)
    assert np.allclose(at_state(e, qpos, qvel, "passive"), -0.05 * qvel, rtol=1e-13)


def test_errors_name_the_thing():
    with pytest.raises(saltus.OptionError, match=r"unknown body 'bob'.*pendulum"):
        derive("pendulum", applied=[Force("bob", (1, 0, 0))])
    with pytest.raises(saltus.OptionError, match="unknown body 'bob'"):
        derive("pendulum", applied=[Torque("pendulum", (1, 0, 0), against="bob")])
    with pytest.raises(saltus.OptionError, match=r"expected saltus\.symbolic\.Force or Torque, got 5"):
        derive("pendulum", applied=[5])
    with pytest.raises(saltus.OptionError, match=r"expected three numbers or names, got \(1, 0\)"):
        derive("pendulum", applied=[Force("pendulum", (1, 0))])
    with pytest.raises(saltus.OptionError, match=r"'F \+' is neither a number nor an expression"):
        derive("pendulum", applied=[Force("pendulum", ("F +", 0, 0))])
