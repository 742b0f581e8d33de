"""Sleep against MuJoCo's: which trees sleep, step by step, in worlds of a few trees.

Law: MuJoCo's rules for sleeping islands (documentation, Simulation: Sleeping islands), with its velocities zeroed when
trees fall asleep. Source: MuJoCo 4.0, stepped beside, with the same changes from outside. tree_asleep is the same after
every step: whole numbers. The solvers' answers are exact to rounding, and none of these worlds is chaotic before the
end: positions agree to 1e-12 (m, rad).
"""

import numpy as np
import pytest
from helpers import sleepers
from helpers.sleepers import Pair

EULER, IMPLICIT, IMPLICITFAST = 0, 2, 3
# what is changed from outside: field, place, value, by steps
CHANGES = {
    "STACK": {1500: ("qvel", 20, -0.3)},
    "INITIAL": {},
    "CABINET": {0: ("qpos", 0, 0.1), 1300: ("qvel", 2, 1.0)},
    "JOINED": {1000: ("qpos", 9, -0.8), 1200: ("qvel", 0, 0.1), 1500: ("qvel", -3, 0.1)},
    "DRIVEN": {0: ("ctrl", 0, 0.5), 1500: ("ctrl", 0, -0.5), 1600: ("qvel", 0, 0.01)},
    "MEDIUM": {0: ("qvel", 1, 0.5)},
    "CARRIED": {
        **{400: ("mocap_pos", (0, 0), 0.05)},
        **{k: ("mocap_pos", (0, 2), 1 + 0.001 * (k - 600)) for k in range(600, 700)},
    },
    "PUSHED": {
        **{100: ("qpos", 14, 1.01), 300: ("qvel", 14, 0.1), 450: ("xfrc_applied", (5, 1), 0.01)},
        **{470: ("xfrc_applied", (5, 1), 0.0), 600: ("qfrc_applied", 18, 0.01), 620: ("qfrc_applied", 18, 0.0)},
        **{k: ("mocap_pos", (0, 2), 2 - 1.55 * (k - 800) / 800) for k in range(800, 1600)},
        **{2000: ("mocap_pos", (0, 0), 0.15), 2001: ("mocap_pos", (0, 2), 0.3)},
    },
}
LAST = {"CARRIED": 1000, "STACK": 2000, "INITIAL": 1200, "PUSHED": 2300}


def run(name, integrator):
    """The world of a name in both, compared step by step; how often somebody fell asleep, and how often woke."""
    pair, before = Pair(getattr(sleepers, name), integrator), None
    slept = woken = 0
    for k in range(LAST.get(name, 1900)):
        if k in CHANGES[name]:
            pair.set(*CHANGES[name][k])
        pair.step()
        pair.check((name, k))
        asleep = pair.d.tree_asleep >= 0
        if before is not None:
            slept += int((asleep & ~before).sum())
            woken += int((before & ~asleep).sum())
        before = asleep
    np.testing.assert_allclose(pair.sim.qpos, pair.d.qpos, atol=1e-12)
    np.testing.assert_allclose(pair.sim.qvel, pair.d.qvel, atol=1e-10)
    return slept, woken


@pytest.mark.parametrize(
    ("name", "slept", "woken"),
    [
        ("STACK", 9, 4),  # a box falls on sleeping ones; a ball is pushed
        ("INITIAL", 4, 3),  # asleep in mid-air until something falls on them
        ("CABINET", 3, 1),  # trees on one body that stands still
        ("JOINED", 9, 6),  # by equality constraints, and by a tendon at its limit
        ("DRIVEN", 2, 1),  # a motor does not wake what it is allowed to let sleep
        ("MEDIUM", 2, 0),
        ("CARRIED", 4, 2),  # by a mocap body, which is moved
        ("PUSHED", 10, 7),  # positions, velocities and forces from outside, and a mocap body
    ],
)
def test_everybody_sleeps_when_they_do_in_mujoco(name, slept, woken):
    happened = run(name, EULER)
    assert happened[0] >= slept and happened[1] >= woken


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [IMPLICIT, IMPLICITFAST])
@pytest.mark.parametrize("name", ["STACK", "CABINET", "DRIVEN", "MEDIUM"])
def test_so_do_they_with_mujocos_implicit_methods(name, integrator):
    run(name, integrator)


def test_a_tree_on_what_stands_still_wakes_alone():
    """Two drawers of one cabinet share their frame's centre of mass, which the third one moves."""
    pair = Pair(sleepers.CABINET)
    pair.set("qpos", 0, 0.01)
    for _ in range(1500):
        pair.step()
    assert (pair.sim.tree_asleep >= 0).all()
    pair.set("qvel", 2, 1.0)
    for _ in range(20):
        pair.step()
        pair.check("drawer")
    np.testing.assert_array_equal(pair.sim.tree_asleep >= 0, [True, False, True])
    np.testing.assert_allclose(pair.sim.qpos, pair.d.qpos, atol=1e-13)
