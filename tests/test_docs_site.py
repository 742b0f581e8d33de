"""The docs' site: its reference has every public name, and its tables are those of the code.

What is on the pages is read from their sources, so that no site needs to be built; `docs/check` looks at a built one.
"""

import importlib
import inspect
import os
import re
import sys
from pathlib import Path

import pytest
from helpers.browser import LabPage

import saltus

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DIRECTIVE = re.compile(r"^\.\. (?:auto\w+|py:data):: ([\w.]+)", re.M)
PUBLIC = ("saltus", "saltus.algorithms", "saltus.env", "saltus.jax", "saltus.lab", "saltus.symbolic", "saltus.torch")
SAME = {
    "saltus.symbolic.derive": "saltus.derive",
    "saltus.symbolic.Equations": "saltus.Equations",
    "saltus.algorithms.regressor": "saltus.regressor",
    "saltus.algorithms.inertial_parameters": "saltus.inertial_parameters",
}


def documented():
    """Names that the reference describes, with the page."""
    found = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        for name in DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            assert name not in found, f"{name} is on {found[name]} and {page.name}"
            found[name] = page.name
    return found


def of(name):
    """What a dotted name stands for."""
    first, *rest = name.split(".")
    thing = importlib.import_module(first)
    for i, part in enumerate(rest):
        if not hasattr(thing, part):
            importlib.import_module(".".join([first, *rest[: i + 1]]))
        thing = getattr(thing, part)
    return thing


def extension(name):
    """A module of the site's own; skips the test where Sphinx is not installed."""
    pytest.importorskip("sphinx")
    sys.path.insert(0, str(DOCS / "_extensions"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_every_public_name_is_in_the_reference():
    names = {f"{module}.{name}" for module in PUBLIC for name in importlib.import_module(module).__all__}
    names -= {"saltus.__version__"}
    missing = {SAME.get(name, name) for name in names} - set(documented())
    assert not missing, f"no page of docs/reference describes {sorted(missing)}"


def test_what_the_reference_describes_exists_and_says_what_it_is():
    for name, page in documented().items():
        thing = of(name)
        if inspect.isroutine(thing) or inspect.isclass(thing):
            assert (thing.__doc__ or "").strip(), f"{name} ({page}) has no docstring"


def test_what_guides_and_examples_import_is_in_the_reference():
    """The deeper modules that users are led to; one page shows how kernels work inside."""
    texts = [ROOT / "README.md", *(ROOT / "examples").glob("*.py"), *DOCS.rglob("*.md")]
    imports = re.compile(r"^from (saltus[\w.]*) import ([\w, ]+)$", re.M)
    missing = set()
    for path in texts:
        if "_build" in path.parts or path.name == "one_source.md":
            continue
        for module, names in imports.findall(path.read_text(encoding="utf-8")):
            for name in map(str.strip, names.split(",")):
                full = f"{module}.{name}"
                if (
                    full not in ("saltus.algorithms", "saltus.lab", "saltus.symbolic")
                    and SAME.get(full, full) not in documented()
                ):
                    missing.add(f"{full} ({path.name})")
    assert not missing, f"no page of docs/reference describes {sorted(missing)}"


def test_methods_and_attributes_that_the_guides_call_exist():
    """`saltus.X` and `saltus.X.y` in code and prose."""
    for path in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        if "_build" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?<![\w./])saltus\.[A-Za-z_][\w.]*\w(?!/)", text):
            if name.endswith((".md", ".py", ".html", ".toml", ".nc", ".zarr", ".xml", ".png", ".mp4", ".webm")):
                continue
            assert of(name) is not None or name, name


def test_tables_have_every_field_command_and_integrator():
    from saltus.model.model_fields import ModelFields
    from saltus.simulate.engine.data_fields import DataFields

    made = extension("generated")
    for text, kind in ((made.data_fields(), DataFields), (made.model_fields(), ModelFields)):
        assert set(re.findall(r"^\| `(\w+)` \|", text, re.M)) == set(kind.__annotations__)
    assert "| `qvel` | [nv] | rad/s, m/s; of free and ball joints in body axes | Velocities. |" in made.data_fields()
    assert "| `xpos` | [nbody, 3] | m | Origins of body frames. |" in made.data_fields()
    assert set(re.findall(r"^\| `(\w+)` \| \d", made.integrators(), re.M)) == set(saltus.integrators())
    assert "| `dopri5` | 5 | adaptive | ✓ |  |  |" in made.integrators()
    assert "| `implicit_midpoint` | 2 | symplectic |  | ✓ | ✓ |" in made.integrators()
    assert set(re.findall(r"^## (\w+)$", made.bundled_models(), re.M)) == set(saltus.models())
    assert "\n## MjOption\n" in made.mujoco_fields() and "`body_gravcomp`" in made.mujoco_fields()
    commands = made.command_line()
    for name in ("run", "lab", "bench smooth", "contact-law", "page"):
        assert f"\n## saltus {name}\n" in f"\n{commands}"
    assert "| `--integrator NAME` |" in commands and "| `--speed X` |" in commands


DOCSTRING = """Solve A x = b*c for `x`s, |x| < 1 (see docs/howto/sweep.md).

    u = W r + q

Args:
    W [3 n, 3 n]: what `f` makes,
        continued.
    q, mu: two_ numbers.

Raises:
    OptionError: a value.
"""

RESTRUCTURED = r"""
Solve A x = b\*c for `x`\ s, \|x\| < 1 (see :doc:`/howto/sweep`).

::

    u = W r + q

:Arguments:
    `W` [3 n, 3 n]
        what `f` makes,
        continued.
    `q`, `mu`
        two\_ numbers.

:Raises:
    `OptionError`
        a value.
"""


def test_docstrings_are_plain_text():
    """Only backticks are markup; sections become lists of definitions, indented blocks literal."""
    assert "\n".join(extension("docstrings").restructured(DOCSTRING.splitlines())).strip() == RESTRUCTURED.strip()


def test_signatures_are_those_of_the_source():
    """Aliases of types keep their names, and annotations that are written as text lose their quotes."""
    signature = extension("docstrings").source_signature
    arguments, returned = signature(None, "method", "", saltus.Simulation.run, None, "(*args)", None)
    assert arguments.startswith("(duration: float") and "control: RunControl=None" in arguments
    assert returned == "Trajectory"
    assert "contact: ContactChoice='soft'" in signature(None, "class", "", saltus.Simulation, None, "", None)[0]
    assert "restitution: Coefficient = 0.0" in signature(None, "class", "", saltus.Hard, None, "", None)[0]


def test_outputs_of_pages_are_kept_by_the_state_of_the_package(tmp_path):
    """Any file of it changes the key, compiled ones do not; the states used last are kept, and found again."""
    pytest.importorskip("jupyter_cache")
    cache = extension("notebook_cache")
    package = tmp_path / "package"
    package.mkdir()
    (package / "kernel.py").write_text("x = 1.0\n")
    key = cache.package_key(package)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "kernel.pyc").write_bytes(b"compiled")
    assert cache.package_key(package) == key
    (package / "kernel.py").write_text("x = 2.0\n")
    assert cache.package_key(package) != key
    (package / "kernel.py").write_text("x = 1.0\n")
    assert cache.package_key(package) == key
    (package / "page.html").write_text("")
    assert cache.package_key(package) != key

    for age, name in enumerate("abcde"):
        made = cache.folder(tmp_path, name)
        os.utime(made, (1e9 - age, 1e9 - age))
    assert cache.folder(tmp_path, "f").exists()
    left = {path.name for path in (tmp_path / cache.FOLDER).iterdir()}
    assert left == {"f", "a", "b", "c"}


FRAME = (
    "<body style='margin:0;height:2000px'><script>addEventListener('keydown', (e) => { window.key = e.key })</script>"
)
PAGE = """<!doctype html><style>{style}</style><body style="margin:0; height: 3000px">
<div class="live-page"><div class="live-frame"><iframe srcdoc="{inner}" width="600" height="400"></iframe>
<button type="button" class="live-cover" hidden><span>Click</span></button></div></div><p id="text">Text</p>
<script>{script}</script>"""


def test_a_live_page_takes_wheel_and_keys_after_a_click_and_gives_them_back(browser, tmp_path):
    """Before the click the wheel scrolls the page around it; after it the keys and the wheel are the simulation's."""
    static = DOCS / "_static"
    style, script = ((static / name).read_text(encoding="utf-8") for name in ("site.css", "live_page.js"))
    file = tmp_path / "page.html"
    file.write_text(PAGE.format(style=style, script=script, inner=FRAME), encoding="utf-8")
    page = LabPage(browser, file.as_uri())
    cover, mouse = page.tab.locator(".live-cover"), page.tab.mouse

    # a browser drops wheel and keys while it lays out, so that they are sent until they take effect
    def scrolled(window):
        return page.tab.evaluate(f"{window}.scrollY")

    inside = "document.querySelector('iframe').contentWindow"
    assert cover.is_visible() and cover.bounding_box() == page.tab.locator("iframe").bounding_box()
    mouse.move(200, 150)
    page.wait(lambda: scrolled("window") > 0 or mouse.wheel(0, 100))
    page.wait(lambda: scrolled("window") == 0 or mouse.wheel(0, -100))
    assert scrolled(inside) == 0
    mouse.click(200, 150)
    page.wait(lambda: not cover.is_visible())
    page.wait(lambda: page.tab.evaluate(f"{inside}.key") == "r" or page.tab.keyboard.press("r"))
    page.wait(lambda: scrolled(inside) > 0 or mouse.wheel(0, 100))
    page.tab.locator("#text").click()
    page.wait(cover.is_visible)
    page.close()
