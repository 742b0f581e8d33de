"""Extras that users add to the page: a slider that is moved, a button that is pressed, things that are drawn.

References: the functions' own effects on the simulation; the projection of the points that are drawn.
"""

from io import BytesIO

import numpy as np
import pytest
from helpers.browser import LabPage
from PIL import Image

import saltus
from saltus import lab

HOLD = """
<mujoco><option timestep="0.01" gravity="0 0 0"/><statistic extent="2" center="0 0 0"/>
  <worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor name="motor" joint="x"/></actuator></mujoco>"""


@pytest.fixture(scope="module")
def own():
    """A lab with things of the user's, and what was called."""
    called = []
    with lab.open(saltus.load(HOLD), browser=False, playing=False) as view:
        view.slider("height", 0, 2, value=0.5, unit="m", on_change=lambda sim, value: called.append(("height", value)))
        view.button("Push", lambda sim: called.append(("Push", sim.time)))
        view.button("Fail", lambda sim: 1 / 0)
        view.plot("place", lambda sim: sim.qpos[0], unit="m")
        view.draw(
            lambda sim: [
                lab.sphere([0.18, 0, 0], 0.05, "#ff00ff"),
                lab.line([[-0.3, 0, -0.2], [0, 0, -0.25], [0.3, 0, -0.2]], "#00ff00", width=0.03),
                lab.arrow([-0.3, 0, 0.25], [0.3, 0, 0.25], "#0000ff", width=0.04),
                lab.text([-0.35, 0, 0.1], "here", "#ff0000"),
            ]
        )
        yield view, called


@pytest.fixture(scope="module")
def page(browser, own):
    made = LabPage(browser, own[0].url, 900, 640).opened()
    made.until("lab.drawings.length === 4 && !lab.status.building", 120)
    yield made
    assert made.complaints == [] and made.get("lab.error") is None
    made.close()


@pytest.mark.slow
def test_a_slider_is_moved(page, own):
    page.slide("user[height]", 1.25)
    page.wait(lambda: ("height", 1.25) in own[1])
    page.until("lab.status.sliders['user[height]'] === 1.25")
    track = page.tab.get_by_role("slider", name="height, m")
    track.focus()
    page.tab.keyboard.press("End")
    page.wait(lambda: own[1][-1] == ("height", 2.0))


@pytest.mark.slow
def test_a_button_is_pressed_by_mouse_and_by_keyboard(page, own):
    button = page.tab.get_by_role("button", name="Push")
    button.click()
    page.wait(lambda: [name for name, _ in own[1]].count("Push") == 1)
    button.focus()
    page.tab.keyboard.press("Enter")
    page.wait(lambda: [name for name, _ in own[1]].count("Push") == 2)


@pytest.mark.slow
def test_a_function_that_fails_is_told_and_switched_off(page):
    button = page.tab.locator("#extras button", has_text="Fail")
    button.click()
    page.wait(button.is_disabled)
    assert "button 'Fail': ZeroDivisionError: division by zero (test_page_extras.py, line" in page.tab.inner_text(
        "#toasts"
    )
    page.tab.locator("#toasts button").first.click()


def test_what_is_drawn_is_seen_where_it_is(page):
    """Their colours at the pixels of their points."""
    page.tab.wait_for_timeout(500)
    image = np.asarray(Image.open(BytesIO(page.tab.screenshot())).convert("RGB")).astype(int)

    def at(*point):
        x, y = page.get(f"Object.values(lab.project(0, {list(point)}))")
        return image[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2].mean(axis=(0, 1))

    red, green, blue = at(0.18, 0, 0)
    assert min(red, blue) > green + 60  # magenta
    red, green, blue = at(0, 0, -0.25)
    assert green > max(red, blue) + 60
    red, green, blue = at(0, 0, 0.25)
    assert blue > max(red, green) + 60
    x, y = page.get("Object.values(lab.project(0, [-0.35, 0, 0.1]))")
    words = image[int(y) - 12 : int(y) + 12, int(x) : int(x) + 60]
    assert np.sum(words[..., 0] > words[..., 1] + 80) > 20  # letters in red, to the right of their point


def test_a_plot_of_ones_own_is_drawn_and_can_be_chosen(page):
    page.tab.click("#step")
    page.until("lab.signals.chosen.includes('user[place]') && lab.signals.values['user[place]'].length > 1")
    page.unfolded("choose-signals")
    assert page.tab.locator("[data-signal='user[place]']").is_checked()


@pytest.mark.slow
def test_it_stays_through_a_reset_and_comes_to_every_page(page, browser, own):
    page.tab.click("#reset")
    page.until("lab.frame.time === 0 && lab.drawings.length === 4")
    assert page.tab.get_by_role("button", name="Push").is_enabled()
    other = LabPage(browser, own[0].url, 390, 844).opened()
    other.until("lab.drawings.length === 4")
    assert other.tab.get_by_role("button", name="Push").is_disabled()  # it is watching
    assert other.complaints == []
    other.close()
