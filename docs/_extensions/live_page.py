"""The directive `live-page`: a simulation that runs in the reader's browser, inside a page of the site.

    ```{live-page} pendularm
    :integrators: explicit_euler, velocity_verlet, rk4
    :height: 520
    ```

Its argument is the name of a scene or a bundled model, or a model file beside the page. Options: `integrator`,
`integrators`, `contact`, `contacts`, `restitution`, `friction`, `timestep`, `key`, `speed` as of `saltus page`;
`paused`; `height` in pixels; `settings`: what stands after # in the page's address, as in the links that a page shares.

The simulation lies under a cover until the reader clicks it: the wheel and fingers scroll the page that it is in, and
keys belong to the simulation only after the click (`docs/_static/live_page.js`).

The file is made when the site is built, once for each set of options, and kept in _build/live until sources change.
"""

from __future__ import annotations

import hashlib
import html
import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from saltus.number.cache.storage import source_key

TEXTS = ("integrator", "contact", "key")
LISTS = ("integrators", "contacts")
NUMBERS = ("timestep", "speed", "restitution", "friction")
FOLDER = "live"
log = logging.getLogger(__name__)


class LivePage(SphinxDirective):
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        **dict.fromkeys((*TEXTS, *LISTS, "settings", "title"), directives.unchanged_required),
        **dict.fromkeys(NUMBERS, float),
        "height": directives.nonnegative_int,
        "paused": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        what = self.arguments[0]
        beside = Path(self.env.doc2path(self.env.docname)).parent / what
        if what.endswith(".xml"):
            self.env.note_dependency(str(beside))
            what = str(beside)
        options: dict[str, Any] = {name: self.options[name] for name in (*TEXTS, *NUMBERS) if name in self.options}
        options |= {
            name: [word.strip() for word in self.options[name].split(",")] for name in LISTS if name in self.options
        }
        options["playing"] = "paused" not in self.options
        file = _made(Path(self.env.app.outdir).parent / FOLDER, what, options)
        live = getattr(self.env, "live_pages", {})
        live.setdefault(self.env.docname, set()).add(str(file))
        self.env.live_pages = live
        up = "../" * self.env.docname.count("/")
        address = f"{up}{FOLDER}/{file.name}" + (f"#{self.options['settings']}" if "settings" in self.options else "")
        title = html.escape(self.options.get("title", f"{self.arguments[0]}: a live simulation"))
        text = (
            f'<div class="live-page"><div class="live-frame"><iframe src="{html.escape(address)}" title="{title}" '
            f'loading="lazy" height="{self.options.get("height", 520)}" allow="clipboard-write; fullscreen"></iframe>'
            f'<button type="button" class="live-cover" hidden><span>Click to use mouse and keys</span></button></div>'
            f'<p><a href="{html.escape(address)}" target="_blank">Open in a tab of its own</a></p></div>'
        )
        return [nodes.raw("", text, format="html")]


def _made(folder: Path, what: str, options: dict[str, Any]) -> Path:
    """The page's file, made now or before."""
    from saltus.lab.standalone.page import PAGE, page

    model = Path(what).read_text(encoding="utf-8") if what.endswith(".xml") else what
    given = json.dumps([model, options, source_key()], sort_keys=True) + PAGE.read_text(encoding="utf-8")
    digest = hashlib.sha256(given.encode()).hexdigest()[:12]
    file = folder / f"{Path(what).stem.replace(':', '-')}-{digest}.html"
    if not file.exists():
        log.info(f"compiling a live page: {what}")
        folder.mkdir(parents=True, exist_ok=True)
        page(what, file, **options)
    return file


def _forget(app, env, docname) -> None:
    getattr(env, "live_pages", {}).pop(docname, None)


def _merged(app, env, docnames, other) -> None:
    """What another process has read of these pages."""
    found, read = getattr(env, "live_pages", {}), getattr(other, "live_pages", {})
    env.live_pages = found | {name: read[name] for name in docnames if name in read}


def _copied(app, error) -> None:
    if error is None and app.builder.format == "html":
        for files in getattr(app.env, "live_pages", {}).values():
            for file in map(Path, files):
                target = Path(app.outdir) / FOLDER / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


def setup(app) -> dict[str, Any]:
    app.add_directive("live-page", LivePage)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merged)
    app.connect("build-finished", _copied)
    app.add_css_file("site.css")
    app.add_js_file("live_page.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
