"""The page's bundle is what its sources say, small, complete and self-contained; read as a file, no browser needed.

References: the hash that `build.mjs` documents, recomputed here from the sources; the licence files' wording.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parents[2] / "saltus" / "lab"
SINGLE = ("LICENSES.md", "build.mjs", "index.html", "package-lock.json", "package.json", "style.css")


@pytest.fixture(scope="module")
def page():
    return (LAB / "page.html").read_text(encoding="utf-8")


def sources_hash():
    """SHA-256 over path, zero byte, text, zero byte of each source in the order of the paths."""
    paths = [LAB / "page" / name for name in SINGLE] + list((LAB / "page" / "src").rglob("*.js"))
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(LAB / "page").as_posix(), path) for path in paths):
        digest.update(f"{name}\0{path.read_text(encoding='utf-8')}\0".encode())
    return digest.hexdigest()


def test_it_was_built_from_the_present_sources(page):
    (stated,) = re.findall(r'<meta name="saltus-sources" content="([0-9a-f]{64})">', page)
    assert stated == sources_hash(), "run `npm ci && npm run build` in saltus/lab/page"


def test_it_is_under_a_megabyte(page):
    assert 100_000 < len(page.encode()) < 1_000_000


def test_the_licences_are_kept(page):
    for text in (page, (LAB / "page" / "LICENSES.md").read_text(encoding="utf-8")):
        assert "three.js authors" in text and "Copyright (c) 2022 Leon Sorokin" in text
        assert "The Stdlib Authors" in text and "by Sun Microsystems, Inc. All rights reserved." in text
        assert text.count("Permission is hereby granted, free of charge") == 2
        assert text.count("copies or substantial portions of the Software") == 2


def test_versions_are_exact():
    package = json.loads((LAB / "page" / "package.json").read_text())
    versions = package["dependencies"] | package["devDependencies"]
    functions = {f"@stdlib/math-base-special-{name}" for name in ("sin", "cos", "exp", "ln", "pow")}
    assert set(versions) == {"three", "uplot", "esbuild", *functions}
    locked = json.loads((LAB / "page" / "package-lock.json").read_text())["packages"]
    for name, version in versions.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert locked[f"node_modules/{name}"]["version"] == version


def test_nothing_is_loaded_from_elsewhere(page):
    """No element and no style rule of the page names an address; what the script asks for is seen in the browser."""
    frame = re.sub(r"(?s)<script.*?</script>", "", page)
    assert not re.findall(r"(?:src|href)=[\"']?(?!data:)[\w/.]", frame)
    assert "@import" not in frame and not re.findall(r"url\((?![\"']?data:)", frame)
    assert len(re.findall(r"<script\b", page.split('<script type="module">')[0])) == 2  # licences, worker
