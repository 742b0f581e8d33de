"""A browser for the tests of the lab's page: Chromium without a screen, drawing in software, cut off from every net."""

import contextlib
import os
import re
import shutil
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def executable():
    """Path of a Chromium; skips the tests where there is none, fails where SALTUS_BROWSER is "required"."""
    path = os.environ.get("SALTUS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = "no Chromium found; install it (apt-get install chromium) or set SALTUS_CHROMIUM"
        if os.environ.get("SALTUS_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@contextlib.contextmanager
def launched():
    """A browser, by Playwright's synchronous interface."""
    path = executable()
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class LabPage:
    """A page of the lab in a tab of its own: what it asked for, what it complained of, and `window.saltusLab`."""

    def __init__(self, browser, url, width=640, height=480, **context):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.tab = self.context.new_page()
        self.requests, self.complaints = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.response = self.tab.goto(url)

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

    def close(self):
        self.context.close()
