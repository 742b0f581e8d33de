"""Names of symbols as LaTeX: readable, safe, and no two alike."""

import pytest

from saltus.symbolic import derive
from saltus.symbolic.show.names import latex_name, latex_names


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("theta1", r"\theta_{1}"),
        ("dtheta1", r"\dot{\theta}_{1}"),
        ("ddtheta1", r"\ddot{\theta}_{1}"),
        ("ddalpha_elbow", r"\ddot{\alpha}_{\mathrm{elbow}}"),
        ("m_upper", r"m_{\mathrm{upper}}"),
        ("tau1", r"\tau_{1}"),
        ("F_x", "F_{x}"),
        ("dx", r"\dot{x}"),
        ("d", "d"),
        ("damping", r"\mathrm{damping}"),
        ("u_upper_arm", r"u_{\mathrm{upper\ arm}}"),
        ("θ2", r"\theta_{2}"),
        ("öl", r"\mathrm{ol}"),
        ("lambda3", r"\lambda_{3}"),
    ],
)
def test_a_name_alone(name, latex):
    assert latex_name(name) == latex


def written(*arguments):
    return {str(symbol): text for symbol, text in latex_names(derive(*arguments)).items()}


def test_joints_named_by_words_are_angles_and_ways():
    xml = """<mujoco><worldbody><body name="a"><joint name="rail" type="slide" axis="1 0 0"/>
    <joint name="knee" axis="0 1 0"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    names = written(xml)
    assert names["rail"] == r"x_{\mathrm{rail}}" and names["ddknee"] == r"\ddot{\theta}_{\mathrm{knee}}"


def test_quaternions_and_angular_velocities():
    names = written("free_body")
    assert [names[f"free_{part}"] for part in ("x", "qw", "wz")] == ["x", "q_{w}", r"\omega_{z}"]
    assert names["dfree_wz"] == r"\dot{\omega}_{z}"
    several = written("chain", "maximal")
    assert several["qw_link3"] == r"q_{\mathrm{link3},w}" and several["dwx_link3"] == r"\dot{\omega}_{\mathrm{link3},x}"


def test_shared_inertias_say_their_axes():
    assert written("cart_pole", "relative", "symbols")["I_polexy"] == r"I_{\mathrm{pole},xy}"


def test_odd_names_are_safe_and_different():
    """Names with spaces, dashes, dollars, and names that differ in those alone."""
    joints = ["a b", "a-b", "a_b", "$x^2$", "100%", "_{"]
    inertia = '<inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>'
    bodies = "".join(
        f'<body name="body {i}"><joint name="{name}" axis="0 1 0"/>{inertia}</body>' for i, name in enumerate(joints)
    )
    names = written(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", "relative", "symbols")
    assert len(set(names.values())) == len(names)
    for text in names.values():
        assert text.count("{") == text.count("}")
        assert not set("$%#&~") & set(text)


@pytest.mark.parametrize("model", ["pendulum", "double_pendulum", "cart_pole", "arm", "top", "chain", "free_body"])
@pytest.mark.parametrize("orientation", ["relative", "absolute", "maximal"])
def test_no_two_symbols_look_alike(model, orientation):
    names = written(model, orientation, "symbols")
    assert len(set(names.values())) == len(names)
