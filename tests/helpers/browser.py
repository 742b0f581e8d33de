"""A browser for the tests of the lab's page: Chromium without a screen, drawing in software, cut off from every net."""

import contextlib
import os
import re
import time

import numpy as np
import pytest

from saltus.bench.harness import browser
from saltus.errors import OptionError


@contextlib.contextmanager
def launched():
    """A browser; skips the tests where there is none, fails where SALTUS_BROWSER is "required"."""
    try:
        browser.executable()
    except OptionError as missing:
        if os.environ.get("SALTUS_BROWSER") == "required":
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    pytest.importorskip("playwright.sync_api")
    with browser.launched() as found:
        yield found


class LabPage:
    """A page of the lab in a tab of its own: what it asked for, what it complained of, and `window.saltusLab`."""

    def __init__(self, browser, url, width=640, height=480, **context):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.tab = self.context.new_page()
        self.requests, self.complaints = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("console", self._hear)
        self.response = self.tab.goto(url)

    def _hear(self, message):
        """Keep what the browser says about the policy of a page or of its worker."""
        if "Content Security Policy" in message.text:
            self.complaints.append(message.text)

    def get(self, expression):
        """Value of an expression in the page, of `lab` = window.saltusLab."""
        return self.tab.evaluate(f"(() => {{ const lab = window.saltusLab; return {expression} }})()")

    def until(self, expression, patience=30.0):
        """Wait until an expression of `lab` is true; returns its value. (Playwright's own wait needs eval.)"""
        end = time.monotonic() + patience
        while not (value := self.get(expression)):
            if time.monotonic() > end:
                seen = self.get("({error: lab.error, hud: lab.hud, status: lab.status})")
                raise AssertionError(f"not within {patience:g} s: {expression}; the page has {seen}")
            self.tab.wait_for_timeout(20)
        return value

    def wait(self, condition, patience=30.0):
        """Wait until a function of the test's own is true."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, f"not within {patience:g} s"
            self.tab.wait_for_timeout(20)

    def opened(self):
        """The page once it shows something."""
        self.until("lab && lab.ready")
        return self

    def unfolded(self, section):
        """The section of the panel with this id, opened."""
        self.tab.evaluate(f"document.getElementById('{section}').open = true")
        return self.tab.locator(f"#{section}")

    def hud(self):
        """Lines of the readings' blocks by title."""
        blocks = [block.splitlines() for block in self.get("lab.hud").split("\n\n")]
        return {lines[0]: lines[1:] for lines in blocks if lines}

    def press(self, *keys):
        """Keys, with the keyboard in the view."""
        self.tab.locator("#canvas").focus()
        for key in keys:
            self.tab.keyboard.press(key)

    def play(self):
        """Set the paused simulation going."""
        self.tab.click("#play")
        self.until("lab.status.playing")

    def pause(self):
        """Pause it, and wait until the time shown has come to the end of its step."""
        self.tab.click("#play")
        self.until("!lab.status.playing && !lab.frame.playing")
        self.tab.wait_for_timeout(200)

    def speed(self, value):
        """Simulated seconds a second."""
        self.tab.fill("#speed", f"{value:g}")
        self.tab.keyboard.press("Enter")
        self.until(f"lab.status.speed === {value:g}")

    def slide(self, slider, value):
        """Type a slider's number."""
        field = self.tab.locator(f"[data-slider='{slider}'] input[type=number]")
        field.evaluate("field => { field.closest('details').open = true }")
        field.fill(f"{value}")
        field.press("Enter")

    def reading(self, block, name):
        """The number behind `name = ` in a block of the readings."""
        (found,) = (lines for title, lines in self.hud().items() if title.startswith(block))
        (number,) = re.findall(rf"^{re.escape(name)} = (-?\d+\.\d\d)$", "\n".join(found), re.M)
        return float(number)

    def steps(self, count):
        """Click `Step` so often, and wait for the last one."""
        before = self.get("lab.status.time")
        self.tab.evaluate(f"for (let k = 0; k < {count}; k += 1) document.getElementById('step').click()")
        self.until(f"lab.status.time > {before} + {count - 0.5} * lab.status.timestep", 120)

    def state(self):
        """The state that `Copy state` gives: {name: numbers}."""
        text = self.tab.evaluate(
            """async () => {
              const asked = new Promise((take) => { navigator.clipboard.writeText = async (text) => take(text); });
              document.getElementById('copy-state').click();
              return asked;
            }"""
        )
        found = dict(re.findall(r"^sim\.(\w+)(?:\[:\])? = (.+)$", text, re.M))
        return {name: np.array(eval(value, {}), float) for name, value in found.items()}

    def close(self):
        self.context.close()
