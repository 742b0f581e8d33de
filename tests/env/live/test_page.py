"""A policy in the lab's page: it holds a pendulum, its input is set, and the mouse pushes it.

Reference: statics. The policy's torque is T (1/2 - θ'), T being the largest, so that the pendulum of m = 2 kg and
l = 2 m comes to rest at sin θ = T / (2 m g l); the page shows numbers with three digits or more.
"""

import numpy as np
import pytest
from helpers.browser import LabPage

import saltus.env
from saltus.env import Policy, term
from saltus.env.bundled.swing_up import PendulumSwingUp

TORQUE = 10.0


@term
def hanging(m, d, e):
    d.qpos[0] = 0.0
    d.qvel[0] = 0.0


class Held(PendulumSwingUp):
    reset = hanging
    inputs = {"largest_torque": ("largest torque", 0.0, 30.0, "N m")}


def rest(torque):
    """The angle at which it comes to rest."""
    return float(np.arcsin(torque / (2.0 * 2.0 * 9.81 * 2.0)))


@pytest.fixture(scope="module")
def page(tmp_path_factory, browser):
    path = tmp_path_factory.mktemp("policy") / "held.npz"
    Policy([[[0.0, 0.0, -1.0]]], [[0.5]], low=-1.0, high=1.0).save(path)
    with saltus.env.play(Held, path, max_episode_steps=None, browser=False) as view:
        made = LabPage(browser, view.url, 900, 640).opened()
        made.until("!lab.status.building", 200)
        made.speed(4)
        yield made
        assert made.complaints == [] and made.get("lab.error") is None
        made.close()


def settles(page, torque):
    near = f"Math.abs(lab.status.sliders['qpos[theta]'] - {rest(torque)}) < 0.002"
    page.until(near, 60)
    page.tab.wait_for_timeout(300)  # more than a second of its time
    page.until(near, 60)


@pytest.mark.slow
def test_the_policy_acts_and_its_input_is_set(page):
    settles(page, TORQUE)
    assert page.hud()["Policy: active"][0].startswith("episode 1, step ")
    assert page.get("lab.signals.chosen")[:2] == ["reward", "input[largest torque]"]
    assert page.tab.locator("details[data-group=input]").get_attribute("open") is not None
    page.slide("largest_torque[0]", 30.0)
    settles(page, 30.0)
    page.press("x")
    settles(page, TORQUE)
    page.press("c")
    page.until("lab.status.sliders['qpos[theta]'] < -0.1")  # it swings freely
    assert "Policy: disabled" in page.hud()
    page.press("c")


@pytest.mark.slow
def test_the_mouse_pushes_it_and_the_policy_brings_it_back(page):
    settles(page, TORQUE)
    angle = rest(TORQUE)
    start = np.array(page.get(f"Object.values(lab.project(0, [{2 * np.sin(angle)}, 0, {-2 * np.cos(angle)}]))"))
    page.tab.mouse.move(*start)
    page.tab.mouse.down()
    page.tab.mouse.move(*(start + [90, -40]), steps=5)
    page.until(f"lab.status.sliders['qpos[theta]'] > {angle} + 0.2")
    page.tab.mouse.up()
    settles(page, TORQUE)


@pytest.mark.slow
def test_a_reset_begins_another_episode(page):
    before = int(page.hud()["Policy: active"][0].split()[1].rstrip(","))
    page.tab.click("#reset")
    page.until(f"lab.hud.includes('episode {before + 1},') && lab.status.time < 5")
    assert "last episode = " in page.hud()["Policy: active"][2]
