"""Numbers become letters: which, what they are worth, and what is refused because it does not fit the model."""

import pytest
import sympy
from sympy import Rational, symbols

import saltus
from saltus.symbolic import derive
from saltus.symbolic.parameters import Names, symbol_name


def test_numbers_are_exact():
    e = derive("arm")
    assert e.parameters == {} and not {*e.M.free_symbols} - {*e.q}
    assert e.M[1, 1] == Rational(75, 100) * Rational(2, 10) ** 2 + Rational(1, 100)


def test_all_letters():
    """Every number that is not zero, in the model's names; values are the model's."""
    e = derive("arm", parameters="symbols")
    found = {str(symbol): value for symbol, value in e.parameters.items()}
    assert found["m_forearm"] == 0.75 and found["l_upper_arm"] == 0.5 and found["c_forearm"] == 0.2
    assert found["I_forearmyz"] == 0.01 and found["b_elbow"] == 0.05 and found["g"] == 9.81
    m, c, inertia = symbols("m_forearm c_forearm I_forearmyz")
    assert sympy.expand(e.M[1, 1] - m * c**2 - inertia) == 0


def test_lengths_are_positive_and_components_have_indices():
    """The pendulum's bob is at -c: a length has no sign; where several components are not zero they have axes."""
    assert {str(s): v for s, v in derive("pendulum", parameters="symbols").parameters.items()} == {
        "m_pendulum": 2.0,
        "c_pendulum": 2.0,
        "g": 9.81,
    }
    xml = """<mujoco><option gravity="0 1 -9"/><worldbody><body name="b"><joint/>
    <inertial pos="0.1 -0.2 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    found = {str(s): v for s, v in derive(xml, parameters="symbols").parameters.items()}
    assert found["c_bx"] == 0.1 and found["c_by"] == -0.2 and found["gy"] == 1.0 and found["gz"] == -9.0
    assert found["I_b"] == 1.0


def test_lengths_are_named_after_their_links():
    """l_link1 is where link 2 begins; where the chain hangs is no length; two children of one body have two lengths."""
    found = derive(saltus.n_link(3, l=[0.5, 0.7, 0.9], pivot=(0.2, 0.4)), parameters="symbols").parameters
    found = {str(s): v for s, v in found.items()}
    assert (found["l_link1"], found["l_link2"], found["X0"], found["Z0"]) == (0.5, 0.7, 0.2, 0.4)
    assert "l_link3" not in found
    part = """<body name="{}" pos="{} 0 0"><joint/><inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/></body>"""
    inside = part.format("left", -1) + part.format("right", 2)
    trunk = f"""<body name="trunk"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{inside}</body>"""
    found = derive(f"<mujoco><worldbody>{trunk}</worldbody></mujoco>", parameters="symbols").parameters
    assert {str(s): v for s, v in found.items() if str(s)[0] == "l"} == {"l_trunk_left": 1.0, "l_trunk_right": 2.0}


def test_sites_tell_values_of_letters():
    """The length of the last link is in no equation; a site at its end tells it, and so the fraction d."""
    letters = {"body_ipos[link1][2]": "-d*l", "site_pos[tip][2]": "-l"}
    e = derive(saltus.n_link(1, l=0.8), parameters=letters)
    assert {str(s): v for s, v in e.parameters.items()} == pytest.approx({"d": 0.5, "l": 0.8}, rel=1e-15)


def test_chosen_letters_alone():
    e = derive("pendulum", parameters={"body_mass[pendulum]": "m"})
    m = sympy.Symbol("m")
    assert e.parameters == {m: 2.0} and e.M[0] == 4 * m


def test_a_letter_for_several_numbers():
    letters = {"body_ipos[upper][2]": "-l", "body_pos[lower][2]": "-l", "body_ipos[lower][2]": "-l"}
    e = derive("double_pendulum", "absolute", letters)
    l = sympy.Symbol("l")
    assert e.parameters == {l: 2.0} and e.M[0, 0] == 4 * l**2


def test_expressions_find_the_values_of_their_letters():
    """In any order: the fraction d follows from d l once the length l is known from another number."""
    letters = {"body_ipos[link1][2]": "-d*l", "body_pos[link2][2]": "-l", "body_inertia[link1][1]": "k*m*l**2/12"}
    e = derive(saltus.n_link(2), parameters={**letters, "body_mass[link1]": "m"})
    found = {str(s): v for s, v in e.parameters.items()}
    assert found == pytest.approx({"l": 1.0, "d": 0.5, "m": 1.0, "k": 0.96}, rel=1e-15)


def test_expressions_of_sympy_and_numbers():
    m = sympy.Symbol("m")
    e = derive("pendulum", parameters={"body_mass[pendulum]": 2 * m, "opt.gravity[2]": -9.81})
    assert e.parameters == {m: 1.0} and e.M[0] == 8 * m
    assert e.bias[0] == 2 * 2 * m * Rational(981, 100) * sympy.sin(e.q[0])


@pytest.mark.parametrize(
    "letters, message",
    [
        (
            {"body_ipos[upper][2]": "-l", "body_pos[lower][2]": "l"},
            r"parameters: body_ipos\[upper\]\[2\] = -l would be .*, but it is -2|"
            r"parameters: body_pos\[lower\]\[2\] = l would be 2, but it is -2 in the model",
        ),
        ({"body_mass[upper]": 3}, r"body_mass\[upper\] = 3 would be 3, but it is 2 in the model"),
        (
            {"body_mass[uper]": "m"},
            r"parameters: 'body_mass\[uper\]' is no number in these equations; there are body_mass",
        ),
        ({"geom_size[upper][0]": "r"}, r"'geom_size\[upper\]\[0\]' is no number in these equations"),
        ({"body_mass[upper]": "a*b"}, r"body_mass\[upper\] = a\*b does not tell the values of a, b"),
        ({"body_mass[upper]": "a**2"}, r"body_mass\[upper\] = a\*\*2 does not tell the value of a"),
        ({"body_mass[upper]": "m1 +"}, r"body_mass\[upper\]: 'm1 \+' is neither a number nor an expression"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(letters, message):
    with pytest.raises(saltus.OptionError, match=message):
        derive("double_pendulum", parameters=letters)


def test_unknown_word():
    with pytest.raises(saltus.OptionError, match="unknown parameters 'letters'"):
        derive("pendulum", parameters="letters")


def test_letters_do_not_collide():
    """A body called as a coordinate is, and a letter that a user chose as well."""
    xml = """<mujoco><worldbody><body name="a"><joint name="m"/><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/>
    <body name="b" pos="1 0 0"><joint name="dm"/><inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/></body>
    </body></worldbody></mujoco>"""
    e = derive(xml, parameters={"body_mass[a]": "m", "body_mass[b]": "dm"})
    everything = [*e.q, *e.v, *e.a, *e.parameters]
    assert len({str(s) for s in everything}) == len(everything)
    assert sorted(e.parameters.values()) == [2.0, 3.0]


def test_names():
    names = Names()
    assert [str(names.new("x")) for _ in range(3)] == ["x", "x_2", "x_3"]
    assert symbol_name("left knee-1") == "left_knee_1"
    for odd in ("#3", "3", "λ ", "", "a.b"):
        assert symbol_name(odd).isidentifier()
