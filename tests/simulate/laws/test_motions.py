"""Refusals of prescribed motions by name, and the errors where a motion gives no numbers."""

import copy
import math
import random

import numpy as np
import pytest
from dynamics.test_motions import INERTIA, MODEL, SHAKEN, SWING, G, L, M, X, shake, simulation, still

import saltus
from saltus.errors import DivergenceError, OptionError, SaltusWarning

MOCAP = """<mujoco><worldbody><body name="lift" mocap="true"><geom name="top" size=".1" contype="0" conaffinity="0"/>
</body><body name="ball"><joint name="b" type="ball"/><geom size=".1" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>"""


def made(motions, source=MODEL, integrator="rk4", **options):
    return saltus.Simulation(source, integrator, motions=motions, **options)


def depends_on_more(t, m):
    return t


@pytest.mark.parametrize(
    ("motions", "said"),
    [
        (3, "motions must be a dictionary"),
        ({"y": still}, "'y'.*x"),
        ({"x": 1.0}, r"motions\['x'\] must be f\(t\)"),
        ({"x": depends_on_more}, "takes t, m"),
        ({"x": lambda: 0.0}, "takes nothing"),
        ({"x": lambda t: (t, t)}, r"motions\['x'\] cannot be compiled"),
        ({"x": lambda t: float(t)}, r"motions\['x'\] cannot be compiled"),
        ({"x": lambda t: math.sqrt(t - 1)}, "not finite at t = 0 s"),
        ({"x": lambda t: math.sqrt(t)}, "not finite at t = 0 s"),
        ({"x": lambda t: random.random()}, "another value each time"),
    ],
)
def test_what_is_no_motion_is_refused(motions, said):
    with pytest.raises(OptionError, match=said):
        made(motions)


@pytest.mark.parametrize(
    ("motions", "said"),
    [
        ({"b": still}, "'b' is a ball joint"),
        ({"ball": lambda t: (t, t, t)}, "'ball' is no mocap body"),
        ({"lift": still}, r"motions\['lift'\] cannot be compiled"),
        ({"lift": lambda t: (t, t)}, r"motions\['lift'\] cannot be compiled"),
    ],
)
def test_what_cannot_be_moved_so_is_refused(motions, said):
    with pytest.raises(OptionError, match=said):
        made(motions, MOCAP)


@pytest.mark.parametrize(
    "integrator", ["verlet", "velocity_verlet", "implicit_midpoint", "energy_momentum", "discrete"]
)
def test_other_integrators_are_refused(integrator):
    with pytest.raises(OptionError, match=f"not under {integrator}; choose euler"):
        made(SHAKEN, integrator=integrator)


def test_other_carriers_refuse_them():
    with pytest.raises(OptionError, match="Batch: prescribed motions"):
        saltus.Batch(MODEL, 2, motions=SHAKEN)
    with pytest.raises(OptionError, match="linearize does not support prescribed motions"):
        made(SHAKEN).linearize()
    with pytest.raises(OptionError, match="a page: prescribed motions"):
        made(SHAKEN).page()


def test_a_motion_that_ends_is_named_where_it_does():
    sim = made({"x": lambda t: math.sqrt(0.1 - t)})
    with pytest.raises(DivergenceError, match=r"motions\['x'\].*not finite near t = 0.1"):
        sim.run(0.3, 0.05)


def test_a_value_that_changes_after_its_first_use_is_refused():
    size = 0.1

    def wave(t):
        return size * math.sin(t)

    sim = made({"x": wave})
    size = 0.2
    with pytest.raises(OptionError, match="has changed since its first use"):
        sim.run(0.1, 0.05, certify=True)


def test_a_resumed_run_needs_its_motions(tmp_path):
    def half(done):
        if done > 0.5:
            raise KeyboardInterrupt

    sim = simulation("rk4", timestep=0.01)
    with pytest.warns(SaltusWarning, match="interrupted"):
        sim.run(1.0, 0.1, progress=half, save=tmp_path / "run.zarr")
    with pytest.raises(OptionError, match="the motions of the run are those of x, z, crank"):
        saltus.resume(tmp_path / "run.zarr", progress=False)
    run = saltus.resume(tmp_path / "run.zarr", progress=False, motions=SHAKEN)
    whole = simulation("rk4", timestep=0.01).run(1.0, 0.1, progress=False)
    assert (run.qpos == whole.qpos).all() and (run.prescribed_force == whole.prescribed_force).all()


def test_copies_and_resets_go_on_with_the_motion():
    sim = simulation("rk4", timestep=0.01)
    sim.step(10)
    other = copy.copy(sim)
    for one in (sim, other):
        one.step(10)
    assert (sim.qpos == other.qpos).all() and sim.qpos[X] == shake(sim.time)
    sim.reset()
    assert sim.qpos[X] == 0.0 and sim.qvel[X] == pytest.approx(shake(1e-6) * 1e6, rel=1e-9)


def bump(t):
    return 0.002 * (1 - math.cos(100 * math.pi * (t - 5.0))) if 5.0 < t < 5.02 else 0.0


def test_a_pulse_is_not_stepped_over():
    """A bump of 20 ms, with area 0.002 x 0.02: the pendulum swings by (ω/l) times that afterwards, to order x²/l²."""
    run = made({"x": bump, "z": still, "crank": still}, integrator="dopri5").run(6.0, 0.1)
    assert run.attrs["max_step"] == pytest.approx(0.002) and run.attrs["motions"] == ["x", "z", "crank"]
    w = math.sqrt(M * G * L / INERTIA)
    swing = -w * M * L / INERTIA * 4e-5 * np.sin(w * (run.time - 5.01))
    np.testing.assert_allclose(run.qpos[51:, SWING], swing[51:], atol=0.1 * np.abs(swing).max())


def test_hard_contact_says_that_limits_of_prescribed_joints_do_nothing():
    limited = """<mujoco><worldbody><body><joint name="arm" axis="0 1 0" range="-1 1" limited="true"/><geom size=".1"/>
    </body></worldbody></mujoco>"""
    with pytest.warns(SaltusWarning, match="limits and dry friction of prescribed joints are left out: 'arm'"):
        sim = made({"arm": lambda t: 4 * t}, limited, None, contact="hard")
    sim.step(250)
    assert sim.qpos[0] == pytest.approx(2.0, abs=1e-12)
    assert np.isfinite(sim.data.qfrc_prescribed).all()


def test_positions_that_are_set_are_not_used_and_a_warning_says_so():
    sim = simulation("rk4", timestep=0.01)
    sim.step(3)
    sim.qpos[SWING] = 0.2  # free
    sim.time = 1.0  # and so is the time
    sim.step()
    with pytest.warns(SaltusWarning, match="'x', 'z', 'crank' are those of their motions"):
        sim.qpos[X] = 0.3
        sim.step()
    assert sim.qpos[X] == shake(sim.time)


def test_joints_on_a_mocap_body_are_said_not_to_feel_its_motion():
    source = """<mujoco><worldbody><body name="lift" mocap="true"><geom size=".1"/><body name="arm"><joint name="arm"/>
    <geom size=".1" pos="0 .5 0"/></body></body></worldbody></mujoco>"""
    with pytest.warns(SaltusWarning, match="not on the joints of body 'arm'"):
        made({"lift": lambda t: (0, 0, t * t)}, source)
