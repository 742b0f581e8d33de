"""Python samples of the docs run as they stand; files, commands and tests that the docs name exist."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
DOCUMENT = DOCS / "howto/lagrange.md"


def run_samples(document, folder, least=4, **environment):
    """All samples, one after another in a process of their own, as a reader would try them."""
    samples = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.S)
    assert len(samples) >= least
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(samples)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=600,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result


@pytest.mark.slow
def test_the_samples_run(tmp_path):
    result = run_samples(DOCUMENT, tmp_path)
    assert "Matrix([[-tau, tau]]) Matrix([[0, tau]])" in result.stdout
    assert "[-6.01  9.57] [-11.65  16.11]" in result.stdout
    assert "Matrix([[tau1 - tau2, tau2]])" in result.stdout
    written = {"double_pendulum.html", "cart_pole.py", "cart_pole.c", "cart_pole.h", "cart_pole.tex"}
    assert {path.name for path in tmp_path.iterdir()} == written


def test_the_commands_exist():
    text = DOCUMENT.read_text(encoding="utf-8")
    commands = re.findall(r"^saltus (.*)$", text, re.M)
    assert len(commands) == 2
    for command in commands:
        words = command.split()
        result = subprocess.run([sys.executable, "-m", "saltus", *words, "--help"], capture_output=True, text=True)
        assert result.returncode == 0, command
        for option in (word for word in words if word.startswith("--")):
            assert option in result.stdout, command


def test_files_that_it_names_exist():
    for link in re.findall(r"\]\(([^)#:]+)\)", DOCUMENT.read_text(encoding="utf-8")):
        assert (DOCUMENT.parent / link).exists(), link


@pytest.mark.slow
def test_the_samples_on_hard_contact_run(tmp_path):
    """The table of the cradle is the one in the text."""
    result = run_samples(DOCS / "howto/hard_contact.md", tmp_path)
    text = (DOCS / "howto/hard_contact.md").read_text(encoding="utf-8")
    table = re.search(r"```\n(newton .*?)```", text, re.S)
    assert table is not None and table[1] in result.stdout
    assert "(101,) (1, 101) (1, 101) (3, 101)" in result.stdout


@pytest.mark.slow
def test_the_samples_on_sweeps_run(tmp_path):
    """And the page names all quantities, reductions and numbers that there are."""
    from saltus.study.measures import NUMBERS, QUANTITIES, REDUCTIONS

    result = run_samples(DOCS / "howto/sweep.md", tmp_path, least=1)
    assert "('opt.timestep', 'qpos[height]', 'height[ball].apex', 'penetration.max', 'status')" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"drops.csv", "drops.png"}
    text = (DOCS / "howto/sweep.md").read_text(encoding="utf-8")
    for name in (*QUANTITIES, *REDUCTIONS, *NUMBERS):
        assert re.search(rf"`{name}\b", text), name


def test_the_samples_on_the_lab_run(tmp_path):
    """In the place of a browser, nothing is started."""
    run_samples(DOCS / "howto/lab.md", tmp_path, least=2, BROWSER="true")


@pytest.mark.slow
def test_the_sample_on_energy_runs(tmp_path):
    """Its balance is the one in the text but for the residual's digits, and the page names all accounts."""
    from saltus.record.table.ledger import ACCOUNTS

    result = run_samples(DOCS / "howto/energy.md", tmp_path, least=1)
    text = (DOCS / "howto/energy.md").read_text(encoding="utf-8")
    table = re.search(r"```\n(energy \(J\).*?)\nresidual", text, re.S)
    assert table is not None and table[1] in result.stdout
    for name in ACCOUNTS:
        assert name in text


def test_tests_that_hold_promises_exist():
    text = (DOCS / "reference/reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 20
    for file, name in named:
        source = (DOCS.parent / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in source, f"{file}::{name}"


def test_the_map_shows_every_room():
    """A row names a room, or rooms inside one: `solve/cone/`, `impact/`."""
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    package = DOCS.parent / "saltus"
    named = set()
    for cell in re.findall(r"^\| ((?:`[\w/.]+`(?:, )?)+) \|", text, re.M):
        first, *others = re.findall(r"`([\w/.]+)`", cell)
        outer = first.rstrip("/").rpartition("/")[0]
        named |= {first.rstrip("/"), *(f"{outer}/{other}".strip("/").rstrip("/") for other in others)}
    rooms = {str(path.parent.relative_to(package)) for path in package.rglob("__init__.py")} - {"."}
    assert rooms <= named
    assert all((package / name).exists() for name in named)


def test_the_walk_is_true_to_the_code():
    """Each function is in its file, and a file that comes before it in the walk names it."""
    root = DOCS.parent
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = re.findall(r"^\d+\. `(saltus/[\w/]+\.py)` `(\w+)`: ", text, re.M)
    assert len(walk) == 25
    before = (DOCS.parent / "saltus" / "__init__.py").read_text(encoding="utf-8")
    for file, name in walk:
        source = (root / file).read_text(encoding="utf-8")
        assert re.search(rf"^( *(def|class) {name}\b|{name} = )", source, re.M), f"{file} has no {name}"
        assert re.search(rf"\b{name}\b", before), f"nothing before {file} names {name}"
        before += source


def test_functions_that_contributing_names_exist():
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(saltus/[\w/]+\.py)`\s+`(\w+)`", text)
    assert len(named) > 28
    for file, name in named:
        source = (DOCS.parent / file).read_text(encoding="utf-8")
        assert re.search(rf"^( *(def|class) {name}\b|{name} = )", source, re.M), f"{file} has no {name}"


def test_files_that_contributing_names_exist():
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:saltus|tests)/[\w/.]+)`", text)
    assert len(names) > 5
    for name in names:
        assert (DOCS.parent / name).exists() or name.endswith("archived/"), name
