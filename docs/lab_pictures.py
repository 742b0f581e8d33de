"""Takes the pictures of the lab for the documentation: docs/img/lab-*.png. Needs Chromium and the test extra."""

import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests")]

from helpers.browser import LabPage, launched  # noqa: E402

import saltus.env  # noqa: E402
from saltus import lab  # noqa: E402

SIZE = (1120, 700)
LARGEST = 200_000  # bytes of a picture


@dataclass(frozen=True)
class Picture:
    """A scene by name, or what opens one, and what is done before the picture is taken of the paused page."""

    name: str
    scene: str | Callable[[], lab.Lab]
    act: Callable[[LabPage], None]
    dark: bool = False


def run_to(page, time, speed=1.0):
    """Play to a time (s) and pause; in a small window, which is drawn at the full rate."""
    page.tab.set_viewport_size({"width": 700, "height": 300})
    set_speed(page, speed)
    if not page.get("lab.status.playing"):
        page.tab.click("#play")
    page.until(f"lab.frame.time >= {time}", 120)
    page.tab.click("#play")
    page.until("!lab.status.playing")
    set_speed(page, 1.0)
    page.tab.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})
    page.tab.mouse.move(5, 5)


def set_speed(page, speed):
    page.tab.fill("#speed", f"{speed:g}")
    page.tab.keyboard.press("Enter")
    page.until(f"lab.status.speed === {speed:g}")


def key(page, name):
    page.tab.locator("#canvas").focus()
    page.tab.keyboard.press(name)


def pendularm(page):
    """It swings, then the servo holds it at -π/2.5."""
    run_to(page, 7.0)
    key(page, "c")
    run_to(page, 18.0)


def ghosts(page):
    page.tab.select_option("#window", "all")
    run_to(page, 40.0)
    while page.get("Math.abs(Math.sin((lab.frame.dofs[1][0] - lab.frame.dofs[0][0]) / 2))") < 0.8:
        time = page.get("lab.frame.time")
        key(page, ".")
        page.until(f"lab.frame.time > {time}")


def double_pendulum(page):
    page.tab.select_option("#window", "all")
    run_to(page, 9.0)


def humanoid(page):
    """Seen from aside, pulled by a hand, with the forces under its feet."""
    page.tab.evaluate("document.getElementById('view-section').open = true")
    page.tab.check("#show-contacts")
    page.tab.evaluate("document.getElementById('view-section').open = false")
    turn(page, -130, 10)
    page.tab.evaluate("document.getElementById('panel').scrollTop = 0")
    hand = page.get("lab.project('right_forearm', [0, 0, -0.3])")
    page.tab.mouse.move(hand["x"], hand["y"])
    page.tab.mouse.down()
    page.tab.mouse.move(hand["x"] - 110, hand["y"] + 10, steps=5)
    set_speed(page, 0.1)
    key(page, "Space")
    page.until("lab.frame.time > 0.28")
    key(page, "Space")
    page.until("!lab.status.playing")
    set_speed(page, 1.0)


def humanoid_mppi(page):
    """It walks, pulled back by an arm, with its plan drawn."""
    turn(page, -130, 10)
    key(page, "w")
    run_to(page, 2.0)
    page.tab.evaluate("document.getElementById('panel').scrollTop = 0")
    hand = page.get("lab.project('right_forearm', [0, 0, -0.3])")
    page.tab.mouse.move(hand["x"], hand["y"])
    page.tab.mouse.down()
    page.tab.mouse.move(hand["x"] - 60, hand["y"] - 20, steps=5)
    key(page, "Space")
    page.until("lab.frame.time > 2.3", 60)
    key(page, "Space")
    page.until("!lab.status.playing")


def turn(page, right, down):
    """Turn the camera by dragging with the Ctrl key."""
    box = page.tab.locator("#canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.tab.keyboard.down("Control")
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x + right, y + down, steps=4)
    page.tab.mouse.up()
    page.tab.keyboard.up("Control")


def open_follow():
    """The environment and the policy of howto/policies.md, made by its first cells."""
    text = (DOCS / "howto" / "policies.md").read_text(encoding="utf-8")
    made = {"__name__": "__main__"}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", text, re.DOTALL)[:2]:
        exec(cell, made)
    return saltus.env.play(made["Follow"], made["policy"], seed=0, browser=False, playing=False)


def follow(page):
    """The cart is sent to another place, and its plots are seen."""
    run_to(page, 2.0)
    page.slide("place[0]", 1.0)
    page.until("lab.status.sliders['place[0]'] === 1")
    run_to(page, 3.2)
    page.slide("place[0]", -0.5)
    run_to(page, 7.0)
    page.tab.evaluate("document.getElementById('signals-section').scrollIntoView()")


PICTURES = (
    Picture("pendularm", "pendularm", pendularm),
    Picture("ghosts", "pendulum_ghosts", ghosts),
    Picture("double-pendulum", "double_pendulum_ghosts", double_pendulum, dark=True),
    Picture("humanoid", "humanoid", humanoid),
    Picture("humanoid-mppi", "humanoid_mppi", humanoid_mppi),
    Picture("policy", open_follow, follow),
)


def take(browser, picture):
    """One picture, as bytes of a PNG."""
    scheme = "dark" if picture.dark else "light"
    scene = picture.scene
    with lab.open(scene, browser=False, playing=False) if isinstance(scene, str) else scene() as opened:
        page = LabPage(browser, opened.url, *SIZE, color_scheme=scheme).opened()
        page.until("!lab.status.building", 900)
        picture.act(page)
        page.tab.wait_for_timeout(1500)  # what stands still is drawn finely
        page.tab.evaluate("document.getElementById('toasts').replaceChildren(); document.activeElement.blur()")
        shot = page.tab.screenshot()
        page.close()
    return small(shot)


def small(png):
    """The picture with 256 colours, if it is too large as it is."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for version in (lambda: image, lambda: few_colours(image)):
        out = io.BytesIO()
        version().save(out, "PNG", optimize=True)
        if out.tell() < LARGEST:
            return out.getvalue()
    raise ValueError(f"{out.tell()} bytes are too many")


def few_colours(image):
    """256 colours, chosen among all that occur however small what has them, and dithered."""
    colours = np.unique(np.asarray(image).reshape(-1, 3), axis=0)
    palette = Image.fromarray(colours[None]).quantize(256, Image.Quantize.MEDIANCUT, kmeans=2)
    return image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG)


def main(names):
    with launched() as browser:
        for picture in PICTURES:
            if not names or picture.name in names:
                content = take(browser, picture)
                path = DOCS / "img" / f"lab-{picture.name}.png"
                path.write_bytes(content)
                print(f"{path.name}: {len(content) / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
