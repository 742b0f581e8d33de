"""Texts of pages: Markdown, tasks, pictures. References: CommonMark's own rules; the numbers that were written."""

import base64

import pytest

from saltus.errors import OptionError
from saltus.lab.standalone.exercise import Task, exercise

TASK = "```task\nquestion: How long?\nanswer: 2.84\ntolerance: {}\nunit: s\n```\n"


def test_text_links_tables_and_tasks():
    made = exercise("# T\n\n[go](#qpos[a]=1)\n\n| a |\n|---|\n| 1 |\n\n" + TASK.format("0.02") + "\n```\nplain\n```\n")
    assert made.tasks == (Task("How long?", 2.84, 0.02, "s"),)
    for part in (
        "<h1>T</h1>",
        'href="#qpos%5Ba%5D=1"',
        "<td>1</td>",
        '<div class="task" data-task="0"></div>',
        "<pre>",
    ):
        assert part in made.html
    assert "2.84" not in made.html


def test_a_tolerance_in_percent():
    (task,) = exercise(TASK.format("5%")).tasks
    assert task.tolerance == pytest.approx(0.05 * 2.84)


def test_html_and_scripts_in_the_text_are_text():
    made = exercise("<script>alert(1)</script> [x](javascript:alert(1))")
    assert "<script" not in made.html and 'href="javascript' not in made.html


def test_pictures_are_in_the_page(tmp_path):
    data = b"\x89PNG\r\n\x1a\n"
    (tmp_path / "a b.png").write_bytes(data)
    assert f"data:image/png;base64,{base64.b64encode(data).decode()}" in exercise("![a](<a b.png>)", tmp_path).html


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```task\nquestion: q\nanswer: 1\n```", "'q' has no tolerance"),
        ("```task\nquestion: q\nanswer: one\ntolerance: 1\n```", "answer is a number, not 'one'"),
        ("```task\nquestion: q\nanswer: nan\ntolerance: 1\n```", "answer is a number, not 'nan'"),
        ("```task\nquestion: q\nanswer: 0\ntolerance: 5%\n```", "must be positive"),
        ("```task\nq: 1\n```", "not 'q: 1'"),
        ("![a](https://example.org/a.png)", "load nothing from a network"),
        ("![a](missing.png)", "cannot be read"),
        ("![a](a.exe)", "not a picture"),
    ],
)
def test_what_cannot_be_read_is_named(text, words, tmp_path):
    with pytest.raises(OptionError, match="(?s)" + words.replace("(", r"\(")):
        exercise(text, tmp_path)
