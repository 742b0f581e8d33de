"""Geoms that pass each other within a step, breaks of laws, and relaxed tolerances in plain Python.

Laws: in free flight a body's centre crosses the middle of a thin obstacle or does not, and geoms whose relative motion
in a step is known by hand; pushes that begin and end at given times, of which positions are polynomials; MuJoCo's
bounding radii.
"""

import warnings

import numpy as np
import pytest
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.errors import SaltusWarning
from saltus.integrate import passing
from saltus.integrate.adaptive import relaxation, step_bounds
from saltus.integrate.adaptive.memory import LOOSE, STEP, TRIES
from saltus.model.fields.constraint.passing import NEXT, REST

H, RADIUS, HALF = 0.002, 0.05, 0.001
THIN = f"""<mujoco><option timestep="{H}" gravity="0 0 0"/><worldbody>
<geom name="floor" type="plane" size="5 5 1" pos="0 0 -3"/><geom name="wall" type="box" size="{HALF} 1 1"/>
<body name="ball" pos="-.5 0 0"><freejoint/><geom name="ball" size="{RADIUS}" mass="1"/></body>
<body name="cube" pos="-.5 .5 0"><freejoint/><geom name="cube" type="box" size=".05 .05 .05" mass="1"/></body>
<body name="rod" pos="-.5 -.5 0"><freejoint/><geom name="rod" type="capsule" size=".02 .2" mass="1"/></body>
</worldbody></mujoco>"""
BODIES = ("ball", "cube", "rod")


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


def called(kernel, sim, *arguments):
    return plain(kernel)(fields(sim.engine.step_m), fields(sim.engine.d), *arguments)


def thrown(sim, body, speed, distance, spin=0.0):
    """Throw a body at the wall; returns where its centre ends (m), and the warnings."""
    sim.reset()
    i = BODIES.index(body)
    sim.qpos[7 * i], sim.qvel[6 * i], sim.qvel[6 * i + 5] = -distance, speed, spin
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SaltusWarning)
        sim.step(int(distance / speed / H) + 4)
    return float(sim.qpos[7 * i]), [str(w.message) for w in said]


@pytest.mark.parametrize(("integrator", "speed"), [("euler", 9.0), ("euler", 60.0), ("rk4", 60.0), ("euler", 200.0)])
@pytest.mark.parametrize("body", BODIES)
def test_what_passes_is_named_and_nothing_else(integrator, body, speed):
    sim = saltus.Simulation(THIN, integrator)
    for distance in np.linspace(0.15, 0.15 + speed * H, 3) + RADIUS:
        place, said = thrown(sim, body, speed, distance)
        assert bool(said) == (place > 0.0), (distance, place, said)
        assert all(body in text and "'wall'" in text for text in said)


def test_two_bodies_that_fly_through_each_other():
    sim = saltus.Simulation(THIN, "euler")
    sim.qpos[[0, 7]] = 1.0, 1.4
    sim.qpos[8] = 0.0
    sim.qvel[[0, 6]] = 60.0, -60.0
    with pytest.warns(SaltusWarning, match=r"geoms 'ball' and 'cube' passed through each other"):
        sim.step(4)


def test_a_bound_of_relative_motions():
    """Speeds of joints times their reaches, of the two trees that move most."""
    sim, rng = saltus.Simulation(THIN, "euler"), np.random.default_rng(0)
    reach = sim.engine.step_m.views["passing_reach"]
    for scale in (1e-3, 5.0, 50.0):
        sim.qvel[:] = scale * rng.normal(size=18)
        totals = np.sort((np.abs(sim.qvel) * reach).reshape(3, 6).sum(axis=1))
        whole = H * totals.sum()
        wanted = whole if whole < passing.SHARE else H * (totals[-1] + totals[-2])
        np.testing.assert_allclose(called(passing.motion_bound, sim, H), wanted, rtol=1e-13)


def test_steps_without_checks_are_counted_down():
    """A pair that moved by less than the bound is not followed again for as many steps, unless the bound rises."""
    sim = saltus.Simulation(THIN, "euler")
    count, level = sim.engine.d.views["passing_count"], sim.engine.d.views["passing_level"]
    sim.qvel[:] = 5.0
    assert called(passing.may_pass, sim, H)
    for rest in (3, 2, 1):
        count[REST], level[NEXT] = rest, sim.time
        assert not called(passing.may_pass, sim, H)
        assert count[REST] == rest - 1
    level[NEXT] = sim.time
    assert called(passing.may_pass, sim, H)
    count[REST], level[NEXT] = 3, sim.time
    sim.qvel[:] *= 2.0
    assert called(passing.may_pass, sim, H) and count[REST] == 3


def test_relative_motions_of_pairs():
    """Of centres, and of turns by the chord 2 √2 sin(θ/2) times the radius about it, but for spheres."""
    sim = saltus.Simulation(THIN, "euler")
    m, views, model = sim.model.mujoco, sim.engine.d.views, sim.engine.step_m
    called(passing.place_geoms, sim)
    before = views["geom_xpos"].copy()
    views["passing_pos"][:], views["passing_mat"][:] = views["geom_xpos"], views["geom_xmat"]
    sim.qpos[[0, 7, 14]] += 0.03, -0.02, 0.05
    angle = 0.4
    for body in range(3):
        sim.qpos[7 * body + 3 : 7 * body + 7] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)
    called(passing.place_geoms, sim)
    path = views["geom_xpos"] - before
    turned = {"cube": 2.0 * np.sin(angle / 2), "rod": 2.0 * np.sin(angle / 2)}
    for c in range(model.ncollision):
        names = [m.geom(int(model.views[f"collision_geom{k}"][c])).name for k in (1, 2)]
        ids = [m.geom(name).id for name in names]
        wanted = np.linalg.norm(path[ids[1]] - path[ids[0]])
        wanted += sum(turned.get(name, 0.0) * m.geom(name).rbound[0] for name in names)
        np.testing.assert_allclose(called(passing.relative_motion, sim, c), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("begin", "path", "wanted"),
    [
        ((-2, 0, 0), (4, 0, 0), (0.25, 0.75)),
        ((-2, 0.6, 0), (4, 0, 0), (0.3, 0.7)),
        ((0.5, 0, 0), (4, 0, 0), (0.0, 0.125)),
        ((-2, 1.5, 0), (4, 0, 0), (1.0, 0.0)),
        ((0.5, 0, 0), (0, 0, 0), (0.0, 1.0)),
        ((2.0, 0, 0), (0, 0, 0), (1.0, 0.0)),
    ],
)
def test_when_bounding_spheres_meet(begin, path, wanted):
    """Spheres whose radii sum up to 1 on a straight line."""
    given = [tuple(map(np.float64, x)) for x in (begin, path)]
    np.testing.assert_allclose(plain(passing.meeting)(*given, np.float64(1.0)), wanted, atol=1e-15)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0])
def test_poses_between(s):
    """A straight line, and axes whose chord is followed: of a turn by 90° about z they stand at atan(s/(1 - s))."""
    sim = saltus.Simulation(THIN, "euler")
    views, g = sim.engine.d.views, sim.model.mujoco.geom("cube").id
    views["passing_pos"][g], views["passing_mat"][g] = (1, 2, 3), np.reshape(np.eye(3), views["passing_mat"][g].shape)
    turned = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    end = (2.0, 0.0, 5.0), tuple(turned.ravel())
    plain(passing.move_geom)(fields(sim.engine.d), g, end, s)
    np.testing.assert_allclose(views["geom_xpos"][g], [1 + s, 2 - 2 * s, 3 + 2 * s], atol=1e-15)
    angle = np.arctan2(s, 1 - s)
    wanted = [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    np.testing.assert_allclose(np.reshape(views["geom_xmat"][g], (3, 3)), wanted, atol=1e-15)


def test_poses_between_any_two():
    """Axes whose chords are followed, made orthonormal in their order (Gram & Schmidt, here NumPy's QR)."""
    sim, rng = saltus.Simulation(THIN, "euler"), np.random.default_rng(0)
    views, g = sim.engine.d.views, sim.model.mujoco.geom("cube").id
    first, last = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
    first, last = (R * np.linalg.det(R) for R in (first, last))
    views["passing_mat"][g] = np.reshape(first, views["passing_mat"][g].shape)
    plain(passing.move_geom)(fields(sim.engine.d), g, ((0.0, 0.0, 0.0), tuple(last.ravel())), 0.3)
    between = first + 0.3 * (last - first)
    Q, R = np.linalg.qr(between[:, :2])
    x, y = (Q * np.sign(np.diag(R))).T
    found = np.reshape(views["geom_xmat"][g], (3, 3))
    np.testing.assert_allclose(found, np.transpose([x, y, np.cross(x, y)]), atol=1e-14)


def test_steps_without_checks():
    """After a fast step pairs are followed for 64 steps; after a slow one none is for 48, or 16 near the bound."""
    sim = saltus.Simulation(THIN, "euler")
    d, counts = fields(sim.engine.d), sim.engine.d.views["passing_count"]
    rest = plain(passing.rest_after)
    cases = ((0.25, 5, -64), (0.3, -3, -64), (0.1, -3, -2), (0.1, 0, 48), (0.2, 7, 16), (0.125, 0, 16))
    for largest, before, after in cases:
        counts[REST] = before
        rest(d, np.float64(largest))
        assert counts[REST] == after


# ---------------------------------------------------------------- breaks

CART = """<mujoco><option gravity="0 0 0" timestep=".1"><flag refsafe="disable"/></option><worldbody><body>
<joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="1" contype="0"/></body></worldbody>
<actuator><motor joint="x"/></actuator></mujoco>"""


def kick(m, d, z):
    d.ctrl[0] = 0.0
    if d.time >= 0.0317:
        d.ctrl[0] = 5.0
    if d.time >= 0.1603:
        d.ctrl[0] = -2.0


def test_laws_that_jump_at_breaks():
    """x = 5 s²/2 from 31.7 ms on, and then -2 s²/2: polynomials between the breaks, to rounding."""
    options = {"control": saltus.controller(kick), "breaks": (0.0317, 0.1603), "tolerance": (1e-9, 1e-11)}
    sim = saltus.Simulation(CART, "dopri5", **options)
    sim.step(3)
    first, second = 0.1603 - 0.0317, 0.3 - 0.1603
    v = 5 * first
    np.testing.assert_allclose(sim.qpos[0], 2.5 * first**2 + v * second - second**2, rtol=1e-11)
    np.testing.assert_allclose(sim.qvel[0], v - 2 * second, rtol=1e-11)


@pytest.mark.parametrize("time", [0.0, 0.3, 0.7, 1.0])
def test_the_way_to_the_next_break_and_behind_it(time):
    bounds = np.array([np.inf, 0.002, 0.3, 0.7])
    side = {0.3: 4e-15 * 1.3, 0.7: 4e-15 * 1.7}
    left = plain(step_bounds.until_break)(np.float64(time), np.float64(2.0), bounds)
    following = [b for b in (0.3, 0.7) if b > time]
    np.testing.assert_allclose(left, following[0] - side[following[0]] - time if following else 2.0, rtol=1e-15)
    behind = plain(step_bounds.behind_break)(np.float64(time), bounds)
    assert behind == (time + side[time] if time in side else time)
    near = plain(step_bounds.behind_break)(np.float64(time - 1e-13), bounds)
    assert near == (time + side[time] if time in side else time - 1e-13)


@pytest.mark.parametrize(("left", "wanted"), [(5e-13, False), (3e-12, True), (1.5e-14, False), (3e-14, False)])
def test_what_remains_of_a_step(left, wanted):
    """More than 1e-12 of the time plus 1 s where there are breaks, else than 1e-14."""
    remains = plain(step_bounds.remains)
    assert bool(remains(left, 1.0, np.array([np.inf, 0.0, 0.5]))) == wanted
    assert bool(remains(left, 1.0, np.array([np.inf, 0.0]))) == (left > 2e-14)
    assert not remains(2e-12, 1.0, np.array([np.inf, 0.0, 0.5]))


# ---------------------------------------------------------------- relaxed tolerances


class Relaxed:
    """The rule again: trials that decay with the time that passes, and a factor that halves with each pace."""

    def __init__(self, pace):
        self.pace, self.loose, self.tries = pace, 1.0, 0.0

    def trial(self, h, error):
        eased = error / self.loose
        passed = h / self.pace if eased <= 1.0 else 0.0
        limit = 20.0 if self.loose > 1.0 else 1000.0
        tries = max(self.tries - limit * passed, 0.0) + 1.0
        after = max(self.loose * 0.5 ** min(passed, 64.0), 1.0)
        over = tries > limit
        self.tries, self.loose = (0.0, 4.0 * after) if over else (tries, after)
        return eased, eased <= 1.0 and error > 1.0


def test_tolerances_are_relaxed_after_many_trials():
    """Trials of short steps with errors of all sizes, and then of long ones."""
    sim = saltus.Simulation(CART, "dopri5")
    d, memory, rng = fields(sim.engine.d), sim.engine.d.views["memory"], np.random.default_rng(0)
    reference, bounds = Relaxed(0.002), np.array([np.inf, 0.002])
    memory[[LOOSE, TRIES]] = 0.0
    relaxed, loosest = plain(relaxation.relaxed), 1.0
    for k in range(1600):
        h = np.float64(1e-7 if k < 1400 else 5e-4)
        error = np.float64(10 ** rng.uniform(-0.5, 1.0 if k < 1400 else 0.5))
        found = relaxed(d, h, True, error, bounds)
        wanted = reference.trial(h, error)
        assert found[0] == wanted[0] and bool(found[1]) == wanted[1], k
        np.testing.assert_allclose(memory[[LOOSE, TRIES]], [reference.loose, reference.tries], rtol=1e-13)
        loosest = max(loosest, reference.loose)
        wide = plain(relaxation.longest_relaxed)(d, np.float64(0.01), bounds)
        assert wide == (0.002 if reference.loose > 1.0 else 0.01)
    assert loosest > 4.0 and reference.loose == 1.0
    assert relaxed(d, np.float64(1.0), True, np.float64(3.0), np.array([np.inf, 0.0])) == (3.0, False)


def test_steps_of_relaxed_tolerances_are_told():
    """An oscillator of 16 Hz in steps whose error is accepted by the factor alone."""
    stiff = CART.replace('axis="1 0 0"', 'axis="1 0 0" stiffness="1e4"')
    sim = saltus.Simulation(stiff, "dopri5")
    sim.qpos[0] = 0.1
    sim.step()
    memory = sim.engine.d.views["memory"]
    memory[LOOSE], memory[TRIES], memory[STEP] = 1e9, 0.0, 2e-3
    with pytest.warns(SaltusWarning, match="relaxed"):
        sim.step()
