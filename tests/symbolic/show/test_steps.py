"""The steps of a derivation: each follows from those before it, as a student would check with pencil and paper."""

import re
import xml.etree.ElementTree as ET

import pytest
import sympy
from sympy import Matrix, Rational, cos, sin, symbols

from saltus.symbolic import Force, derive
from saltus.symbolic.show.letters import LETTERS
from saltus.symbolic.show.steps import found, steps

ORDER = ["coordinates", "frames", "parameters", "positions", "velocities", "angular velocities"]
ORDER += ["kinetic energy", "potential energy", "lagrange", "term 1", "term 2", "term 3", "term 4", "forces"]
ORDER += ["equations of motion", "matrices"]
EVERY = [("pendulum", "relative"), ("double_pendulum", "relative"), ("double_pendulum", "absolute")]
EVERY += [("double_pendulum", "maximal"), ("cart_pole", "relative"), ("arm", "absolute"), ("top", "relative")]
EVERY += [("free_body", "relative"), ("top", "maximal")]


def lecture(orientation):
    return derive("double_pendulum", orientation, LETTERS["double_pendulum"])


def is_zero(expression):
    return sympy.simplify(sympy.expand(sympy.expand_trig(sympy.sympify(expression)))) == 0


def by_name(e):
    return {step.name: step for step in steps(e)}


def test_order():
    assert [step.name for step in steps(derive("cart_pole", parameters="symbols"))] == ORDER
    names = [step.name for step in steps(derive("top"))]
    assert names[names.index("term 4") + 1] == "term 5"
    assert [s.name for s in steps(lecture("maximal"))][-2:] == ["constraints", "multipliers"]
    with pytest.raises(KeyError, match=r"term 1, term 2"):
        found(steps(derive("pendulum")), "term 7")


@pytest.mark.parametrize("orientation", ["relative", "absolute"])
def test_velocities_are_rates_of_positions(orientation):
    """Differentiated by SymPy with functions of time in place of symbols; and the Jacobians times the rates."""
    e = lecture(orientation)
    t = sympy.Symbol("t")
    functions = [sympy.Function(q.name)(t) for q in e.q]
    in_time = dict(zip(e.q, functions, strict=True))
    back = {f.diff(t): v for f, v in zip(functions, e.v, strict=True)} | {f: q for q, f in in_time.items()}
    step = by_name(e)
    rates = step["velocities"].results
    for left, position in step["positions"].results.items():
        letter, body = re.fullmatch(r"([xz])_\{\\mathrm\{(\w+)\}\}", left).groups()
        rate = rates[rf"\dot{{{letter}}}_{{\mathrm{{{body}}}}}"]
        assert is_zero(position.subs(in_time).diff(t).subs(back) - rate)
        row = rates[rf"J_{{\mathrm{{{body}}}}}"].row("xz".index(letter))
        assert is_zero((row * Matrix(e.v))[0] - rate)


@pytest.mark.parametrize(("model", "orientation"), EVERY)
def test_bodies_energies_add_up(model, orientation):
    step = by_name(derive(model, orientation, "symbols"))
    for name, letter in (("kinetic energy", "T"), ("potential energy", "V")):
        results = dict(step[name].results)
        total = results.pop(letter)
        if results:
            assert is_zero(sum(x for left, x in results.items() if left != "V_s") - total)


@pytest.mark.parametrize(("model", "orientation"), EVERY)
def test_terms_add_up_to_the_equations(model, orientation):
    """d/dt ∂T/∂q̇ - 0 - ∂T/∂q + ∂V/∂q (+ ω × ∂T/∂ω) is the left side, and M a + h is it too."""
    e = derive(model, orientation)
    step, n = by_name(e), len(e.v)
    momenta = list(step["term 1"].results.values())
    rate, kinetic, potential = momenta[n:], *(list(step[f"term {k}"].results.values()) for k in (3, 4))
    assert momenta[:n] == [p for p in momenta[:n] if not p.free_symbols & set(e.a)]
    (zero,) = step["term 2"].results.values()
    left = [r - zero - t + v for r, t, v in zip(rate, kinetic, potential, strict=True)]
    if "term 5" in step:
        turning = list(step["term 5"].results.values())
        left[-len(turning) :] = [a + b for a, b in zip(left[-len(turning) :], turning, strict=True)]
    equations = list(step["equations of motion"].results.values())
    for found_, equation in zip(left, equations, strict=True):
        assert is_zero(found_ - equation.lhs)
    if n > 1:
        M, h = (step["matrices"].results[name] for name in ("M", "h"))
        for i in range(n):
            assert is_zero((M * Matrix(e.a) + h)[i] - equations[i].lhs)


def test_torques_of_the_lecture():
    """The power of the motors, and from it τ1 - τ2 and τ2 in absolute angles."""
    tau1, tau2 = symbols("tau1 tau2")
    absolute, relative = lecture("absolute"), lecture("relative")
    forces = by_name(absolute)["forces"].results
    w1, w2 = absolute.v
    assert forces[r"\dot{\theta}_{2}"] == w2 - w1
    assert sympy.expand(forces["P"] - tau1 * w1 - tau2 * (w2 - w1)) == 0
    assert forces[r"Q_{\text{motors}}"] == Matrix([tau1 - tau2, tau2])
    assert by_name(relative)["forces"].results[r"Q_{\text{motors}}"] == Matrix([tau1, tau2])


def test_angles_of_the_other_kind_are_explained():
    absolute, relative = lecture("absolute"), lecture("relative")
    (theta1, theta2), (alpha1, alpha2) = relative.q, absolute.q
    assert by_name(relative)["coordinates"].results == {r"\alpha_{2}": theta1 + theta2}
    assert by_name(absolute)["coordinates"].results == {r"\theta_{2}": alpha2 - alpha1}


def test_parameters_are_explained_with_unit_and_value():
    step = by_name(lecture("relative"))["parameters"]
    rows = {row[0]: row[1:] for row in step.table[1]}
    assert rows["$m_{1}$"] == ("mass of upper", "kg", "2")
    assert rows["$l_{1}$"][0] == "centre of mass of upper in its frame; place of lower in the frame of upper"
    assert rows["$g$"] == ("acceleration of gravity", "m/s²", "9.81")
    assert rows[r"$\tau_{2}$"][1:] == ("N m", "input")


def test_inertia_made_of_letters():
    """A uniform rod's m l²/3 about its centre, l half its length; with it 4/3 m l² in the equation of the pole."""
    e = derive("cart_pole", "relative", LETTERS["cart_pole"])
    m, l = symbols("m l")
    step = by_name(e)
    assert step["parameters"].results == {r"I_{\mathrm{pole},xy}": m * l**2 / 3}
    assert step["matrices"].results["M"][1, 1] == Rational(4, 3) * m * l**2


def test_springs_dampers_and_forces_from_outside():
    xml = """<mujoco><worldbody><body name="bob"><joint name="theta" axis="0 -1 0" stiffness="3" damping="0.5"/>
    <inertial pos="0 0 -2" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
    e = derive(xml, parameters="symbols", applied=[Force("bob", ("F_x", 0, 0), point=(0, 0, -2))])
    step = by_name(e)
    k, b, push = symbols("k_theta b_theta F_x")
    (theta,), (w,) = e.q, e.v
    assert step["potential energy"].results["V_s"] == k * theta**2 / 2
    assert step["forces"].results[r"Q_{\text{passive}}"] == Matrix([-k * theta - b * w])
    assert step["forces"].results[r"Q_{\text{outside}}"] == Matrix([2 * cos(theta) * push])


def test_constraints_of_maximal_coordinates():
    """Φ of a double pendulum: bobs hang at the ends of their rods; J and γ are its derivatives."""
    e = lecture("maximal")
    step = by_name(e)
    x1, z1, t1, x2, z2, t2 = e.q
    l1, l2 = symbols("l1 l2")
    # the second anchor is the first bob
    expected = [x1 - l1 * sin(t1), z1 + l1 * cos(t1), x2 - x1 - l2 * sin(t2), z2 - z1 + l2 * cos(t2)]
    phi = list(step["constraints"].results.values())
    assert all(is_zero(a - b) for a, b in zip(phi, expected, strict=True))
    jacobian = Matrix(expected).jacobian(e.q)
    assert (step["multipliers"].results["J"] - jacobian).applyfunc(sympy.simplify).is_zero_matrix
    gamma = -(jacobian * Matrix(e.v)).jacobian(e.q) * Matrix(e.v)
    assert (step["multipliers"].results[r"\gamma"] - gamma).applyfunc(sympy.simplify).is_zero_matrix
    third = list(step["equations of motion"].results.values())[3]
    assert third.rhs == symbols("lambda3") and third.lhs == symbols("m2") * e.a[3]


def test_display_in_notebooks():
    """HTML that an XML parser reads, with MathML, and LaTeX that MathJax takes."""
    e = derive("double_pendulum", "absolute")
    for shown in (e._repr_html_(), *(step._repr_html_() for step in e.steps)):
        ET.fromstring(f"<div>{shown}</div>")
    assert "<math" in e._repr_html_()
    long = derive("chain")
    assert long._repr_latex_() is None and " operations" in long._repr_html_()
    assert e._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    assert found(e.steps, "term 4")._repr_latex_().count(r"\partial V") == 2
    assert found(e.steps, "frames")._repr_latex_() is None


def test_results_are_what_the_equations_are_made_of():
    e = lecture("absolute")
    step = by_name(e)
    assert is_zero(step["kinetic energy"].results["T"] - e.kinetic)
    assert is_zero(step["matrices"].results["M"][0, 1] - e.M[0, 1])
