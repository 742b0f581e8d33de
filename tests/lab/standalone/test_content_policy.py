"""A page of its own runs under its policy, and nothing else runs in it or leaves it.

Reference: Chromium, which reports what it refuses, and the text of the page's script.
"""

import base64
import hashlib

import pytest
from helpers.browser import LabPage

from saltus.lab.standalone.content_policy import with_policy
from saltus.lab.standalone.page import PAGE


def policy_of(page):
    return page.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0]


def test_only_the_pages_own_script_may_run():
    page = with_policy(PAGE.read_text(encoding="utf-8"))
    script = page.split('<script type="module">')[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    parts = dict(part.strip().split(" ", 1) for part in policy_of(page).split(";"))
    assert parts["script-src"] == f"'sha256-{digest}' 'wasm-unsafe-eval'"
    assert parts["default-src"] == parts["connect-src"] == parts["form-action"] == parts["base-uri"] == "'none'"
    assert "http" not in policy_of(page) and "*" not in policy_of(page)
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")


ATTACK = """<script>window.ran = "inline"</script><img src="x" onerror="window.ran = 'handler'">
<img src="https://example.org/a.png"><iframe src="https://example.org"></iframe>
<script src="https://example.org/a.js"></script></body>"""


@pytest.mark.slow
@pytest.mark.parametrize("others", [False, True], ids=["as written", "with others' parts"])
def test_it_runs_and_nothing_else_does(browser, written, tmp_path, others):
    """It simulates, draws, plots, records and hands out a file without a violation; what was added does nothing."""
    html = written("pendulum", integrators=["rk4"], text="[a](#qpos[theta]=1) **bold**").read_text(encoding="utf-8")
    file = tmp_path / "page.html"
    file.write_text(html.replace("</body>", ATTACK) if others else html, encoding="utf-8")
    page = LabPage(browser, file.as_uri(), accept_downloads=True).opened()
    page.until("lab.frame.time > 0.2 && lab.drawn > 5")
    refused = [said for said in page.complaints if "Content Security Policy" in said]
    assert bool(refused) == others, refused  # before the next line asks for something itself
    assert page.get("window.ran") is None and page.get("lab.error") is None
    page.tab.evaluate("fetch('https://example.org').catch(() => null)")
    page.wait(lambda: any("connect-src" in said for said in page.complaints))
    said = " ".join(page.complaints)
    if others:
        found = ("inline event handler", "image 'https", "script 'https", "Framing 'https")
        assert [what for what in found if what not in said] == []
    else:
        assert [url for url in page.requests if url.startswith("http")] == []
    page.close()
