"""Contact points of hybrid runs as recordings hold them: names, bodies, modes, forces and places.

Law: of a body that only slides, gravity and contact forces give m a; friction opposes slip with μ times the normal
force, and where the body sticks it carries what is left of gravity. The moment of friction about the centre of mass, at
height h, moves the centre of pressure ahead by h |F_t| / F_n. Tolerance: that of the forces, 1e-9 of the weight.
"""

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError
from saltus.record import Trajectory

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_hard_layout")]

MASS, HEIGHT, MU, G, SIDE = 2.0, 0.1, 0.3, 9.81, 1.5
BOX = f"""<mujoco><option gravity="{SIDE} 0 -{G}"/><worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="{MU}"/>
<body name="crate" pos="0 0 {HEIGHT + 0.01}"><freejoint/>
<geom name="box" type="box" size="0.2 0.15 {HEIGHT}" mass="{MASS}" friction="{MU}"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def slid():
    """Lands sliding at 1 m/s, is slowed down by friction to rest, sticks."""
    q0 = [0.0, 0.0, HEIGHT + 0.01, 1.0, 0.0, 0.0, 0.0]
    return saltus.simulate(BOX, 0.0, 1.5, 0.01, q0, [1.0, 0, 0, 0, 0, 0])


def phases(t):
    """Samples in the air, while it slips, and while it sticks; the corners below."""
    mode = t.contact_mode
    return (mode == 0).all(axis=1), (mode == 2).sum(axis=1) == 4, (mode == 1).sum(axis=1) == 4


def test_modes_and_names(slid):
    air, slips, sticks = phases(slid)
    assert slid.names["contact"] == [f"floor box.{k}" for k in range(8)]
    assert slid.attrs["contact_bodies"] == [["world", "crate"]] * 8
    assert air.sum() >= 4 and slips.sum() > 50 and sticks.sum() > 50 and (air | slips | sticks).all()
    np.testing.assert_array_equal(slid.CONTACTSTATE, slid.contact_mode.T > 0)
    assert set(slid.events["kind"]) == {"impact", "touchdown", "stick"}
    assert {f"{e['other']} {e['name']}" for e in slid.events} == {f"floor box.{k}" for k in range(4)}


def test_forces_are_those_of_the_motion(slid):
    air, slips, sticks = phases(slid)
    total = slid.contact_force.sum(axis=1)
    weight = MASS * G
    np.testing.assert_array_equal(total[air], 0.0)
    np.testing.assert_allclose(total[slips], np.tile([-MU * weight, 0.0, weight], (slips.sum(), 1)), atol=1e-9 * weight)
    np.testing.assert_allclose(total[sticks], np.tile([-MASS * SIDE, 0, weight], (sticks.sum(), 1)), atol=1e-9 * weight)
    np.testing.assert_allclose(slid.LAMBDA[:8].sum(axis=0), total[:, 0])
    assert slid.LAMBDA.shape == (24, 151)


def test_points_are_the_corners(slid):
    _, slips, sticks = phases(slid)
    closed = slid.contact_mode > 0
    on = slid.contact_pos[slips | sticks]
    np.testing.assert_allclose(slid.contact_pos[closed][:, 2], 0.0, atol=1e-9)
    assert np.isnan(slid.contact_pos[~closed]).all() and not slid.contact_force[~closed].any()
    x = slid.qpos[slips | sticks, 0]
    np.testing.assert_allclose(np.sort(on[:, :4, 0] - x[:, None], axis=1), [[-0.2, -0.2, 0.2, 0.2]] * len(x), atol=1e-9)


def test_the_centre_of_pressure_is_ahead(slid):
    air, slips, sticks = phases(slid)
    ahead = slid.centre_of_pressure() - slid.qpos[:, :3]
    assert np.isnan(ahead[air]).all()
    np.testing.assert_allclose(ahead[slips, 0], HEIGHT * MU, atol=1e-9)
    np.testing.assert_allclose(ahead[sticks, 0], HEIGHT * SIDE / G, atol=1e-9)
    np.testing.assert_array_equal(slid.centre_of_pressure("crate"), slid.centre_of_pressure())


def test_looking_changes_nothing():
    """Samples at other times leave the motion and its events as they are, bit for bit."""
    q0, v0 = [0.0, 0.0, HEIGHT + 0.01, 1.0, 0.0, 0.0, 0.0], [1.0, 0, 0, 0, 0, 0]
    few, many = (saltus.simulate(BOX, 0.0, 1.0, period, q0, v0) for period in (0.5, 0.01))
    assert few.events.tobytes() == many.events.tobytes()
    np.testing.assert_array_equal(few.qpos[-1], many.qpos[-1])
    np.testing.assert_array_equal(few.contact_force[-1], many.contact_force[-1])


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_files_hold_it_all(slid, tmp_path, suffix):
    slid.save(tmp_path / f"run{suffix}")
    again = Trajectory.load(tmp_path / f"run{suffix}")
    for name in ("contact_mode", "contact_force", "contact_pos", "events", "LAMBDA"):
        assert getattr(again, name).tobytes() == getattr(slid, name).tobytes(), name
    np.testing.assert_array_equal(again.centre_of_pressure("crate"), slid.centre_of_pressure("crate"))


def test_streamed_runs_hold_the_same(slid, tmp_path):
    q0 = [0.0, 0.0, HEIGHT + 0.01, 1.0, 0.0, 0.0, 0.0]
    t = saltus.simulate(BOX, 0.0, 1.5, 0.01, q0, [1.0, 0, 0, 0, 0, 0], save=tmp_path / "run.zarr")
    for name in ("qpos", "contact_mode", "contact_force", "contact_pos"):
        np.testing.assert_array_equal(getattr(t, name), getattr(slid, name))
    assert t.events.tobytes() == slid.events.tobytes()


# ---------------------------------------------------------------- other laws of contact

AT_REST = f"""<mujoco><option timestep="0.002" gravity="0 0 -{G}" cone="{{cone}}"/><worldbody>
<geom name="floor" type="plane" size="5 5 1"/><body name="crate" pos="0.3 -0.2 {HEIGHT}"><freejoint/>
<geom name="box" type="box" size="0.2 0.15 {HEIGHT}" mass="{MASS}"/></body></worldbody></mujoco>"""


def spring(m, d, gap, velocity):
    """A frictionless damped spring that sinks in by 0.2 mm under the crate, critically damped."""
    return -2.5e4 * gap - 220.0 * velocity[0], 0.0, 0.0


@pytest.mark.parametrize(
    ("settings", "tolerance"),
    [
        ({"integrator": "moreau_jean", "contact": "hard"}, 1e-9),
        ({"integrator": "moreau_jean", "contact": "hard", "timestep": 0.01}, 1e-9),
        ({"contact": "hard"}, 1e-9),
        ({"contact": "soft"}, 1e-6),
        ({"contact": saltus.Compliant(spring)}, 1e-6),
    ],
)
def test_a_crate_at_rest_has_its_weight_under_its_centre(settings, tolerance):
    """Under each law: four corners closed and sticking, their forces m g upwards, the pressure under the centre.

    Soft laws sink in; what is left of that motion after 2 s, with time constants of 0.02 s, is far below 1e-6.
    """
    t = saltus.Simulation(AT_REST.format(cone="elliptic"), **settings).run(2.0, 0.1)
    assert t.names["contact"] == [f"floor box.{k}" for k in range(8)]
    assert t.attrs["contact_bodies"] == [["world", "crate"]] * 8
    assert t.CONTACTSTATE.shape == (8, 21) and t.LAMBDA.shape == (24, 21)
    assert t.CONTACTSTATE[:4, 1:].all() and not t.CONTACTSTATE[4:].any()
    assert (t.contact_mode[1:, :4] == 1).all()
    weight = MASS * G
    np.testing.assert_allclose(t.LAMBDA[16:, -1].sum(), weight, rtol=tolerance)
    # corners may pull at each other: friction alone does not say how they share what is nothing in all
    np.testing.assert_allclose(t.contact_force[-1, :, :2].sum(axis=0), 0.0, atol=tolerance * weight)
    np.testing.assert_allclose(t.centre_of_pressure("crate")[-1, :2], [0.3, -0.2], atol=tolerance)
    assert np.isnan(t.contact_pos[:, 4:]).all()
    corners = t.contact_pos[-1, :4, :2] - [0.3, -0.2]
    np.testing.assert_allclose(corners, [[-0.2, -0.15], [0.2, -0.15], [-0.2, 0.15], [0.2, 0.15]], atol=1e-9)


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_soft_contacts_slip_where_friction_is_at_its_bound(cone):
    """Pulled along x by 0.35 g with μ = 0.3 the crate slips, with friction μ times the normal force; at 0.1 g it
    sticks. Under pyramids the bound is that of the sum of both tangents, of which one is along x.
    """
    crate = AT_REST.format(cone=cone).replace('size="5 5 1"', f'size="5 5 1" friction="{MU}"')
    crate = crate.replace('type="box"', f'type="box" friction="{MU}"')
    for pull, mode in ((0.35, 2), (0.1, 1)):
        t = saltus.Simulation(crate.replace('gravity="0 0', f'gravity="{pull * G} 0')).run(0.1, 0.02)
        assert (t.contact_mode[1:, :4] == mode).all()
        total = t.contact_force[1:].sum(axis=1)
        if mode == 2:
            np.testing.assert_allclose(total[:, 0], -MU * total[:, 2], rtol=1e-6)
        else:
            assert (abs(total[:, 0]) < 0.9 * MU * total[:, 2]).all()


def test_forces_of_samples_belong_to_the_sampled_state():
    """Newton's law at each sample: m a = m g + contact force, under the soft law; and looking changes nothing."""
    text = AT_REST.format(cone="elliptic").replace(f'{HEIGHT}"><freejoint', f'{HEIGHT + 0.01}"><freejoint')
    sim = saltus.Simulation(text)
    t = sim.run(0.2, 0.002)
    assert t.contact_state.any() and not t.contact_state[0].any()
    again = saltus.Simulation(text)
    for k in range(1, len(t)):
        again.step()
        np.testing.assert_array_equal(again.qpos, t.qpos[k])
        force = t.contact_force[k].sum(axis=0)
        np.testing.assert_allclose(again.data.qacc[:3], force / MASS - [0, 0, G], atol=1e-9 * max(abs(force).max(), G))


def test_too_many_points_leave_pairs():
    """A recording says why it has no forces, and which pairs touch as before."""
    size = 24  # balls; each two may touch, and each the floor
    balls = "".join(
        f'<body pos="{k % 6} {k // 6} 0.1"><freejoint/><geom name="b{k}" type="box" size=".1 .1 .1"/></body>'
        for k in range(size)
    )
    text = f'<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>{balls}</worldbody></mujoco>'
    for settings in ({}, {"integrator": "moreau_jean", "contact": "hard"}):
        t = saltus.Simulation(text, **settings).run(0.05, 0.05)
        assert t.contact_state.shape[1] == size * (size + 1) // 2 == len(t.names["contact"])
        assert t.contact_state[-1].sum() == size and t.contact_mode.shape[1] == 0
        with pytest.raises(OptionError, match="exceed the limit of 1000"):
            _ = t.LAMBDA


BALL = f"""<mujoco><option timestep="0.01" gravity="0 0 -{G}"/><worldbody><geom name="floor" type="plane" size="5 5 1"/>
<body name="ball" pos="0 0 0.3"><joint type="slide" axis="0 0 1"/>
<geom name="ball" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
BOUNCY = saltus.Hard(restitution=0.8)


def bounces(until, drop=0.2, e=0.8):
    """Times of the impacts: the first after the fall, each flight e times the one before."""
    first = np.sqrt(2 * drop / G)
    times = first + 2 * first * np.cumsum([0.0, *(e ** np.arange(1, 30))])
    return times[times < until]


@pytest.mark.parametrize("control", [None, lambda sim: []])
def test_events_are_recorded_once(control):
    """However samples lie: between steps, where they are looked at in advance, or windows that are taken again."""
    t = saltus.simulate(BALL, 0.0, 1.0, 0.0033, [0.0], [0.0], contact=BOUNCY, control=control)
    np.testing.assert_allclose(t.events["time"], bounces(1.0), rtol=1e-12)
    assert set(t.events["kind"]) == {"impact"}


def test_a_streamed_run_that_is_cut_short_goes_on(tmp_path, monkeypatch):
    """With its law, its events and its contact points, bit for bit; windows of samples are short here."""
    from saltus.record.io import stream

    class Cut(Exception):
        """The end of a process."""

    def cut(done):
        if done > 0.6:
            raise Cut

    monkeypatch.setattr(stream, "SECONDS", 0.0)
    monkeypatch.setattr("saltus.simulate.running.adaptive_run.WINDOW", 16)
    whole = saltus.simulate(BALL, 0.0, 2.5, 0.01, [0.0], [0.0], contact=BOUNCY)
    with pytest.raises(Cut):
        saltus.simulate(BALL, 0.0, 2.5, 0.01, [0.0], [0.0], contact=BOUNCY, progress=cut, save=tmp_path / "run.zarr")
    assert 0 < len(Trajectory.load(tmp_path / "run.zarr")) < len(whole)
    t = saltus.resume(tmp_path / "run.zarr")
    for name in ("qpos", "qvel", "contact_mode", "contact_force", "contact_pos"):
        np.testing.assert_array_equal(getattr(t, name), getattr(whole, name))
    assert t.events.tobytes() == whole.events.tobytes() and "zeno" in t.events["kind"]
    assert t.contact_mode[-1, 0] == 1 and t.contact_force[-1, 0, 2] == pytest.approx(G)
