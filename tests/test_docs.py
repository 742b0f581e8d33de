"""Python samples of the docs run as they stand; files, commands and tests that the docs name exist.

Samples are blocks of ```python. Cells of notebooks run when the site is built (docs/build).
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLOCK = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ ]*$", re.M | re.S)
SHELL = ("", "bash", "sh", "console", "text")


def pages():
    """Markdown sources of the site by their path in docs/."""
    found = {str(path.relative_to(DOCS)): path for path in sorted(DOCS.rglob("*.md"))}
    return {name: path for name, path in found.items() if not name.startswith("_")}


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(text, *languages):
    """Fenced blocks in one of these languages."""
    return [body for _, language, body in BLOCK.findall(text) if language.strip() in languages]


WITH_SAMPLES = [page for page in pages() if blocks(text_of(page), "python")]


def cells(page):
    """Cells of a notebook's source, without their tags."""
    found = blocks(text_of(page), "{code-cell} ipython3")
    return [re.sub(r"^:tags:.*\n", "", body) for body in found]


def run_samples(page, folder, samples=None):
    """All samples, one after another in a process of their own, as a reader would try them; no browser is started."""
    samples = blocks(text_of(page), "python") if samples is None else samples
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(samples)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=900,
        env={**os.environ, "BROWSER": "true", "MPLBACKEND": "agg"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# ---------------------------------------------------------------- what samples print and write is what the pages say


def check_lagrange(printed, folder):
    assert "Matrix([[-tau, tau]]) Matrix([[0, tau]])" in printed
    assert "[-6.01  9.57] [-11.65  16.11]" in printed
    assert "Matrix([[tau1 - tau2, tau2]])" in printed
    written = {"double_pendulum.html", "cart_pole.py", "cart_pole.c", "cart_pole.h", "cart_pole.tex"}
    assert {path.name for path in folder.iterdir()} == written


def check_hard_contact(printed, folder):
    """The table of the cradle is the one in the text."""
    table = re.search(r"```\n(newton .*?)```", text_of("howto/hard_contact.md"), re.S)
    assert table is not None and table[1] in printed
    assert "(101,) (1, 101) (1, 101) (3, 101)" in printed


def check_sweep(printed, folder):
    """The page names all quantities, reductions and numbers that there are."""
    from saltus.study.measures.numbers import NUMBERS
    from saltus.study.measures.quantities import QUANTITIES
    from saltus.study.measures.reductions import REDUCTIONS

    assert "('opt.timestep', 'qpos[height]', 'height[ball].apex', 'penetration.max', 'status')" in printed
    assert {path.name for path in folder.iterdir()} == {"drops.csv", "drops.png"}
    for name in (*QUANTITIES, *REDUCTIONS, *NUMBERS):
        assert re.search(rf"`{name}\b", text_of("howto/sweep.md")), name


def check_energy(printed, folder):
    """The balance is the one in the text but for the residual's digits, and the page names all accounts."""
    from saltus.record.table.ledger import ACCOUNTS

    text = text_of("howto/energy.md")
    table = re.search(r"```\n(energy \(J\).*?)\nresidual", text, re.S)
    assert table is not None and table[1] in printed
    for name in ACCOUNTS:
        assert name in text


def check_recordings(printed, folder):
    films = {"fall.mp4", "close.mp4", "both.mp4", "fall.png", "fall.html", "long.zarr"}
    tables = {"swing.csv", "swing.mat", "signals.png", "both.png"}
    assert {path.name for path in folder.iterdir()} == films | tables
    assert "(301, 1)\n(301, 1, 3) (301, 1, 3)\n(301,) (1, 301) (3, 301)\n(301, 3)" in printed


def check_tour(printed, folder):
    """Fitted orders are the declared ones, and the humanoid stands after its push."""
    orders = re.findall(r"^\w+: order (\d), fitted ([\d.]+)$", printed, re.M)
    assert [declared for declared, _ in orders] == ["1", "2", "4"]
    assert all(float(fitted) == pytest.approx(int(declared), abs=0.2) for declared, fitted in orders)
    stands = re.search(r"the head is ([\d.]+) m above", printed)
    assert stands is not None and float(stands[1]) == pytest.approx(1.47, abs=0.03)
    made = {"pendulum.png", "pendulum.nc", "pendulum.mp4", "double_pendulum.html"}
    assert {path.name for path in folder.iterdir()} == made


def check_short_answers(printed, folder):
    """The pole is upright, the hand at its target, and the drone where it is told to be."""
    upright, height = re.findall(r"^(?:height )?([\d.e-]+) ?(?:rad|m)", printed, re.M)
    (apart,) = re.findall(r"'hand': ([\d.e-]+)", printed)
    assert float(upright) < 0.02 and float(apart) < 1e-6 and float(height) == pytest.approx(1.5, abs=0.01)


def check_front(printed, folder):
    assert [path.name for path in folder.iterdir()] == ["jump.mp4"]


CHECKS = {
    "index.md": check_front,
    "howto/short_answers.md": check_short_answers,
    "start/tour.md": check_tour,
    "howto/lagrange.md": check_lagrange,
    "howto/hard_contact.md": check_hard_contact,
    "howto/sweep.md": check_sweep,
    "howto/energy.md": check_energy,
    "howto/recordings.md": check_recordings,
}


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SAMPLES)
def test_samples_run(page, tmp_path):
    printed = run_samples(page, tmp_path)
    CHECKS.get(page, lambda printed, folder: None)(printed, tmp_path)


@pytest.mark.slow  # a minute
def test_the_cells_of_the_robots_log_run(tmp_path):
    """Values are within four standard deviations of the hidden ones, and a combination that is not told is named."""
    printed = run_samples("tutorials/robot_log.md", tmp_path, cells("tutorials/robot_log.md"))
    assert "not told apart: " in printed and printed.count("hidden") == 9


def test_pages_with_checks_have_samples():
    assert set(CHECKS) <= set(WITH_SAMPLES)


# ---------------------------------------------------------------- commands and links


def command_lines():
    """Command lines `saltus ...` of the pages and the README, with where they stand; continued lines are joined."""
    texts = {name: text_of(name) for name in pages()}
    texts["README.md"] = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    for name, text in texts.items():
        for block in blocks(text, *SHELL):
            for line in block.replace("\\\n", " ").splitlines():
                if found := re.match(r"(?:\$ )?(?:\.venv/bin/)?saltus (.+)", line):
                    yield name, shlex.split(found[1], comments=True)


def test_commands_and_their_options_exist():
    import typer

    from saltus.cli import app

    lines = list(command_lines())
    assert len(lines) > 30
    for page, words in lines:
        command, rest = typer.main.get_command(app), list(words)
        while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
            assert rest[0] in command.commands, f"{page}: there is no command `saltus {' '.join(words)}`"
            command = command.commands[rest.pop(0)]
        known = {"--help", "-h", "--install-completion"}
        for parameter in command.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
        for word in rest:
            if re.match(r"--?[a-z]", word):
                option = word.partition("=")[0]
                assert option in known, f"{page}: `saltus {' '.join(words)}` has no option {option}"


def test_files_that_pages_link_to_exist():
    for page, path in pages().items():
        text = BLOCK.sub("", path.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            assert (path.parent / link).exists(), f"{page}: {link}"


def test_every_guide_is_in_the_index_with_a_sentence():
    listed = re.findall(r"^- \[[^]]+\]\((\w+)\.md\): \S.*\.$", text_of("howto/index.md"), re.M)
    guides = {path.stem for path in (DOCS / "howto").glob("*.md")} - {"index", "short_answers"}
    assert sorted(listed) == sorted(guides)


def test_words_that_people_search_lead_somewhere():
    answers = text_of("howto/short_answers.md")
    headings = " ".join(re.findall(r"^## (.*)", answers, re.M)).lower()
    for word in ("lqr", "inverse kinematics", "inverse dynamics", "colab", "drone", "cloth", "ros", "pid", "gpu"):
        assert re.search(rf"\b{word}\b", headings), word


def test_every_family_of_benchmarks_has_a_part_of_the_verification():
    from saltus.verify.registry import FAMILIES

    shown = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "verification").glob("*.md")}
    assert set(shown) == set(FAMILIES)
    for family, text in shown.items():
        assert f'FamilyReport("{family}")' in text and f"\n# {FAMILIES[family][0]}\n" in text
        assert "assert not report.failed" in text and f"(verification/{family}.md)" in text_of("verification.md")


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
