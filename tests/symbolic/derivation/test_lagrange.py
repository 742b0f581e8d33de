"""Lagrange's method: its results are the textbooks' equations, proved symbolically, and each step means what it says.

Sources of the equations: those that the bundled models' files name, and Euler's equations of a turning body.
"""

import numpy as np
import pytest
import symengine
import sympy
from helpers.derived import SPATIAL, Numbers, random_state
from sympy import Matrix, Rational, cos, sin, symbols

import saltus
from saltus.symbolic import Torque, derive
from saltus.symbolic.export.graph import different_parts
from saltus.symbolic.show.letters import LETTERS

LECTURE = LETTERS["double_pendulum"]


def equation(e):
    """M a + bias - forces, which the equations say is zero."""
    return e.M * Matrix(e.a) + e.bias - e.forces


def assert_same(found, expected):
    """Proof that two vectors of expressions are the same."""
    difference = Matrix(found) - Matrix(expected)
    assert difference.applyfunc(lambda x: sympy.simplify(sympy.expand(sympy.expand_trig(x)))).is_zero_matrix, difference


# ------------------------------------------------------------ equations of books


def test_pendulum():
    m, l, g, tau = symbols("m l g tau")
    e = derive("pendulum", parameters={"body_mass[pendulum]": m, "body_ipos[pendulum][2]": -l, "opt.gravity[2]": -g})
    (q,), (a,) = e.q, e.a
    assert_same(equation(e), [m * l**2 * a + m * g * l * sin(q) - tau])


def test_double_pendulum_in_absolute_angles_is_the_lectures():
    """With motor torques τ1 - τ2 and τ2 on the right: the second motor turns the lower rod against the upper one."""
    m1, m2, l1, l2, g, tau1, tau2 = symbols("m1 m2 l1 l2 g tau1 tau2")
    e = derive("double_pendulum", "absolute", LECTURE)
    (q1, q2), (v1, v2), (a1, a2) = e.q, e.v, e.a
    d = q1 - q2
    upper = (m1 + m2) * l1**2 * a1 + m2 * l1 * l2 * (a2 * cos(d) + v2**2 * sin(d)) + (m1 + m2) * g * l1 * sin(q1)
    lower = m2 * l2**2 * a2 + m2 * l1 * l2 * (a1 * cos(d) - v1**2 * sin(d)) + m2 * g * l2 * sin(q2)
    assert_same(equation(e), [upper - (tau1 - tau2), lower - tau2])
    assert e.parameters == {m1: 2.0, m2: 2.0, l1: 2.0, l2: 2.0, g: 9.81}
    assert {str(symbol) for symbol in e.inputs} == {"tau1", "tau2"}


def test_double_pendulum_in_relative_angles():
    """What the substitution α1 = θ1, α2 = θ1 + θ2 makes of the lecture's equations, first the sum, then the second."""
    m1, m2, l1, l2, g, tau1, tau2 = symbols("m1 m2 l1 l2 g tau1 tau2")
    e = derive("double_pendulum", "relative", LECTURE)
    (q1, q2), (v1, v2), (a1, a2) = e.q, e.v, e.a
    c, s = m2 * l1 * l2 * cos(q2), m2 * l1 * l2 * sin(q2)
    I1, I2 = (m1 + m2) * l1**2, m2 * l2**2
    weight = m2 * g * l2 * sin(q1 + q2)
    first = (I1 + I2 + 2 * c) * a1 + (I2 + c) * a2 - s * v2 * (2 * v1 + v2) + (m1 + m2) * g * l1 * sin(q1) + weight
    second = (I2 + c) * a1 + I2 * a2 + s * v1**2 + weight
    assert_same(equation(e), [first - tau1, second - tau2])


def test_cart_and_pole():
    """Florian's (2007) correction of Barto, Sutton and Anderson's equations, the pole a uniform rod."""
    M, m, l, g, F = symbols("M m l g F")
    letters = {"body_mass[cart]": M, "body_mass[pole]": m, "body_ipos[pole][2]": l, "opt.gravity[2]": -g}
    e = derive("cart_pole", parameters={**letters, "body_inertia[pole][1]": m * l**2 / 3})
    (_, q), (_, v), (a, b) = e.q, e.v, e.a
    first = (M + m) * a + m * l * (b * cos(q) - v**2 * sin(q)) - F
    second = m * l * cos(q) * a + Rational(4, 3) * m * l**2 * b - m * g * l * sin(q)
    assert_same(equation(e), [first, second])


def test_arm():
    """Spong, Hutchinson and Vidyasagar 2006, chapter 7: M, C and g of the planar elbow manipulator."""
    m1, m2, l1, c1, c2, I1, I2, g, B = symbols("m1 m2 l1 c1 c2 I1 I2 g B")
    letters = {
        "body_mass[upper_arm]": m1,
        "body_mass[forearm]": m2,
        "body_pos[forearm][0]": l1,
        "body_ipos[upper_arm][0]": c1,
        "body_ipos[forearm][0]": c2,
        "body_inertia[upper_arm][1]": I1,
        "body_inertia[forearm][1]": I2,
        "dof_damping[shoulder]": B,
        "dof_damping[elbow]": B,
        "opt.gravity[2]": -g,
    }
    e = derive("arm", parameters=letters)
    (q1, q2), (v1, v2) = e.q, e.v
    M12 = m2 * (c2**2 + l1 * c2 * cos(q2)) + I2
    M11 = m1 * c1**2 + I1 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos(q2)) + I2
    h = -m2 * l1 * c2 * sin(q2)
    g2 = m2 * c2 * g * cos(q1 + q2)
    assert_same(e.M.reshape(4, 1), [M11, M12, M12, m2 * c2**2 + I2])
    assert_same(e.bias, [h * (2 * v1 * v2 + v2**2) + (m1 * c1 + m2 * l1) * g * cos(q1) + g2, -h * v1**2 + g2])
    assert_same(e.passive, [-B * v1, -B * v2])
    assert_same(e.actuation, symbols("tau1 tau2"))


def test_top():
    """Euler's equations about the pivot, I1 ω1' + (I3 - I1) ω2 ω3 = N1, ..., with the moment of weight m g l."""
    m, l, A, C, g = symbols("m l A C g")
    letters = {"body_mass[top]": m, "body_ipos[top][2]": l, "opt.gravity[2]": -g}
    e = derive(
        "top", parameters={**letters, "body_inertia[top][0]": A, "body_inertia[top][1]": A, "body_inertia[top][2]": C}
    )
    w, x, y, z = e.q
    w1, w2, w3 = e.v
    I1 = A + m * l**2
    up = Matrix([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)])  # the vertical in body axes
    moment = Matrix([0, 0, l]).cross(-m * g * up)
    assert_same(e.M.reshape(9, 1), Matrix(sympy.diag(I1, I1, C)).reshape(9, 1))
    assert_same(e.bias + moment, [(C - I1) * w2 * w3, -(C - I1) * w1 * w3, 0])
    assert {*e.terms} == {"d/dt ∂T/∂q̇", "d/dt ∂V/∂q̇", "∂T/∂q", "∂V/∂q", "ω × ∂T/∂ω"}


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_tutorials_pendulum(n):
    """Terms 1, 3 and 4 from T = Σ ½ m ṙ² + ½ In α̇² and V = Σ m g y, with centres of mass at d of the lengths l."""
    g, l, d = symbols("g l d")
    m, In = symbols(f"m1:{n + 1}"), symbols(f"In1:{n + 1}")
    letters = {"opt.gravity[2]": -g}
    for i in range(n):
        letters |= {f"body_mass[link{i + 1}]": m[i], f"body_inertia[link{i + 1}][1]": In[i]}
        letters |= {f"body_ipos[link{i + 1}][2]": -d * l if n > 1 else -d}
        letters |= {f"body_pos[link{i + 1}][2]": -l} if i else {}
    e = derive(saltus.n_link(n), "absolute", letters)
    q, v, a = Matrix(e.q), Matrix(e.v), Matrix(e.a)
    T, V, x, y, l = 0, 0, 0, n, l if n > 1 else 1
    for i in range(n):
        centre = Matrix([x + d * l * sin(q[i]), y - d * l * cos(q[i])])
        velocity = centre.jacobian(q) * v
        T += m[i] * velocity.dot(velocity) / 2 + In[i] * v[i] ** 2 / 2
        V += m[i] * g * centre[1]
        x, y = x + l * sin(q[i]), y - l * cos(q[i])
    momenta = Matrix([T]).jacobian(v)
    first = momenta.jacobian(q) * v + momenta.jacobian(v) * a
    assert_same([e.kinetic, e.potential], [T, V])
    assert_same(e.terms["d/dt ∂T/∂q̇"], first)
    assert_same(e.terms["∂T/∂q"], Matrix([T]).jacobian(q).T)
    assert_same(e.terms["∂V/∂q"], Matrix([V]).jacobian(q).T)
    assert_same(equation(e) + e.forces, first - Matrix([T - V]).jacobian(q).T)


# ------------------------------------------------------------ what each step means

CASES = [("double_pendulum", "relative"), ("arm", "absolute"), ("cart_pole", "maximal"), ("top", "relative")]
CASES += [(SPATIAL, "relative"), (SPATIAL, "maximal")]


@pytest.fixture(scope="module", params=CASES, ids=[f"{'spatial' if m is SPATIAL else m}-{o}" for m, o in CASES])
def case(request):
    """Equations, their numbers, and a state (q, v)."""
    e = derive(*request.param)
    return e, Numbers(e), *e.from_joint(*random_state(e))


def test_velocities_are_the_rates_of_positions(case):
    _, at, q, v = case
    after, before = (at(at.moved(q, v, dt), v, "positions") for dt in (1e-5, -1e-5))
    assert np.allclose(at(q, v, "velocities"), (after - before) / 2e-5, atol=1e-8)


def test_kinetic_energy_is_the_quadratic_form_of_M(case):
    _, at, q, v = case
    T, M = at(q, v, "kinetic", "M")
    assert T[0] == pytest.approx(v @ M @ v / 2, rel=1e-13)
    assert np.allclose(M, M.T, atol=1e-15)


def test_energies_are_the_engines(case):
    e, at, *_ = case
    sim = saltus.Simulation(e.model)
    ours, engines = [], []
    for seed in (0, 1):
        sim.qpos, sim.qvel = random_state(e, seed)
        T, V, spring = at(*e.from_joint(sim.qpos, sim.qvel), "kinetic", "potential", "spring")
        ours.append((V[0] + spring[0], T[0]))
        engines.append(sim.energy())
    ours, engines = np.array(ours), np.array(engines)
    assert ours[:, 1] == pytest.approx(engines[:, 1], rel=1e-12)
    assert np.ptp(ours[:, 0]) == pytest.approx(np.ptp(engines[:, 0]), rel=1e-11)  # they are up to a constant


def test_the_second_term_is_zero(case):
    assert all(x == 0 for x in case[0].derivation.terms["d/dt ∂V/∂q̇"])


def test_forces_of_weight_and_springs_are_the_gradient_of_the_potential(case):
    _, at, q, v = case
    weight, passive = at(q, 0 * v, "∂V/∂q", "passive")  # at rest dampers do nothing
    for i, along in enumerate(np.eye(len(v))):
        V = [sum(at(at.moved(q, along, dt), along, "potential", "spring"))[0] for dt in (1e-4, -1e-4)]
        assert (V[0] - V[1]) / 2e-4 == pytest.approx((weight - passive)[i], rel=1e-6, abs=1e-6)


def test_the_forces_of_motion_are_what_a_changing_inertia_takes(case):
    """vᵀ (dM/dt v - 2 C v) = 0 with C v = bias - weight: dM/dt - 2 C is skew-symmetric."""
    _, at, q, v = case
    after, before = (at(at.moved(q, v, dt), v, "M") for dt in (1e-5, -1e-5))
    bias, weight = at(q, v, "bias", "∂V/∂q")
    assert v @ (after - before) @ v / 2e-5 == pytest.approx(2 * v @ (bias - weight), rel=1e-7, abs=1e-7)


def test_the_kinetic_energy_gains_the_power_of_all_forces(case):
    e, at, q, v = case
    a = e.acceleration(q, v)
    after, before = (at(at.moved(q, v + dt / 2 * a, dt), v + dt * a, "kinetic")[0] for dt in (1e-5, -1e-5))
    passive, weight = at(q, v, "passive", "∂V/∂q")
    assert (after - before) / 2e-5 == pytest.approx(v @ (passive - weight), rel=1e-7, abs=1e-7)


def test_the_terms_add_up_to_the_equations(case):
    e, at, q, v = case
    a = np.random.default_rng(3).normal(size=len(v))
    first, second, third, fourth, *turning = at(q, v, *e.derivation.terms, a=a)
    M, bias = at(q, v, "M", "bias")
    assert np.allclose(first - second - third + fourth + sum(turning), M @ a + bias, rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------ numbers stay exact


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["double_pendulum", "arm", "cart_pole", "top", "chain", SPATIAL], ids=lambda m: m[:15]
)
@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
def test_no_floating_point_number_is_in_any_result(model, orientation):
    for parameters in ("numbers", "symbols"):
        e = derive(model, orientation, parameters)
        d, c = e.derivation, e.choice.own
        results = [d.kinetic, d.potential, d.spring, *c.qdot, *d.bias, *d.gamma, *c.constraints.values()]
        for rows in (d.M, d.jacobian, d.positions, d.velocities, d.spins, d.terms.values(), d.forces.values()):
            results += [x for row in rows for x in row]
        parts = different_parts(map(symengine.sympify, results))
        assert not [x for x in parts if isinstance(x, symengine.RealDouble)]


@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
def test_no_floating_point_number_is_in_what_a_user_sees(orientation):
    e = derive("arm", orientation)
    matrices = [e.M, e.bias, e.passive, e.actuation, e.qdot, e.jacobian, e.gamma, *e.terms.values()]
    for x in [*(x for m in matrices for x in m), e.kinetic, e.potential, *e.constraints.values()]:
        assert not x.atoms(sympy.Float)


def test_numbers_are_the_fractions_that_were_meant():
    e = derive("cart_pole")
    assert e.M[1, 1] == Rational(4, 3) * Rational(1, 10) * Rational(1, 4)
    assert e.bias[1] == -Rational(981, 100) * Rational(1, 20) * sin(e.q[1])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["arm", "cart_pole", "top", SPATIAL])
def test_symbols_with_their_values_are_the_numbers(model):
    numbers, letters = derive(model), derive(model, parameters="symbols")
    state = numbers.from_joint(*random_state(numbers))
    names = ("M", "bias", "passive", "kinetic", "potential")
    for x, y in zip(Numbers(numbers)(*state, *names), Numbers(letters)(*state, *names), strict=True):
        assert np.allclose(x, y, rtol=1e-12, atol=1e-12)
    assert letters.parameters and not numbers.parameters


# ------------------------------------------------------------ what it costs


@pytest.mark.parametrize("model", [saltus.n_link(6), "chain"])
def test_the_time_of_each_stage_is_told(model):
    """Also in space: six links that turn about x and y by turns."""
    for orientation in ("relative", "absolute", "maximal"):
        e = derive(model, orientation)
        assert {"coordinates", "positions", "velocities", "energies", "terms", "forces", "equations"} <= {*e.timings}


def test_absolute_angles_have_no_products_of_different_rates():
    """The terms with α_i' α_j' cancel, those with α_j'² stay: half of the operations of relative angles at 10 links."""
    e = derive(saltus.n_link(5), "absolute")
    for x in e.bias:
        for v in e.v:
            for w in e.v:
                assert v == w or sympy.diff(x, v, w) == 0
    counts = {o: derive(saltus.n_link(10), o).count_ops().total for o in ("relative", "absolute")}
    assert counts["absolute"] < 0.5 * counts["relative"]


# ------------------------------------------------------------ applied forces, in every coordinates


def test_torques_between_bodies_in_absolute_angles():
    """(-τ, τ) on (α1, α2), (0, τ) on (θ1, θ2): Q_α = S⁻ᵀ Q_θ."""
    tau = symbols("tau")
    model = saltus.n_link(2)
    torque = Torque("link2", (0, "-tau", 0), against="link1")  # positive angles turn about -y
    for orientation, expected in (("relative", [0, tau]), ("absolute", [-tau, tau])):
        assert_same(derive(model, orientation, applied=[torque]).applied, expected)
    by_motor = derive(model, "absolute").actuation.subs({"tau1": 0, "tau2": tau})
    assert_same(by_motor, [-tau, tau])


def test_what_the_tutorials_torque_does_in_absolute_angles():
    """With [0, τ] instead of [-τ, τ] links at α = (0.3, 1) rad turn otherwise than in relative angles."""
    model = saltus.n_link(2)
    angles, rates = np.array([0.3, 1.0]), np.array([0.2, 0.2])
    qpos, qvel = np.array([0.3, 0.7]), np.array([0.2, 0.0])
    right = derive(model, "absolute").acceleration(angles, rates, {"tau2": 5})
    wrong = derive(model, "absolute", applied=[Torque("link2", (0, -5, 0))]).acceleration(angles, rates)
    relative = derive(model, "relative").acceleration(qpos, qvel, {"tau2": 5})
    assert right == pytest.approx(np.cumsum(relative), rel=1e-12)
    # by hand, with m = l = 1, d = 1/2, In = 0.08, g = 9.81
    c, s = np.cos(-0.7) / 2, np.sin(-0.7) / 2
    M = np.array([[0.25 + 0.08 + 1, c], [c, 0.25 + 0.08]])
    bias = np.array([9.81 * 1.5 * np.sin(0.3) + s * 0.04, 9.81 * 0.5 * np.sin(1.0) - s * 0.04])
    assert right == pytest.approx(np.linalg.solve(M, [-5, 5] - bias), rel=1e-12)
    assert wrong == pytest.approx(np.linalg.solve(M, [0, 5] - bias), rel=1e-12)
    assert right == pytest.approx([-11.65, 16.11], abs=0.005)
    assert wrong == pytest.approx([-6.01, 9.57], abs=0.005)
