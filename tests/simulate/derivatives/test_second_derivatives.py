"""Second derivatives of accelerations and of inverse dynamics.

References: closed forms by SymPy of a pendulum, a cart with a pole and a double pendulum; Euler's equations of a free
body; central differences of the first derivatives (h = 1e-4: its square and rounding of 1e-13 over h leave 1e-8 and
1e-9 of the largest number; 1e-7 holds with room) and of MuJoCo's accelerations; the power of inertial forces, which is
the change of the kinetic energy.
"""

import mujoco
import numpy as np
import pytest
import sympy

import saltus
from saltus.simulate.derivatives.second_derivatives import SecondDerivatives

CART_POLE = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
  <inertial pos="0 0 0" mass="1.5" diaginertia=".1 .1 .1"/>
  <body><joint name="t" axis="0 1 0"/><inertial pos="0 0 .6" mass=".4" diaginertia=".02 .02 .01"/></body></body>
  </worldbody><actuator><motor joint="x" gear="3"/></actuator></mujoco>"""
DOUBLE = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body><joint name="a" axis="0 1 0"/>
  <inertial pos="0 0 -.3" mass="1.2" diaginertia=".03 .03 .01"/>
  <body pos="0 0 -.7"><joint name="b" axis="0 1 0"/><inertial pos="0 0 -.2" mass=".5" diaginertia=".01 .01 .01"/></body>
  </body></worldbody></mujoco>"""
TOY = """<mujoco><option gravity="0 0 -9.81"/><worldbody><site name="hook" pos="0 .3 2"/>
  <body name="trunk" pos="0 0 1"><freejoint/><inertial pos=".02 .01 0" mass="2" diaginertia=".03 .05 .06"/>
    <site name="top" pos="0 0 .2"/>
    <body pos="0 .1 .2"><joint name="ball" type="ball" damping=".1" stiffness=".4"/>
      <inertial pos="0 .1 .1" mass=".7" diaginertia=".01 .02 .015"/>
      <body pos="0 .2 .1"><joint name="hinge" axis="1 .2 0" damping=".2" stiffness="2" armature=".01"/>
        <inertial pos="0 .1 0" mass=".4" diaginertia=".004 .005 .006"/></body></body></body></worldbody>
  <tendon><spatial name="cord" stiffness="20" damping=".5" springlength=".1"><site site="hook"/><site site="top"/>
    </spatial></tendon>
  <actuator><position joint="hinge" kp="5" kv=".3"/><motor tendon="cord"/><muscle joint="hinge" lengthrange="-2 2"/>
  </actuator></mujoco>"""
BOUND = 1e-7
H = 1e-4


def toy():
    """A free body, a ball, a hinge, a spatial tendon, a servo and a muscle, in motion."""
    sim, rng = saltus.Simulation(TOY, "euler"), np.random.default_rng(3)
    mujoco.mj_integratePos(sim.model.mujoco, sim.qpos, 0.4 * rng.normal(size=sim.model.nv), 1.0)
    sim.qvel[:], sim.ctrl[:], sim.act[:] = rng.normal(size=sim.model.nv), [0.3, 0.2, 0.4], 0.3
    return sim


def of_equations(M, c, force, q, v, tau, numbers):
    """First and second derivatives of M⁻¹ (force - c) by SymPy, along q, v, tau."""
    a = M.LUsolve(force + sympy.Matrix(tau) - c)
    x = [*q, *v, *tau]
    values = [sympy.lambdify(x, expression) for expression in (a.jacobian(x), *(sympy.hessian(e, x) for e in a))]
    found = [np.array(f(*numbers), float) for f in values]
    return found[0], np.array(found[1:])


def test_a_cart_with_a_pole_in_closed_form():
    x, t, dx, dt, f, g = sympy.symbols("x t dx dt f g", real=True)
    m, M, length, inertia = 0.4, 1.5, 0.6, 0.02
    matrix = sympy.Matrix([[M + m, m * length * sympy.cos(t)], [m * length * sympy.cos(t), m * length**2 + inertia]])
    bias = sympy.Matrix([-m * length * sympy.sin(t) * dt**2, -m * 9.81 * length * sympy.sin(t)])
    at = [0.3, 0.8, -0.5, 1.7, 0.0, 0.0]
    sim = saltus.Simulation(CART_POLE)
    sim.qpos, sim.qvel, sim.ctrl = at[:2], at[2:4], 0.2
    push = sympy.Matrix([3 * 0.2, 0])
    first, second = of_equations(matrix, bias, push, (x, t), (dx, dt), (f, g), at)
    found = sim.second_derivatives()
    names = ("qpos", "qvel", "qfrc")
    np.testing.assert_allclose(np.hstack([found.by(a) for a in names]), first, rtol=1e-12, atol=1e-11)
    blocks = np.concatenate([np.concatenate([found.by(a, b) for b in names], axis=2) for a in names], axis=1)
    np.testing.assert_allclose(blocks, second, rtol=1e-12, atol=1e-11)
    # the motor pushes with three times its control
    np.testing.assert_allclose(found.by("qpos", "ctrl")[:, :, 0], 3 * found.by("qpos", "qfrc")[:, :, 0], atol=1e-12)


def test_a_double_pendulum_in_closed_form():
    a, b, da, db, f, g = sympy.symbols("a b da db f g", real=True)
    l1, c1, c2, m1, m2, i1, i2, grav = 0.7, 0.3, 0.2, 1.2, 0.5, 0.03, 0.01, 9.81
    k = m2 * l1 * c2
    m22, m12 = i2 + m2 * c2**2, i2 + m2 * c2**2 + k * sympy.cos(b)
    matrix = sympy.Matrix([[i1 + m1 * c1**2 + m2 * l1**2 + m22 + 2 * k * sympy.cos(b), m12], [m12, m22]])
    low = m2 * grav * c2 * sympy.sin(a + b)
    bias = sympy.Matrix(
        [
            -k * sympy.sin(b) * (2 * da * db + db**2) + (m1 * c1 + m2 * l1) * grav * sympy.sin(a) + low,
            k * sympy.sin(b) * da**2 + low,
        ]
    )
    at = [0.4, -1.1, 0.9, -2.0, 0.0, 0.0]
    sim = saltus.Simulation(DOUBLE)
    sim.qpos, sim.qvel = at[:2], at[2:4]
    first, second = of_equations(matrix, bias, sympy.zeros(2, 1), (a, b), (da, db), (f, g), at)
    found = sim.second_derivatives()
    np.testing.assert_allclose(found.first, first, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(found.second, second, rtol=1e-11, atol=1e-10)


def test_a_free_body_turns_by_eulers_equations():
    """I1 dw1/dt = (I2 - I3) w2 w3: the second derivatives by velocities are constants, for any orientation."""
    sim = saltus.Simulation(
        """<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="2" diaginertia="1 2 2.5"/></body>
        </worldbody></mujoco>"""
    )
    sim.qpos[3:], sim.qvel[3:] = [0.5, 0.5, 0.1, 0.7], [0.3, -0.4, 0.8]
    wanted, inertia = np.zeros((6, 6, 6)), [1.0, 2.0, 2.5]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        wanted[3 + i, 3 + j, 3 + k] = wanted[3 + i, 3 + k, 3 + j] = (inertia[j] - inertia[k]) / inertia[i]
    found = sim.second_derivatives()
    np.testing.assert_allclose(found.by("qvel", "qvel"), wanted, atol=1e-14)
    np.testing.assert_allclose(found.by("qpos", "qpos"), 0.0, atol=1e-13)


def moved(sim, start, name, k, h):
    """The simulation at a start that is changed by h along a direction."""
    sim.restore(start)
    if name == "qpos":
        change = np.zeros(sim.model.nv)
        change[k] = h
        q = np.array(sim.qpos)
        mujoco.mj_integratePos(sim.model.mujoco, q, change, 1.0)
        sim.qpos[:] = q
    elif name == "qfrc":
        sim.qfrc_applied[k] += h
    else:
        getattr(sim, name)[k] += h
    return sim


def differences(sim, start, found: SecondDerivatives, first):
    """Central differences of first derivatives, the mean of both orders: axes at a displaced state have turned."""
    out = np.zeros_like(found.second)
    for name, place in found.places.items():
        for k in range(place.stop - place.start):
            ends = [first(moved(sim, start, name, k, sign * H)) for sign in (1.0, -1.0)]
            out[:, :, place.start + k] = (ends[0] - ends[1]) / (2 * H)
    sim.restore(start)
    return 0.5 * (out + out.swapaxes(1, 2))


def test_many_kinds_of_forces_by_differences_of_first_derivatives():
    sim = toy()
    start, found = sim.snapshot(), sim.second_derivatives()
    wanted = differences(sim, start, found, lambda sim: sim.second_derivatives().first)
    np.testing.assert_allclose(found.second, wanted, rtol=0, atol=BOUND * np.abs(found.second).max())
    np.testing.assert_allclose(found.second, found.second.swapaxes(1, 2), atol=1e-12 * np.abs(found.second).max())
    np.testing.assert_array_equal(sim.snapshot(), start)


def test_first_derivatives_are_those_of_mujocos_accelerations():
    sim = toy()
    start, found = sim.snapshot(), sim.second_derivatives()
    data = mujoco.MjData(sim.model.mujoco)

    def acceleration(sim):
        for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied"):
            getattr(data, name)[:] = getattr(sim, name)
        mujoco.mj_forward(sim.model.mujoco, data)
        return data.qacc.copy()

    for name, place in found.places.items():
        for k in range(place.stop - place.start):
            ends = [acceleration(moved(sim, start, name, k, sign * H)) for sign in (1.0, -1.0)]
            wanted = (ends[0] - ends[1]) / (2 * H)
            np.testing.assert_allclose(found.by(name)[:, k], wanted, atol=1e-6 * np.abs(found.first).max())


def test_inverse_dynamics_by_differences_of_first_derivatives():
    sim = toy()
    qacc = np.random.default_rng(5).normal(size=sim.model.nv)
    start, found = sim.snapshot(), sim.second_derivatives_inverse(qacc)
    np.testing.assert_allclose(found.by("qacc"), sim.full_M(), atol=1e-12)
    np.testing.assert_allclose(found.by("qacc", "qacc"), 0.0, atol=1e-14)
    for name in ("qpos", "qvel"):
        for k in range(sim.model.nv):
            ends = [moved(sim, start, name, k, sign * H).full_M() for sign in (1.0, -1.0)]
            wanted = (ends[0] - ends[1]) / (2 * H)
            np.testing.assert_allclose(found.by("qacc", name)[:, :, k], wanted, atol=1e-7)


def test_inertial_forces_take_the_power_that_the_kinetic_energy_gains():
    """v' (M a + c) with c quadratic in v: v' ∂²τ/∂v² v / 2 is half of v' (dM/dq v) v, without any weight."""
    sim = saltus.Simulation(DOUBLE.replace("-9.81", "0"))
    sim.qpos, sim.qvel = [0.4, -1.1], [0.9, -2.0]
    found, v = sim.second_derivatives_inverse([0.0, 0.0]), np.array([0.9, -2.0])
    power = 0.5 * np.einsum("i,ijk,j,k", v, found.by("qvel", "qvel"), v, v)
    gained = -0.5 * np.einsum("ijk,i,j,k", found.by("qacc", "qpos"), v, v, v)
    assert power == pytest.approx(-gained, rel=1e-12)


SQUARE = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" damping="0 1 0"/>
  <geom size=".1" pos="0 0 -.5"/></body></worldbody></mujoco>"""
ON_FLOOR = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .09"><freejoint/>
  <geom size=".1"/></body></worldbody></mujoco>"""


def test_what_has_no_second_derivatives_is_named():
    with pytest.raises(saltus.OptionError, match="second_derivatives: 1 constraints act here"):
        saltus.Simulation(ON_FLOOR).second_derivatives()
    with pytest.raises(saltus.OptionError, match="choose contact='soft'"):
        saltus.Simulation(DOUBLE, contact="hard").second_derivatives()
    with pytest.raises(saltus.OptionError, match="does not support prescribed motions"):
        saltus.Simulation(DOUBLE, motions={"a": lambda t: 0.1 * t}).second_derivatives_inverse()
    with pytest.raises(saltus.EventError, match="j has no second derivatives here"):
        saltus.Simulation(SQUARE).second_derivatives()
    with pytest.raises(saltus.OptionError, match="block of directions"):
        saltus.Simulation(DOUBLE).second_derivatives().by("qpos", "quat")
