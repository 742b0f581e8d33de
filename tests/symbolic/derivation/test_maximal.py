"""Maximal coordinates: constraints hold and their multipliers are the forces in the joints.

References: the pendulum's rod force in closed form; Newton's law of the bodies, with accelerations from the engine.
"""

import numpy as np
import pytest
import sympy
from helpers.derived import SPATIAL, Numbers, random_state
from helpers.planar_tree import planar_tree

import saltus
from saltus.symbolic import derive

MODELS = ["pendulum", "double_pendulum", "arm", "cart_pole", "spring", "top", "chain", SPATIAL, planar_tree(5)]
NAMES = [m if len(m) < 20 else f"model{k}" for k, m in enumerate(MODELS)]


@pytest.fixture(scope="module", params=MODELS, ids=NAMES)
def case(request):
    e = derive(request.param, "maximal")
    return e, Numbers(e), *random_state(e)


def test_constraints_hold_at_mapped_states(case):
    e, at, qpos, qvel = case
    q, v = e.from_joint(qpos, qvel)
    phi, J = at(q, v, "constraints", "jacobian")
    assert np.abs(phi).max() < 1e-13 and np.abs(J @ v).max() < 1e-12
    assert len(J) == len(v) - e.model.nv and np.linalg.matrix_rank(J) == len(J)


def test_the_jacobian_is_the_constraints_derivative(case):
    e, at, qpos, qvel = case
    q, _ = e.from_joint(qpos, qvel)
    v = np.random.default_rng(1).normal(size=len(e.choice.own.v))  # any, also one that breaks the joints
    after, before = (at(at.moved(q, v, dt), v, "constraints") for dt in (1e-5, -1e-5))
    assert np.allclose(at(q, v, "jacobian") @ v, (after - before) / 2e-5, atol=1e-7)


def test_gamma_is_what_the_jacobian_leaves(case):
    """d²Φ/dt² = J a - γ: along v + a t, J v changes at the rate J a - γ."""
    e, at, qpos, qvel = case
    q, _ = e.from_joint(qpos, qvel)
    rng = np.random.default_rng(2)
    v, a = rng.normal(size=(2, len(e.choice.own.v)))
    rates = []
    for dt in (1e-5, -1e-5):
        there = at.moved(q, v + dt / 2 * a, dt)
        rates.append(at(there, v, "jacobian") @ (v + dt * a))
    J, gamma = at(q, v, "jacobian", "gamma")
    assert np.allclose((rates[0] - rates[1]) / 2e-5, J @ a - gamma, atol=1e-6)


def test_accelerations_are_the_engines(case):
    """Those of the joints, found from the engine's by moving on for a moment."""
    e, _, qpos, qvel = case
    sim = saltus.Simulation(e.model)
    sim.qpos, sim.qvel = qpos, qvel
    a = e.acceleration(*e.from_joint(qpos, qvel))
    v = []
    for dt in (1e-5, -1e-5):
        there = qpos.copy()
        _integrate(e.model, there, qvel + dt / 2 * sim.data.qacc_smooth, dt)
        v.append(e.from_joint(there, qvel + dt * sim.data.qacc_smooth)[1])
    assert np.allclose((v[0] - v[1]) / 2e-5, a, rtol=1e-6, atol=1e-6 * np.abs(a).max())


def _integrate(model, qpos, qvel, dt):
    import mujoco

    mujoco.mj_integratePos(model.mujoco, qpos, qvel, dt)


def test_equations_in_space_stay_short():
    """Armature couples the quaternions of two bodies: written out, that is a hundred thousand operations."""
    e = derive(SPATIAL, "maximal")
    assert any(joint.armature[0] != 0 for joint in e.mechanism.joints)
    assert e.count_ops().total < 5_000


# ------------------------------------------------------------ multipliers


def test_the_pendulums_rod_force():
    """m l ω² + m g cos θ along the rod; across it the force that the motor's torque takes, none here."""
    e = derive("pendulum", "maximal")
    theta, w, m, l, g = 0.7, 1.3, 2.0, 2.0, 9.81
    force = e.multipliers(*e.from_joint([theta], [w]))
    # constraints: anchor minus its place, x and z; their forces on the bob's body are λ in these directions
    assert [*e.constraints] == ["theta: x of the anchor", "theta: z of the anchor"]
    along = np.array([-np.sin(theta), np.cos(theta)])  # from the bob to the pivot
    assert force == pytest.approx((m * l * w**2 + m * g * np.cos(theta)) * along, rel=1e-12)


def test_multipliers_are_what_newtons_law_leaves():
    """m (r'' - g) of each body is the sum of its joints' forces: λ of its own, less λ of its child's."""
    e = derive(saltus.n_link(3), "maximal")
    q, v = e.from_joint([0.3, -0.6, 0.8], [1.0, -2.0, 0.5])
    inputs = {"tau1": 1.0, "tau2": 2.0, "tau3": -3.0}
    a = e.acceleration(q, v, inputs).reshape(3, 3)
    force = e.multipliers(q, v, inputs).reshape(3, 2)
    net = 1.0 * (a[:, :2] + [0, 9.81])
    assert np.allclose(force - [*force[1:], [0, 0]], net, rtol=1e-11, atol=1e-11)


def test_multipliers_are_mujocos_joint_reactions():
    """MuJoCo's cfrc_int, the force between a body and its parent, as the reference in space."""
    import mujoco

    e = derive("chain", "maximal")
    m = e.model.mujoco
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = random_state(e)
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    force = e.multipliers(*e.from_joint(d.qpos, d.qvel))
    rows = [k for k, name in enumerate(e.constraints) if name.endswith("of the anchor")]
    moving = [b for b in range(1, m.nbody) if m.body_jntnum[b]]
    expected = d.cfrc_int[moving, 3:]
    assert np.allclose(force[rows].reshape(-1, 3), expected, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------ which coordinates there are


def test_bodies_in_a_plane_have_three_coordinates():
    e = derive("double_pendulum", "maximal")
    assert [str(q) for q in e.q] == ["x_upper", "z_upper", "theta_upper", "x_lower", "z_lower", "theta_lower"]
    assert e.meanings[e.q[2]] == "angle of body upper (rad)"
    assert e.M == sympy.diag(2, 2, 0, 2, 2, 0)  # points have no inertia
    assert e.bias == sympy.Matrix([0, 2 * sympy.Rational(981, 100), 0] * 2)


def test_bodies_in_space_have_seven_coordinates_and_six_velocities():
    e = derive("top", "maximal")
    assert len(e.q) == 7 and len(e.v) == 6 and len(e.constraints) == 3
    assert str(e.q[3]) == "qw_top" and str(e.v[5]) == "wz_top"


@pytest.mark.parametrize(
    "joints, free, constraints",
    [
        ('<joint axis="0 1 0"/>', 3, 2),
        ('<joint axis="0 1 1"/>', 6, 5),  # its axis is no axis of the world
        ('<joint type="slide" axis="1 0 0"/>', 3, 2),
        ('<joint type="ball"/>', 6, 3),
        ("<freejoint/>", 6, 0),
        ('<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>', 3, 0),
    ],
)
def test_what_each_joint_takes_away(joints, free, constraints):
    e = derive(
        f"<mujoco><worldbody><body>{joints}<geom size='0.1' pos='0.1 0 0'/></body></worldbody></mujoco>", "maximal"
    )
    assert (len(e.v), len(e.constraints)) == (free, constraints)


def test_several_joints_of_a_body_are_refused():
    xml = """<mujoco><worldbody><body name="wrist"><joint axis="1 0 0"/><joint axis="0 1 0"/>
    <geom size="0.1" pos="0 0 0.3"/></body></worldbody></mujoco>"""
    derive(xml, "absolute")
    with pytest.raises(
        saltus.ModelError, match="body 'wrist': maximal coordinates take one joint for each body"
    ) as info:
        derive(xml, "maximal")
    assert (info.value.element, info.value.name) == ("body", "wrist")
