"""Touch on the lab's page, phones and tablets, by fingers alone, with the double pendulum and its ghosts.

References: the window's own edges; an arm's reach on the page; the camera's angles and distances from how far the
fingers go; the push's torque that the readings state.
"""

import numpy as np
import pytest
from helpers.touch import TouchPage

import saltus
from saltus import lab

pytestmark = pytest.mark.slow

PHONE = (390, 844)
SIZES = [(360, 640), PHONE, (844, 390), (640, 360), (768, 1024), (1024, 768)]
TURN = 0.35  # degrees a pixel


@pytest.fixture(scope="module")
def opened():
    with lab.open("double_pendulum_ghosts", browser=False, playing=False) as view:
        yield view


@pytest.fixture(scope="module")
def phone(browser, opened):
    page = TouchPage(browser, opened.url, *PHONE).opened()
    page.until("lab.status.ghosts && !lab.status.building", 300)
    yield page
    assert page.complaints == [] and page.get("lab.error") is None
    page.close()


@pytest.fixture
def page(phone):
    """Upright, paused at the start, from the scene's own camera; nothing is folded but the readings."""
    phone.touch()
    if phone.get("lab.status.playing"):
        phone.tab.tap("#play")
        phone.until("!lab.status.playing && !lab.frame.playing")
    phone.insets()
    phone.resize(*PHONE)
    phone.fold("fold", False)
    phone.fold("hud-fold", True)
    phone.tab.evaluate("document.querySelectorAll('#panel details').forEach((part) => { part.open = true; })")
    for close in phone.tab.get_by_role("button", name="Dismiss").all():
        if close.is_visible():
            close.tap()
    phone.tab.tap("#reset")
    phone.tab.tap("#home")
    phone.until("lab.frame.time === 0 && !lab.status.building")
    return phone


def free_middle(page):
    """The middle of what the buttons leave of the view."""
    left, top, width, height = page.box("#canvas")
    taken = top + height - page.box("#actions")[1]
    return left + width / 2, top + (height - (taken if taken > 0.2 * height else 0)) / 2


# ---------------------------------------------------------------- reached


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_everything_is_reached_and_nothing_is_cut(page, size):
    page.resize(*size)
    assert page.unreachable() == []
    page.fold("hud-fold", False)  # over the view, and above the buttons
    assert page.unreachable() == []
    page.fold("fold", True)
    assert page.unreachable() == []
    assert page.box("#canvas")[2] == size[0]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_the_help_fits_and_speaks_of_fingers(page, size):
    page.resize(*size)
    page.tab.tap("#help-button")
    said = page.tab.inner_text("#help")
    assert "Two fingers" in said and "Right button" not in said and "Space" not in said
    assert page.unreachable() == []
    left, top, width, height = page.box("#help")
    assert left >= 0 and top >= 0 and left + width <= size[0] and top + height <= size[1]
    page.tab.tap("#help-close")
    assert not page.tab.is_visible("#help")


@pytest.mark.parametrize(
    ("size", "insets"),
    [(PHONE, {"top": 47, "bottom": 34}), ((844, 390), {"left": 47, "right": 47, "bottom": 21})],
    ids=["upright", "lying"],
)
@pytest.mark.parametrize("folded", [False, True])
def test_nothing_is_under_the_notch_or_the_home_bar(page, size, insets, folded):
    page.resize(*size)
    page.insets(**insets)
    page.fold("fold", folded)
    page.tab.evaluate("document.getElementById('panel').scrollTop = 1e6")
    parts = page.tab.locator(
        "header button:visible, header select, #time, #hud-fold, #actions button, #figures:visible"
    )
    for part in parts.all():
        box = part.bounding_box()
        assert box["x"] >= insets.get("left", 0) and box["x"] + box["width"] <= size[0] - insets.get("right", 0)
        assert box["y"] >= insets.get("top", 0) and box["y"] + box["height"] <= size[1] - insets["bottom"] + 0.5


def test_long_readings_scroll_under_the_finger(page):
    page.fold("hud-fold", False)
    assert page.tab.evaluate(
        "(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.getElementById('hud'))"
    )
    x, y = page.middle("#hud")
    before = page.get("lab.camera")
    page.drag(((x, y + 50), (x, y - 50)))
    page.wait(lambda: page.tab.evaluate("document.getElementById('hud').scrollTop") > 50)
    assert page.get("lab.camera") == before


@pytest.mark.parametrize("size", [(360, 640), (640, 360)], ids=lambda size: "x".join(map(str, size)))
def test_a_divergence_is_read_and_answered(page, size):
    """Both answers of the message are in the view, and the buttons under it stay free."""
    page.resize(*size)
    step = page.get("lab.status.timestep")
    page.tab.fill("#timestep", "0.9")
    page.tab.keyboard.press("Enter")
    page.until("lab.status.timestep === 0.9")
    page.tab.tap("#play")
    halve = page.tab.get_by_role("button", name="Halve the step")
    page.wait(halve.is_visible, 60)
    (toast,) = [made for made in page.tab.locator(".toast").all() if made.is_visible()]
    assert "diverged" in toast.inner_text()
    halve.tap()
    page.until("lab.status.timestep === 0.45")
    assert page.unreachable() == []
    page.tab.fill("#timestep", f"{step:g}")
    page.tab.keyboard.press("Enter")
    page.until(f"lab.status.timestep === {step:g} && !lab.status.building")


# ---------------------------------------------------------------- pressed


def test_a_tap_switches_and_a_held_finger_pushes(page):
    servo, push = (page.tab.get_by_role("button", name=name, exact=True) for name in ("Servo", "Push +"))
    servo.tap()
    page.until("lab.status.servo === true")
    page.wait(lambda: servo.get_attribute("aria-pressed") == "true")
    servo.tap()
    page.until("lab.status.servo === false")
    page.fold("hud-fold", False)
    page.tab.tap("#play")
    box = push.bounding_box()
    place = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.touch(place)
    page.until("lab.hud.includes('u1 = 50.00')")
    page.tab.wait_for_timeout(1200)  # as long as browsers take for a long touch
    page.touch((place[0] + 6, place[1] - 6))
    assert "u1 = 50.00" in page.get("lab.hud")
    page.touch()
    page.until("lab.hud.includes('u1 = 0.00')")


def test_a_slider_follows_its_knob_and_lets_the_panel_scroll(page):
    knob = "document.querySelector('[data-slider] input[type=range]')"
    panel = "document.getElementById('panel').scrollTop"
    page.tab.evaluate(f"{knob}.scrollIntoView({{ block: 'center' }})")
    low, high, value = (float(page.tab.evaluate(f"{knob}.{name}")) for name in ("min", "max", "value"))
    box = page.tab.evaluate(f"(({{ x, y, width, height }}) => [x, y, width, height])({knob}.getBoundingClientRect())")
    travel, middle = box[2] - 40, box[1] + box[3] / 2  # the knob is 40 pixels wide
    at = box[0] + 20 + travel * (value - low) / (high - low)
    before = page.tab.evaluate(panel)
    page.drag(((at + 90, middle), (at + 90, middle - 90)))
    page.wait(lambda: page.tab.evaluate(panel) > before + 50)
    assert float(page.tab.evaluate(f"{knob}.value")) == value
    page.tab.evaluate(f"document.getElementById('panel').scrollTop = {before}")
    page.drag(((at, middle), (at + 60, middle)))
    moved = float(page.tab.evaluate(f"{knob}.value"))
    assert moved == pytest.approx(value + 60 * (high - low) / travel, abs=3 * (high - low) / travel)
    name = page.tab.evaluate(f"{knob}.closest('[data-slider]').dataset.slider")
    page.until(f"Math.abs(lab.status.sliders[{name!r}] - {moved}) < 1e-6")


def test_the_panel_is_a_sheet_with_a_grip(page):
    left, top, width, height = page.box("#panel")
    assert (left, width) == (0, PHONE[0]) and top + height == pytest.approx(PHONE[1], abs=1)
    x, y = page.middle("#grip")
    page.drag(((x, y), (x, y - 100)))
    assert page.box("#panel")[3] == pytest.approx(height + 100, abs=2)
    page.drag(((x, y - 100), (x, y)))
    assert page.box("#panel")[3] == pytest.approx(height, abs=2)
    page.tap(x, y)
    page.wait(lambda: page.box("#panel")[3] > 1.5 * height)
    page.tap(*page.middle("#grip"))
    page.wait(lambda: page.box("#panel")[3] == pytest.approx(height, abs=2))
    page.drag(((x, y), (x, PHONE[1] - 10)))
    assert not page.tab.is_visible("#panel") and not page.tab.is_visible("#grip")
    # the browser may take a tap that comes at once for a part of the drag
    page.wait(lambda: page.tab.is_visible("#panel") or page.tab.tap("#fold"))
    assert page.box("#panel")[3] == pytest.approx(height, abs=2)


# ---------------------------------------------------------------- the view


def test_a_finger_pulls_a_body_that_it_only_nearly_meets(page):
    """The lower link's end is held at 0.8 of the arm's reach under the pivot, the finger 14 pixels beside it."""
    page.fold("fold", True)
    pivot, elbow = page.place("upper", "[0, 0, 0]"), page.place("lower", "[0, 0, 0]")
    end = page.place("lower", "[0, 0, -2]")
    reach = np.hypot(*np.subtract(elbow, pivot)) + np.hypot(*np.subtract(end, elbow))
    goal = (pivot[0], pivot[1] + 0.8 * reach)
    before = page.get("lab.camera")
    page.drag(((end[0] + 14, end[1]), (goal[0] + 14, goal[1])), lift=False)
    page.tab.keyboard.press("Space")  # other fingers would let go of it
    page.until("lab.status.playing")
    away = f"Math.hypot(lab.project('lower', [0, 0, -2]).x - {goal[0]}, lab.project('lower', [0, 0, -2]).y - {goal[1]})"
    page.until(f"lab.frame.time > 2 && {away} < 10")
    assert page.get("lab.camera") == before
    held = "document.getElementById('canvas').classList.contains('pulling')"
    assert page.tab.evaluate(held)
    page.touch((goal[0] + 14, goal[1]), (goal[0] + 100, goal[1] - 100))
    assert not page.tab.evaluate(held)
    page.touch()


def test_a_finger_beside_the_bodies_turns_the_camera(page):
    left, top, width, _ = page.box("#canvas")
    start = (left + width - 40, top + 60)
    before, at = page.get("lab.camera.forward"), page.get("lab.frame.time")
    page.drag((start, (start[0] - 60, start[1] + 40)))
    after = page.get("lab.camera.forward")
    azimuth, elevation = ((np.arctan2(y, x), np.arcsin(z)) for x, y, z in (before, after))
    turned = np.degrees(np.subtract(elevation, azimuth))
    np.testing.assert_allclose(turned, [TURN * 60, -TURN * 40], atol=1e-6)
    assert page.get("lab.frame.time") == at


def test_two_fingers_zoom_by_how_far_they_part(page):
    """Twice as far apart, half the distance from what is looked at; the page itself stays as large as it is."""
    x, y = free_middle(page)
    apart = [((x - 50, y), (x - 100, y)), ((x + 50, y), (x + 100, y))]
    places = [np.array(page.get("lab.camera.position"))]
    forward = page.get("lab.camera.forward")
    for _ in range(2):
        page.drag(*apart)
        places.append(np.array(page.get("lab.camera.position")))
    first, second = np.diff(places, axis=0)
    assert first @ forward == pytest.approx(np.linalg.norm(first), rel=1e-4) and first @ forward > 0
    assert np.linalg.norm(second) == pytest.approx(0.5 * np.linalg.norm(first), rel=1e-3)
    assert page.get("lab.camera.forward") == pytest.approx(forward)
    page.drag(*[(b, a) for a, b in apart])
    page.drag(*[(b, a) for a, b in apart])
    assert np.linalg.norm(page.get("lab.camera.position") - places[0]) < 0.02 * np.linalg.norm(first)


def test_two_fingers_move_the_camera_with_them(page):
    pivot = np.array(page.place("upper", "[0, 0, 0]"))
    x, y = free_middle(page)
    page.drag(((x - 50, y), (x - 10, y - 30)), ((x + 50, y), (x + 90, y - 30)))
    np.testing.assert_allclose(page.place("upper", "[0, 0, 0]") - pivot, [40, -30], atol=2)


def test_a_double_tap_looks_at_the_point_and_a_single_one_does_not(page):
    end = page.place("lower", "[0, 0, -2]")
    page.tap(*end)
    page.tab.wait_for_timeout(600)
    assert page.place("lower", "[0, 0, -2]") == pytest.approx(end, abs=0.1)
    page.tap(*end)
    page.tab.wait_for_timeout(60)
    page.tap(*end)
    middle = free_middle(page)
    page.wait(lambda: page.place("lower", "[0, 0, -2]") == pytest.approx(middle, abs=8))


def test_neither_pinches_nor_double_taps_zoom_or_scroll_the_page(page):
    whole = "[visualViewport.scale, visualViewport.offsetLeft, visualViewport.offsetTop, scrollX, scrollY]"
    for place in (page.middle("header"), page.middle("#panel"), page.middle("#actions")):
        (x, y) = place
        page.drag(((x - 20, y), (x - 120, y)), ((x + 20, y), (x + 120, y)))
        for _ in range(2):
            page.tap(x, y + 3)
        page.drag(((x + 150, y - 10), (x - 150, y + 20)))
        page.tab.wait_for_timeout(400)
        assert page.tab.evaluate(whole) == [1, 0, 0, 0, 0]


# ---------------------------------------------------------------- other pages


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_one_who_watches_reaches_everything(browser, opened, page, size):
    other = TouchPage(browser, opened.url, *size).opened()
    assert other.get("lab.role") == "viewer"
    other.until("document.getElementById('actions').disabled")
    assert other.unreachable() == []
    other.close()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_a_recording_is_wound_by_a_finger(browser, size):
    trajectory = saltus.Simulation("pendulum", timestep=0.01).run(4.0)
    with lab.open(trajectory, browser=False, playing=False) as view:
        page = TouchPage(browser, view.url, *size).opened()
        page.tab.wait_for_timeout(300)
        assert page.unreachable() == []
        left, top, width, height = page.box("#seek")
        knob = 20 + (width - 40) / 4  # its middle, where it stands for 1 s
        page.tap(left + knob, top + height / 2)
        page.until("Math.abs(lab.frame.time - 1) < 0.05")
        assert page.complaints == []
        page.close()
