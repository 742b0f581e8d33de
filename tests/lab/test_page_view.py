"""The page's view beside the motion: the model's cameras, axes, distances, pictures, the state as text.

References: MuJoCo's kinematics of the same state (`mj_kinematics`, `mj_camlight`); places in the model's file. Frames
carry 32-bit numbers.
"""

import io

import mujoco
import numpy as np
import pytest
from helpers.browser import LabPage
from helpers.lab import page as client_of
from PIL import Image

import saltus
from saltus import lab

MODEL = """
<mujoco model="things"><option timestep="0.002"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <camera name="standing" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" fovy="50"/>
    <camera name="flat" pos="0 -3 1" xyaxes="1 0 0 0 0 1" projection="orthographic" fovy="2"/>
    <camera name="sensor" pos="0 -3 1" xyaxes="1 0 0 0 0 1" resolution="20 10" sensorsize="0.02 0.01"
      focal="0.02 0.02"/>
    <camera name="aimed" mode="targetbody" target="ball" pos="1 -3 1"/>
    <body name="ball" pos="0 0 .0999"><freejoint/><geom name="ball" size=".1" mass="1" rgba="1 0 0 1"/>
      <camera name="along" mode="trackcom" pos="0 -2 .5" xyaxes="1 0 0 0 .3 1"/></body>
    <body name="arm" pos=".5 0 1"><joint name="one" axis="0 1 0"/><joint name="two" axis="1 0 0" pos="0 0 -.1"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0" conaffinity="0"/>
      <camera name="riding" pos=".4 0 .1" xyaxes="0 -1 0 0 0 1"/></body>
  </worldbody>
</mujoco>"""
CAMERAS = ["standing", "flat", "sensor", "aimed", "along", "riding"]


@pytest.fixture(scope="module")
def opened():
    sim = saltus.Simulation(saltus.load(MODEL))
    sim.qpos[7:] = [0.6, -0.9]
    sim.qvel[0] = 0.5
    with lab.open(sim, browser=False, playing=False) as it:
        yield it


@pytest.fixture(scope="module")
def tab(browser, opened):
    page = LabPage(browser, opened.url, 820, 520, accept_downloads=True)
    page.opened()
    page.until("!lab.status.building", 300)
    page.unfolded("view-section")
    yield page
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


@pytest.fixture
def things(tab):
    """The page by hand again, without anything drawn over it."""
    tab.tab.select_option("#camera", "")
    for id in ("show-normals", "show-joints", "show-frames", "show-contacts"):
        tab.tab.locator(f"#{id}").set_checked(False)
    tab.tab.click("#home")
    return tab


def placed(opened):
    """MuJoCo's data at the session's state."""
    model = opened._stage.session.sim.model.mujoco
    data = mujoco.MjData(model)
    data.qpos[:] = opened._stage.session.sim.qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)
    return data


# ---------------------------------------------------------------- cameras


@pytest.mark.slow
@pytest.mark.parametrize("name", CAMERAS)
def test_the_view_is_the_models_camera_and_goes_along(things, opened, name):
    """At two states of the motion; an orthographic camera looks from far behind, where the same height is seen."""
    things.tab.select_option("#camera", label=name)
    for _ in range(2):
        data, k = placed(opened), CAMERAS.index(name)
        _, up, back = data.cam_xmat[k].reshape(3, 3).T
        away = 0.0
        seen = things.get("lab.camera")
        if name == "flat":
            away = (np.array(seen["position"]) - data.cam_xpos[k]) @ back
            height = 2 * away * np.tan(np.radians(seen["fovy"]) / 2)
            assert away > 50 and height == pytest.approx(2.0, rel=1e-5)
        fovy = {"standing": 50.0, "sensor": np.degrees(2 * np.arctan(0.25))}.get(name, 45.0)
        assert name == "flat" or seen["fovy"] == pytest.approx(fovy)
        np.testing.assert_allclose(seen["position"], data.cam_xpos[k] + away * back, atol=1e-4)
        np.testing.assert_allclose(seen["forward"], -back, atol=1e-5)
        np.testing.assert_allclose(seen["up"], up, atol=1e-5)
        time = things.get("lab.frame.time")
        for _ in range(20):
            things.tab.click("#step")
        things.until(f"lab.frame.time > {time + 0.039}")


@pytest.mark.slow
def test_who_turns_the_view_has_the_camera_in_hand_where_it_was(things):
    things.tab.select_option("#camera", label="standing")
    before = things.get("lab.camera")
    things.tab.locator("#canvas").focus()
    things.tab.keyboard.press("ArrowLeft")
    things.wait(lambda: things.tab.locator("#camera").input_value() == "")
    after = things.get("lab.camera")
    assert np.dot(before["forward"], after["forward"]) == pytest.approx(np.cos(np.radians(4.0)), abs=2e-3)
    assert after["position"] != before["position"]


def test_frames_say_where_cameras_and_joints_are(opened):
    """The first of two hinges of a body does not turn with the second."""
    with client_of(opened) as client:
        client.until(lambda: client.frame is not None and len(client.frame["axes"]), 200.0)  # contacts, once compiled
        data = placed(opened)
        assert [camera["name"] for camera in client.scene["cameras"]] == CAMERAS
        np.testing.assert_allclose(client.frame["cameras"][:, :3], data.cam_xpos, atol=1e-5)
        assert [(joint["name"], joint["kind"]) for joint in client.scene["joints"][1:]] == [
            ("one", "hinge"),
            ("two", "hinge"),
        ]
        np.testing.assert_allclose(client.frame["joints"], np.hstack([data.xanchor, data.xaxis]), atol=1e-5)
        (axes,) = client.frame["axes"]
        np.testing.assert_allclose(axes[:3], [0, 0, 1], atol=1e-6)  # the floor's normal
        assert np.linalg.norm(axes[3:]) == pytest.approx(1.0, abs=1e-6) and axes[5] == pytest.approx(0, abs=1e-6)


# ---------------------------------------------------------------- axes


def shot(page):
    return np.asarray(Image.open(io.BytesIO(page.tab.locator("#canvas").screenshot())).convert("RGB")).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("toggle", ["show-joints", "show-frames", "show-normals"])
def test_axes_are_drawn_and_go_again(things, toggle):
    """Something else is seen where they are; without them it is as it was."""
    things.tab.wait_for_timeout(700)  # drawn as finely as it gets
    bare = shot(things)
    things.tab.locator(f"#{toggle}").check()
    things.tab.wait_for_timeout(700)
    marked = shot(things)
    changed = np.abs(marked - bare).max(axis=2) > 40
    assert 30 < changed.sum() < 0.05 * changed.size
    things.tab.locator(f"#{toggle}").uncheck()
    things.tab.wait_for_timeout(700)
    assert (np.abs(shot(things) - bare).max(axis=2) > 40).sum() < 5


# ---------------------------------------------------------------- the ruler


@pytest.mark.slow
def test_a_distance_between_two_points_that_are_clicked(things):
    """The middles of the arm's end and of the ball, as the model has them; bodies are not pulled by the clicks."""
    things.tab.click("#ruler")
    label = things.tab.locator("#ruler-label")
    assert "first point" in label.inner_text()
    places = {"ball": (0, 0, 0), "arm": (0.4, 0, 0)}
    bodies = things.get("lab.frame.bodies[0]")
    where = []
    for name, point in places.items():
        x, y = things.get(f"Object.values(lab.project('{name}', {list(point)}))")
        things.tab.mouse.click(x, y)
        pose = np.array(bodies).reshape(-1, 7)[1 if name == "ball" else 2]
        where.append(pose[:3] + rotated(pose[3:], point))
    things.until("lab.measured !== null")
    # the surfaces that are clicked lie in front of the middles, by the radii at most
    assert things.get("lab.measured") == pytest.approx(np.linalg.norm(where[0] - where[1]), abs=0.13)
    assert float(label.inner_text().split()[0]) == pytest.approx(things.get("lab.measured"), rel=1e-3)
    assert things.get("lab.frame.bodies[0]") == bodies
    things.tab.click("#ruler")
    assert not label.is_visible() and things.get("lab.measured") is None


def rotated(quat, vector):
    out = np.zeros(3)
    mujoco.mju_rotVecQuat(out, np.array(vector, float), np.array(quat, float))
    return out


# ---------------------------------------------------------------- to take along


def test_a_screenshot_is_the_view(things, tmp_path):
    with things.tab.expect_download() as download:
        things.tab.click("#picture")
    name = download.value.suggested_filename
    assert name.startswith("things-") and name.endswith("s.png")
    download.value.save_as(tmp_path / "view.png")
    image = np.asarray(Image.open(tmp_path / "view.png").convert("RGB")).astype(int)
    box = things.tab.locator("#canvas").bounding_box()
    assert image.shape[1] / image.shape[0] == pytest.approx(box["width"] / box["height"], rel=0.02)
    x, y = things.get("Object.values(lab.project('ball'))")
    scale = image.shape[1] / box["width"]
    red, green, blue = image[int((y - box["y"]) * scale), int((x - box["x"]) * scale)]
    assert red > 1.5 * max(green, blue)


@pytest.mark.slow
def test_the_state_is_text_that_gives_the_same_state(browser, opened):
    page = LabPage(browser, opened.url, 820, 520, permissions=["clipboard-read", "clipboard-write"]).opened()
    page.unfolded("view-section").locator("#copy-state").click()  # also of one who only watches
    page.wait(lambda: "clipboard" in page.tab.inner_text("#toasts"))
    text = page.tab.evaluate("navigator.clipboard.readText()")
    shown, sim = opened._stage.session.sim, saltus.Simulation(saltus.load(MODEL))
    exec(text, {"sim": sim})
    for name in ("time", "qpos", "qvel", "act", "mocap_pos"):
        np.testing.assert_array_equal(getattr(sim, name), getattr(shown, name))
    page.close()


def test_where_the_browser_does_not_let_it_the_state_is_shown(things, opened):
    things.tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    things.tab.click("#copy-state")
    things.wait(things.tab.locator("#state").is_visible)
    assert "sim.qpos[:] = [" in things.tab.locator("#state-text").input_value()
    things.tab.click("#state-close")


# ---------------------------------------------------------------- following


@pytest.mark.slow
def test_a_figure_that_falls_stays_in_view(browser):
    """The chest of the humanoid, thrown sideways at 3 m/s, is in the middle of the view all the time."""
    sim = saltus.Simulation("humanoid")
    sim.qvel[:3] = [3.0, 2.0, 1.0]
    with lab.open(sim, browser=False, playing=False) as opened:
        page = LabPage(browser, opened.url, 820, 520).opened()
        page.until("!lab.status.building", 400)
        page.unfolded("view-section")
        page.tab.select_option("#follow", "chest")
        page.until("lab.status.follow === 'chest'")
        page.tab.click("#play")
        began, moved = page.get("lab.frame.bodies[0].slice(14, 17)"), 0.0
        box = page.tab.locator("#canvas").bounding_box()
        covered = page.tab.locator("#hud").bounding_box()
        middle = (0.5 * (box["x"] + covered["x"] + covered["width"] + box["x"] + box["width"]), box["height"] / 2)
        while moved < 2.0:
            page.tab.wait_for_timeout(100)
            (x, y), at = page.get("[Object.values(lab.project('chest')), lab.frame.bodies[0].slice(14, 17)]")
            moved = np.linalg.norm(np.subtract(at, began))
            assert abs(x - middle[0]) < 60 and abs(y - box["y"] - middle[1]) < 40
            assert page.get("lab.frame.time") < 20
        page.close()
