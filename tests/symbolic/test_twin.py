"""The derived equations against the engine: M, bias, forces and accelerations at random states, in all coordinates.

The engine, itself checked against MuJoCo, is the reference; and a twin that is wrong somewhere must say so there.
"""

import re
import warnings

import numpy as np
import pytest
from helpers.mechanisms import MECHANISMS
from helpers.packages import Absent, root
from helpers.planar_tree import planar_tree
from helpers.random_tree import random_tree

import saltus
from saltus.symbolic.equations import Equations, derive
from saltus.symbolic.twin import QUANTITIES, compare_with_engine, random_states

ORIENTATIONS = ("relative", "absolute", "maximal")
BUNDLED = ("pendulum", "double_pendulum", "arm", "cart_pole", "top", "free_body", "spring", "chain", "newtons_cradle")


def check(model, orientation, states=10):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", saltus.SaltusWarning)
        equations = derive(model, orientation)
    twin = compare_with_engine(equations, states)
    assert twin.agrees(1e-10), str(twin)
    return twin


# ------------------------------------------------------------ agreement


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_models(name, orientation):
    check(name, orientation, 20)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("n", range(1, 7))
def test_n_link_pendulums(n, orientation):
    check(saltus.n_link(n, m=np.linspace(1, 2, n), d=0.4), orientation)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_acrobot_of_dm_control(orientation):
    try:
        place = root("dm_control==1.0.50")
    except Absent as reason:
        pytest.skip(str(reason))
    check(place / "suite" / "acrobot.xml", orientation)


def without_springs_of_balls(xml):
    return re.sub(r'(<joint name="\w+" type="(?:ball|free)"[^>]*?) stiffness="[^"]*"', r"\1", xml)


@pytest.mark.slow
@pytest.mark.parametrize("seed, orientation", [(0, "relative"), (1, "absolute"), (2, "absolute"), (3, "relative")])
def test_random_trees_of_all_joints(seed, orientation):
    """Several joints a body, offsets, turned frames, armature, springs (polynomial ones, too), dampers, references."""
    check(without_springs_of_balls(random_tree(seed, bodies=3)), orientation, 4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_random_trees_in_maximal_coordinates(seed):
    """Hinge, slide, ball and free joints, one a body, as constraints between quaternions."""
    check(without_springs_of_balls(random_tree(seed, bodies=3)), "maximal", 4)


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_random_planar_trees(seed, floating, orientation):
    check(planar_tree(seed, bodies=1 + seed % 4, normal=seed % 3, floating=floating), orientation, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["several joints", "fixed and massless", "several trees", "actuators"])
def test_mechanisms(name):
    check(MECHANISMS[name], "absolute", 4)


@pytest.fixture(scope="module")
def humanoid():
    with pytest.warns(saltus.SaltusWarning, match="humanoid: contacts: .*; limits of joints: joint waist_turn"):
        return derive("humanoid")


@pytest.mark.slow
def test_contacts_and_limits_are_left_out_of_both(humanoid):
    """29 degrees of freedom, a free joint at their root."""
    twin = compare_with_engine(humanoid, 2)
    assert twin.agrees()
    assert [text.split(":")[0] for text in twin.left_out] == ["contacts", "limits of joints"]


# ------------------------------------------------------------ disagreement


def equations_for(model, other, orientation="relative"):
    """Equations of one model that say they are another's."""
    e = derive(other, orientation)
    return Equations(saltus.load(model), e.mechanism, e.choice, e.derivation)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize(
    "change, quantities, dof",
    [
        ({"body_mass[forearm]": 0.75 * (1 + 1e-8)}, {"M", "bias", "accelerations"}, None),
        ({"opt.gravity[2]": -9.81 * (1 + 1e-8)}, {"bias", "accelerations"}, None),
        ({"dof_damping[elbow]": 0.05 * (1 + 1e-7)}, {"passive", "accelerations"}, "elbow"),
        ({"actuator_gear[elbow][0]": 1 + 1e-7}, {"actuation", "accelerations"}, "elbow"),
        ({"dof_armature[elbow]": 1e-8}, {"M", "accelerations"}, "elbow"),
    ],
)
def test_a_small_error_is_found_where_it_is(change, quantities, dof, orientation):
    arm = saltus.load("arm")
    twin = compare_with_engine(equations_for(arm, arm.changed(change), orientation))
    assert not twin.agrees()
    assert {q for q in QUANTITIES if twin[q].largest > 1e-10} == quantities
    if dof:
        (first,) = quantities - {"accelerations"}
        assert set(twin[first].entry.split(", ")) == {dof}
    assert str(twin).count("DISAGREES") == len(quantities)


def test_a_wrong_sign_of_a_coriolis_term_is_found():
    e = derive("double_pendulum")
    _, v2 = e.choice.own.v
    e.derivation.bias[0] = e.derivation.bias[0].subs({v2: -v2})
    twin = compare_with_engine(e)
    assert twin["bias"].largest > 0.01 and twin["bias"].entry == "theta1"


def test_equations_that_cannot_be_solved_disagree():
    e = derive("double_pendulum")
    e.derivation.M[1] = [2 * x for x in e.derivation.M[0]]
    e.derivation.M[0][1] = e.derivation.M[1][0]
    e.derivation.M[1][1] = 2 * e.derivation.M[1][0]
    twin = compare_with_engine(e, 3)
    assert not twin.agrees() and not twin["accelerations"].largest < 1


# ------------------------------------------------------------ states, options, the command


@pytest.mark.slow
def test_states_are_within_limits_and_quaternions_have_unit_length(humanoid):
    m = humanoid.model
    states = list(random_states(humanoid, 50, np.random.default_rng(1)))
    assert len(states) == 50
    for state in states:
        scalar = m.jnt_type >= 2
        qpos = state["qpos"][m.jnt_qposadr[scalar]]
        low, high = m.jnt_range[scalar].T
        limited = m.jnt_limited[scalar].astype(bool)
        assert np.all((low <= qpos)[limited] & (qpos <= high)[limited])
        assert np.linalg.norm(state["qpos"][3:7]) == pytest.approx(1, abs=1e-15)
        low, high = m.actuator_ctrlrange[m.actuator_ctrllimited.astype(bool)].T
        ctrl = state["ctrl"][m.actuator_ctrllimited.astype(bool)]
        assert np.all((low <= ctrl) & (ctrl <= high))
    assert np.ptp([s["qpos"] for s in states], axis=0).min() > 0.3


def test_the_seed_makes_the_states():
    e = derive("double_pendulum")
    assert compare_with_engine(e, 5, 1) == compare_with_engine(e, 5, 1) != compare_with_engine(e, 5, 2)


def test_options():
    e = derive("pendulum")
    with pytest.raises(saltus.OptionError, match="states must be at least 1, not 0"):
        compare_with_engine(e, 0)
    assert compare_with_engine(derive("pendulum", "maximal"), 1).orientation == "maximal"
    with pytest.raises(KeyError, match="no quantity 'qacc'; there are: M, bias"):
        compare_with_engine(e, 1)["qacc"]


def test_command(saltus_command):
    code, out, err = saltus_command("check", "--twin", "arm", "--orientation", "maximal", "--states", "3")
    assert code == 0 and "equations and engine agree" in out, err
    assert re.search(r"equations +6 equations and 4 constraints in maximal coordinates", out)
    assert re.search(r"derived in +[\d.e-]+ s", out) and re.search(r"operations +\d+ \(", out)
    for quantity in QUANTITIES:
        assert re.search(rf"^{quantity} +[\d.e+-]+ .*agrees *$", out, re.MULTILINE)


def test_command_names_what_is_left_out(saltus_command):
    code, out, _ = saltus_command("check", "--twin", "bouncing_ball", "--states", "1")
    assert code == 0 and re.search(r"left out +contacts: geom floor, geom ball", out)


def test_command_fails_where_they_disagree(saltus_command, monkeypatch):
    from saltus.symbolic import equations

    def wrong(model, orientation):
        return equations_for(model, saltus.load(model).changed({"opt.gravity[2]": -9.8}), orientation)

    monkeypatch.setattr(equations, "derive", wrong)
    code, out, _ = saltus_command("check", "--twin", "pendulum", "--states", "2")
    assert code == 1 and "equations and engine disagree" in out
    assert re.search(r"bias .*theta, state \d +DISAGREES", out)


LOOP = """<mujoco model="loop"><worldbody><body name="a"><joint name="a"/><geom size="0.1" contype="0"/>
<body name="b" pos="1 0 0"><joint name="b"/><geom size="0.1" contype="0"/></body></body></worldbody>
<equality><connect name="ring" body1="b" body2="world" anchor="1 0 0"/></equality></mujoco>"""


def test_command_refuses_what_is_no_tree(saltus_command, tmp_path):
    file = tmp_path / "loop.xml"
    file.write_text(LOOP)
    code, out, err = saltus_command("check", "--twin", file)
    assert code == 1 and not out
    assert "equality 'ring': " in err and "no place in the equations of a tree" in err
    code, out, _ = saltus_command("check", "--twin", file, "--ignore", "equality", "--states", "2")
    assert code == 0 and re.search(r"ignored +equality: ", out)


def test_options_of_twin_need_it(saltus_command):
    for option, value in (("--orientation", "maximal"), ("--states", 3)):
        code, _, err = saltus_command("check", "arm", option, value)
        assert code == 2 and option in err and "--twin" in err
