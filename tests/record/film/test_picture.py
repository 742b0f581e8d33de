"""Pictures of a recording at a time, and of a simulation as it is."""

import numpy as np
import pytest
from PIL import Image

import saltus
from saltus.errors import OptionError, RecordError

SMALL = {"width": 160, "height": 120}


@pytest.fixture(scope="module")
def swing():
    return saltus.Simulation("pendulum", "rk4", timestep=0.01).run(1.0, sample=0.1)


def pixels(image):
    return np.asarray(image).astype(int)


def test_a_recording_and_a_simulation_show_the_same(swing):
    sim = saltus.Simulation("pendulum")
    sim.qpos[:] = swing.qpos[4]
    np.testing.assert_array_equal(pixels(sim.picture(**SMALL)), pixels(swing.picture(time=0.4, **SMALL)))
    sim.qpos[:] = swing.qpos[-1]
    np.testing.assert_array_equal(pixels(sim.picture(**SMALL)), pixels(swing.picture(**SMALL)))  # the last state
    assert np.abs(pixels(swing.picture(time=0.4, **SMALL)) - pixels(swing.picture(**SMALL))).max() > 50


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_files(swing, tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    image = swing.picture(path, **SMALL)
    again = Image.open(path)
    assert again.size == image.size == (160, 120)
    assert np.abs(pixels(again.convert("RGB")) - pixels(image)).mean() < (0.001 if suffix == ".png" else 4)
    saltus.Simulation("pendulum").picture(tmp_path / f"s{suffix}", **SMALL)
    assert Image.open(tmp_path / f"s{suffix}").size == (160, 120)


def test_mocap_bodies_are_where_they_were():
    model = """<mujoco><default><geom size="0.3" contype="0" conaffinity="0"/></default><worldbody>
      <body name="hand" mocap="true"><geom rgba="1 0 0 1"/></body>
      <body pos="0 0 3"><joint/><geom/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(model)
    sim.mocap_pos[0] = 1.0, 0.0, 0.0
    moved = sim.run(0.02)
    np.testing.assert_array_equal(moved.mocap_pos[:, 0], [[1.0, 0.0, 0.0]] * len(moved))
    assert moved.names["mocap"] == ["hand"]
    np.testing.assert_array_equal(pixels(moved.picture(**SMALL)), pixels(sim.picture(**SMALL)))
    still = saltus.Simulation(model).run(0.02)
    assert np.abs(pixels(moved.picture(**SMALL)) - pixels(still.picture(**SMALL))).max() > 50


@pytest.mark.slow
def test_contacts_of_a_simulation():
    sim = saltus.Simulation("bouncing_ball")
    sim.reset("resting")
    before = sim.snapshot()
    with_contacts, without = (pixels(sim.picture(contacts=c, **SMALL)) for c in (True, False))
    assert np.abs(with_contacts - without).max() > 50
    np.testing.assert_array_equal(sim.snapshot(), before)


def test_bad_arguments(swing, tmp_path):
    with pytest.raises(OptionError, match=r"time must be within the recording, 0 to 1 s, got 1\.5 s"):
        swing.picture(time=1.5)
    with pytest.raises(OptionError, match=r"suffix of a picture.*p\.bmp"):
        swing.picture(tmp_path / "p.bmp")
    with pytest.raises(OptionError, match="unknown option of a picture 'colour'"):
        saltus.Simulation("pendulum").picture(colour="red")
    with pytest.raises(RecordError, match="cannot write picture"):
        swing.picture(tmp_path / "no" / "p.png", **SMALL)
    assert list(tmp_path.iterdir()) == []
