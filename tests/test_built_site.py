"""The built site: it works from a disk without a network, and its links lead somewhere.

`docs/check` runs these tests on docs/_build/html, as continuous integration does after `docs/build`; elsewhere they are
skipped, since a site that was built earlier says nothing about the present sources.
"""

import functools
import os
import re
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers.browser import LabPage

SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"
LIVE = "live"  # the folder of pages that simulate
#: Attributes by which a page loads something, by element; links that a reader follows are not among them.
LOADED = {
    **dict.fromkeys(("script", "img", "iframe", "video", "audio", "source", "embed", "track", "input"), ("src",)),
    **{"img": ("src", "srcset"), "video": ("src", "poster"), "object": ("data",), "use": ("href", "xlink:href")},
}
RELATIONS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "modulepreload", "manifest"}

pytestmark = pytest.mark.skipif(os.environ.get("SALTUS_SITE") != "required", reason="run by docs/check on a built site")


class Page(HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.loads += [given[name] for name in LOADED.get(tag, ()) if name in given]
        if tag == "link" and RELATIONS & set(given.get("rel", "").split()):
            self.loads.append(given["href"])
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@functools.cache
def pages():
    files = sorted(path for path in SITE.rglob("*.html") if LIVE not in path.relative_to(SITE).parts)
    assert len(files) > 30, f"no site in {SITE}; run docs/build"
    return {path: Page(path.read_text(encoding="utf-8")) for path in files}


def is_remote(address):
    return address.startswith(("http:", "https:", "//"))


def test_nothing_is_loaded_from_elsewhere():
    found = {f"{path.name}: {x}" for path, page in pages().items() for x in page.loads if is_remote(x)}
    for path in SITE.rglob("*.css"):
        text = path.read_text(encoding="utf-8", errors="replace")
        addresses = re.findall(r"(?:url\(|@import )\s*['\"]?([^'\")\s]+)", text)
        found |= {f"{path.name}: {x}" for x in addresses if is_remote(x)}
    assert not found


def test_what_is_loaded_and_linked_exists():
    """Files of the site, and anchors in its pages."""
    missing = set()
    for path, page in pages().items():
        for address in (*page.loads, *page.links):
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                missing.add(f"{path.relative_to(SITE)}: {address}")
            elif anchor and target in pages() and anchor not in pages()[target].anchors:
                missing.add(f"{path.relative_to(SITE)}: {address} (no such anchor)")
    assert not missing


def test_no_path_of_the_machine_that_built_it_is_shown():
    root = str(SITE.parents[2])
    shown = {path.name for path in pages() if root in path.read_text(encoding="utf-8")}
    assert not shown


def opened(browser, name, query=""):
    page = LabPage(browser, (SITE / name).as_uri() + query, width=1280, height=900)
    page.tab.wait_for_load_state("load")
    return page


def assert_untroubled(page):
    """No error of a script, and everything came from the disk."""
    assert not page.complaints
    assert not [address for address in page.requests if is_remote(address)]


def test_formulas_are_set_without_a_network(browser):
    page = opened(browser, "concepts/accuracy.html")
    page.wait(lambda: page.tab.locator("mjx-container").count() > 5)
    assert not page.tab.locator("mjx-merror").count()
    assert_untroubled(page)
    page.close()


def test_search_works_from_a_disk(browser):
    page = opened(browser, "search.html", "?q=restitution")
    # the page lists its results one after the other
    page.wait(lambda: any("Hard contact" in text for text in page.tab.locator("ul.search li a").all_inner_texts()))
    # summaries under the results are fetched, which browsers do not allow pages from a disk
    assert set(page.complaints) <= {"Failed to fetch"}
    assert not [address for address in page.requests if is_remote(address)]
    page.close()


@pytest.mark.parametrize("name", ["index.html", "gallery.html"])
def test_live_pages_run(browser, name):
    """Each simulation that is embedded starts, and its time goes on."""
    page = opened(browser, name)
    frames = page.tab.locator(".live-page iframe")
    assert frames.count() >= 1
    for i in range(frames.count()):
        frames.nth(i).scroll_into_view_if_needed()
        frame = frames.nth(i).element_handle().content_frame()
        time = "window.saltusLab && window.saltusLab.frame && window.saltusLab.frame.time"
        page.wait(lambda frame=frame, time=time: (frame.evaluate(time) or 0) > 0.1, patience=60.0)
        assert frame.evaluate("document.getElementById('hud').hidden")  # readings would cover so small a view
    assert_untroubled(page)
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_not_wider_than_the_window(browser, width):
    page = opened(browser, "index.html")
    page.tab.set_viewport_size({"width": width, "height": 800})
    for name in ("index.html", "gallery.html", "reference/simulation.html", "reference/integrators.html"):
        page.tab.goto((SITE / name).as_uri())
        page.wait(lambda: page.tab.evaluate("document.readyState") == "complete")
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width, name
    page.close()
