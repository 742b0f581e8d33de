"""A headless Chromium with software rendering and no network, by Playwright."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

from saltus.errors import OptionError

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


def executable() -> str:
    """Path of a Chromium, which SALTUS_CHROMIUM names or the PATH has. OptionError: there is none."""
    path = os.environ.get("SALTUS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise OptionError("no Chromium found; install it (apt-get install chromium) or set SALTUS_CHROMIUM")
    return path


@contextlib.contextmanager
def launched() -> Iterator[Any]:
    """A browser, by Playwright's synchronous interface. OptionError: Playwright or Chromium is missing."""
    path = executable()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise OptionError("Playwright is missing: pip install playwright") from None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
