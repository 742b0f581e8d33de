"""When the frames of a film are, and what they show."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import saltus
from saltus.errors import OptionError
from saltus.model.event_enums import NO_MODE
from saltus.record.film.frames import Film, frame_count, frame_rate


@pytest.fixture(scope="module")
def swing():
    return saltus.Simulation("pendulum", "rk4", timestep=0.01).run(1.0, sample=0.05)


@pytest.mark.parametrize(
    ("duration", "rate", "speed", "count"),
    [
        (5.0, 60, 1.0, 300),
        (0.1 * 3, 10, 1.0, 3),  # 0.30000000000000004
        (300 * (1 / 60), 60, 1.0, 300),
        (5.001, 60, 1.0, 301),
        (1.0, 24, 1.0, 24),
        (1.01, 24, 1.0, 25),
        (10.0, Fraction(30000, 1001), 1.0, 300),  # 299.7
        (5.0, 60, 2.0, 150),
        (5.0, 60, 0.1, 3000),
        (0.0, 60, 1.0, 1),
        (86_400.0, 60, 1.0, 5_184_000),
    ],
)
def test_the_count_is_the_ceiling_of_duration_times_rate(duration, rate, speed, count):
    assert frame_count(duration, Fraction(rate), speed) == count


@pytest.mark.slow
@pytest.mark.parametrize("sample", [1 / 60, 0.07, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("integrator", ["rk4", "dopri5"])
def test_the_count_does_not_depend_on_step_or_sampling(sample, integrator):
    for step in (0.01, 0.03):
        t = saltus.Simulation("pendulum", integrator, timestep=step).run(2.0, sample=sample)
        assert Film.of(t, 60).count == 120


@pytest.mark.slow
def test_the_last_frame_of_a_coarse_recording_is_on_its_way_to_the_end():
    """Samples at 0, 0.7, 1.4 s, and the end of the run at 2 s, which the frames after 1.4 s go towards."""
    t = saltus.Simulation("pendulum", "rk4", timestep=0.01).run(2.0, sample=0.7)
    assert t.end is not None and t.end["time"] == pytest.approx(2.0)
    *_, (last, _, _) = Film.of(t, 10).moments()
    share = (1.9 - 1.4) / 0.6
    assert_allclose(last.qpos, (1 - share) * t.qpos[-1] + share * t.end["qpos"], rtol=1e-9)


@pytest.mark.parametrize(
    ("fps", "rate"),
    [(60, 60), (24.0, 24), (29.97, Fraction(2997, 100)), (Fraction(30000, 1001), Fraction(30000, 1001))],
)
def test_rates(fps, rate):
    assert frame_rate(fps) == rate


@pytest.mark.parametrize("fps", [0, -1, "fast", None, float("nan"), float("inf"), 1e6, True])
def test_what_is_no_rate(fps):
    with pytest.raises(OptionError, match="fps must be"):
        frame_rate(fps)


def test_frames_are_at_exact_times(swing):
    film = Film.of(swing, 30, speed=0.5)
    assert film.count == 60
    assert_allclose(film.times(range(60)), np.arange(60) / 30 * 0.5, rtol=1e-15)
    stills = [still.qpos[0] for still, _, _ in film.moments()]
    assert_allclose(stills, np.interp(np.arange(60) / 60, swing.time, swing.qpos[:, 0]), rtol=0, atol=1e-12)


def test_frames_at_samples_are_the_samples(swing):
    stills = [still.qpos for still, _, _ in Film.of(swing, 20).moments()]
    assert_array_equal(stills, swing.qpos[:20])


def test_captions(swing):
    texts = [text for _, _, text in Film.of(swing, 4).moments()]
    assert texts == [f"t = {t:.2f} s   rk4, h = 0.01 s" for t in (0.0, 0.25, 0.5, 0.75)]
    assert next(Film.of(swing, text="swing").moments())[2] == "swing   t = 0.00 s   rk4, h = 0.01 s"
    assert next(Film.of(swing, text=False).moments())[2] == ""
    free = saltus.Simulation("pendulum", "dopri5").run(0.1)
    assert next(Film.of(free).moments())[2] == "t = 0.00 s   dopri5"  # whose steps have no one length


def test_ghosts_are_at_the_same_time(swing):
    ghost = saltus.Simulation("pendulum", "euler").run(0.5, sample=0.05)
    moments = list(Film.of(swing, 20, ghosts=[ghost]).moments())
    assert_array_equal([g[0].qpos for _, g, _ in moments[:11]], ghost.qpos)
    assert_array_equal(moments[-1][1][0].qpos, ghost.qpos[-1])  # it stays where it ended


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"speed": 0}, "speed must be positive"),
        ({"speed": float("nan")}, "speed must be positive"),
        ({"renderer": "vulkan"}, "unknown renderer 'vulkan'"),
        ({"text": 3}, "text must be"),
        ({"widht": 3}, "unknown option of a picture 'widht'"),
        ({"camera": 3.5}, "camera must be"),
    ],
)
def test_bad_options(swing, options, said):
    with pytest.raises(OptionError, match=said):
        Film.of(swing, **options)


def test_a_ghost_of_another_model(swing):
    with pytest.raises(OptionError, match=r"a ghost has 2 positions.*needs 1"):
        Film.of(swing, ghosts=[saltus.Simulation("double_pendulum").run(0.1)])


@pytest.mark.slow
def test_contacts_are_those_of_the_state():
    """A ball at rest on the floor: one contact that carries its weight, 1 kg times 9.81 m/s²."""
    sim = saltus.Simulation("bouncing_ball")
    sim.reset("resting")
    film = Film.of(sim.run(0.1), contacts=True)
    for still, _, _ in film.moments():
        assert still.contacts.shape == (1, 8)
        assert_allclose(still.contacts[0, 3:6], [0, 0, 9.81], rtol=0, atol=1e-6)
        assert_allclose(still.contacts[0, 6], -1.962e-4, rtol=1e-4)
        assert still.contacts[0, 7] == NO_MODE  # soft contact neither sticks nor slips
    assert next(Film.of(sim.run(0.1)).moments())[0].contacts is None


@pytest.mark.slow
def test_pictures_that_are_not_wanted_are_not_drawn(swing):
    pictures = Film.of(swing, 60, width=64, height=48).pictures()
    assert next(pictures).shape == (48, 64, 3)
    pictures.close()
