"""A planner in the loop, on the page: its plan is drawn and can be hidden, it can be switched off and given a goal.

Reference: the lines' first points, which are where the body is; states that the session tells.
"""

import pytest
from helpers.browser import LabPage
from helpers.lab import SLIDE

import saltus
from saltus import lab


def distance(batch):
    return (batch.qpos[:, 0] - 0.1) ** 2 + 0.05 * batch.qvel[:, 0] ** 2


@pytest.mark.slow
def test_a_plan_is_drawn_hidden_and_switched_off(browser):
    sim = saltus.Simulation(SLIDE, "euler")
    how = {"noise": 5.0, "temperature": 0.05, "samples": 16, "hold": 5, "every": 4, "threads": 1}
    planner = saltus.mppi(sim, distance, 40, **how)
    with lab.open(sim, control=planner, browser=False) as opened:
        page = LabPage(browser, opened.url, 900, 600).opened()
        page.until("lab.drawings.length > 0 && lab.status.time > 0.5", 120)
        page.pause()
        points = page.get("lab.drawings[0].points")
        assert abs(points[0] - page.state()["qpos"][0]) < 0.2
        assert "Planner: active" in page.hud()
        page.tab.get_by_role("button", name="Plan", exact=True).click()
        page.until("lab.status.plan === false && lab.drawings.length === 0")
        page.press("p")
        page.until("lab.status.plan === true && lab.drawings.length > 0")
        page.play()
        page.press("c")
        page.until("lab.status.servo === false && lab.drawings.length === 0")
        page.tab.click("#reset")
        page.until("lab.status.time < 0.5 && lab.status.servo === false")
        assert page.complaints == [] and page.get("lab.error") is None
        page.close()


@pytest.mark.slow
def test_a_humanoid_is_told_to_walk(browser):
    """Its goal is moved by a key and seen in the sliders; the view follows it; its plan is drawn."""
    with lab.open("humanoid_mppi", browser=False) as opened:
        page = LabPage(browser, opened.url, 900, 600).opened()
        page.until("lab.drawings.length > 0 && lab.status.time > 0.1", 240)
        assert page.get("lab.status.follow") == "pelvis"
        page.press("w")
        page.until("lab.status.walking === true && lab.status.sliders['walking speed'] === 0.7")
        page.slide("walking speed", 0.0)
        page.until("lab.status.walking === false")
        page.press("q")
        page.until("lab.status.sliders.heading > 0.1")
        assert "Planner: active" in page.hud()
        assert page.complaints == [] and page.get("lab.error") is None
        page.close()
