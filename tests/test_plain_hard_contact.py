"""Hard contact and integrators in plain Python: whole scenes that need no compiler, against closed forms.

Law: Signorini's and Coulomb's, Newton's and Poisson's restitution; sources are with the scenes. Impacts are located to
1e-10 m, which is 1e-9 s at 0.1 m/s; time stepping (`moreau_jean`) has whole steps alone. Accelerations for orders are
MuJoCo's, under SciPy's DOP853.

Ends of scenes without a closed form are compared with recorded ones, 1e-6 of the largest number: enough for rounding,
which impacts and friction let grow, and far below what a fault changes.
"""

import numpy as np
import pytest
from helpers import hard_models, mechanisms, oracle
from helpers.plain_python import plain_python
from helpers.plain_scenes import end, hard_table, recorded, smooth_table
from helpers.random_tree import random_tree

import saltus

HARD, SMOOTH, RECORDED = hard_table(), smooth_table(), recorded()
G = hard_models.G


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


@pytest.mark.parametrize("name", RECORDED)
def test_the_end_is_the_recorded_one(name):
    found = end(name, {**HARD, **SMOOTH}[name])
    for key, wanted in RECORDED[name].items():
        assert len(found[key]) == len(wanted), key
        scale = max(1.0, np.max(np.abs(wanted), initial=0.0))
        np.testing.assert_allclose(found[key], wanted, rtol=0, atol=1e-6 * scale, err_msg=key)


def test_all_scenes_are_recorded():
    assert [*RECORDED] == [*HARD, *SMOOTH]


# ---------------------------------------------------------------- closed forms, of the recorded ends


def test_times_of_bounces():
    """t1 (1 + 2 Σ eᵏ); half the velocity at each."""
    for name, e in (("bounces", 0.5), ("bounces to rest", 0.3), ("bounces, rk4", 0.5)):
        times = RECORDED[name]["times"]
        count = min(len(times), 6)
        np.testing.assert_allclose(times[:count], hard_models.bounces(0.2, e, count), rtol=0, atol=1e-7)
    np.testing.assert_allclose(RECORDED["bounces to rest"]["qvel"], 0.0, atol=1e-9)


def test_what_slides_and_rolls():
    end_of_block, end_of_roll = RECORDED["block"]["qpos"], RECORDED["roll"]["qvel"]
    speed = np.hypot(3.0, 0.5)
    assert abs(np.hypot(*end_of_block[:2]) - speed**2 / (2 * 0.2 * G)) < 1e-6
    np.testing.assert_allclose(RECORDED["block"]["qvel"], 0.0, atol=1e-8)
    np.testing.assert_allclose(end_of_roll[:2], [3.0 * 5 / 7, 5 / 7], atol=1e-7)
    assert abs(RECORDED["backspin, rk4"]["qvel"][0] - (3.0 - 0.2 * G * 0.2)) < 1e-8


def test_impacts_of_balls():
    np.testing.assert_allclose(RECORDED["two balls"]["qvel"], hard_models.TWO_BALLS_AFTER, atol=1e-9)
    np.testing.assert_allclose(RECORDED["cradle"]["qvel"], [0, 0, 0, 0, 1], atol=1e-8)
    for name, ends in RECORDED.items():
        if name.startswith("cradle"):  # momentum
            assert abs(sum(ends["qvel"]) - (2.0 if "two" in name else 1.0)) < 1e-9


@pytest.mark.parametrize("law", ["simultaneous", "poisson", "moreau", "sequential"])
def test_oblique_impacts(law):
    """e v_n up; along the floor the contact point slips against friction μ (1 + e) v_n, or sticks."""
    start = np.array([1.0, 0.2])
    slip = start + hard_models.RADIUS * np.array([-0.0, 0.5])  # v - R ω × n: (v_x - R ω_y, v_y + R ω_x)
    for mu in (0.02, 0.3):
        after = RECORDED[f"oblique, {law}, {mu}"]["qvel"]
        change = -min(mu * 1.5 * 2.0, 2 / 7 * np.hypot(*slip)) * slip / np.hypot(*slip)
        np.testing.assert_allclose(after[:2], start + change, atol=1e-8)
        assert abs(after[2] - 1.0) < 1e-8


def test_leaving_a_sphere():
    """The direction at the instant of leaving follows from energy: cos θ = 10/17 cos θ0 for what rolls."""
    times = RECORDED["leaves a sphere"]["times"]
    assert len(times) == 2
    energy = RECORDED["leaves a sphere"]
    v, omega, z = np.array(energy["qvel"][:3]), np.array(energy["qvel"][3:]), energy["qpos"][2]
    start = G * hard_models.TURN * np.cos(0.3)
    kinetic = 0.5 * v @ v + 0.5 * 0.4 * hard_models.SMALL**2 * (omega @ omega)
    assert kinetic + G * z <= start + 1e-7  # friction takes what slips before leaving


# ---------------------------------------------------------------- orders


@pytest.mark.parametrize("name", [i for i in saltus.integrators() if i not in ("discrete", "moreau_jean")])
@pytest.mark.parametrize("xml", [mechanisms.SEVERAL_JOINTS, random_tree(4, bodies=4)], ids=["joints", "tree"])
def test_orders(name, xml):
    """Half the step has 2^-p of the error, to 0.4 at these steps; adaptive methods are as good as their tolerances."""
    model, errors = saltus.load(xml), []
    m = oracle.reference(model)
    rng = np.random.default_rng(2)
    start, velocity = m.qpos0.copy(), 0.5 * rng.normal(size=m.nv)
    qpos, qvel = oracle.exact(m, start, velocity, [0.08])
    for steps in (4, 8, 16):
        sim = saltus.Simulation(model, name, timestep=0.08 / steps)
        sim.qvel[:] = velocity
        sim.step(steps)
        moved = oracle.difference(m, qpos[0], sim.qpos)
        errors.append(np.linalg.norm([*moved, *(sim.qvel - qvel[0])]))
    order = saltus.integrators()[name].order
    if saltus.integrators()[name].adaptive:
        assert errors[-1] < 1e-6
    elif errors[-1] > 1e-11:
        assert np.log2(errors[-2] / errors[-1]) > order - 0.4
