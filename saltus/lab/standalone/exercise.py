"""The text of a standalone page: Markdown with links to starts of the simulation, and tasks that the page checks.

A task is a fenced block of the language `task`, one `name: value` a line:

    ```task
    question: How long is a period?
    answer: 2.84
    tolerance: 0.02
    unit: s
    hint: Small swings alone have the period of the formula.
    ```

The tolerance is a number in the answer's unit, or a part of it with a % sign; `unit` and `hint` may be left out.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from saltus.errors import OptionError

NEEDED, OPTIONAL = ("question", "answer", "tolerance"), ("unit", "hint")
TASK = "task"


@dataclass(frozen=True)
class Task:
    """A question with a number for an answer, in `unit`; it is right within `tolerance`, in the same unit."""

    question: str
    answer: float
    tolerance: float
    unit: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Exercise:
    """A page's text as HTML, in which elements of the class "task" stand for its tasks in their order."""

    html: str
    tasks: tuple[Task, ...]


def exercise(text: str, folder: Path = Path()) -> Exercise:
    """Make a page's text of Markdown. Pictures are read from files, relative to the folder, and put into the page.

    Raises:
        OptionError: a task lacks something or has a value that is no number, or a picture cannot be read.
    """
    tasks: list[Task] = []
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")

    def fence(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        if tokens[at].info.strip() != TASK:
            return renderer.fence(tokens, at, options, env)
        tasks.append(_task(tokens[at].content))
        return f'<div class="task" data-task="{len(tasks) - 1}"></div>\n'

    def image(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        token.attrSet("src", _embedded(str(token.attrGet("src")), folder))
        return renderer.image(tokens, at, options, env)

    markdown.add_render_rule("fence", fence)
    markdown.add_render_rule("image", image)
    return Exercise(markdown.render(text), tuple(tasks))


def _task(content: str) -> Task:
    given: dict[str, str] = {}
    for line in filter(str.strip, content.splitlines()):
        name, colon, value = line.partition(":")
        if not colon or name.strip() not in (*NEEDED, *OPTIONAL):
            raise OptionError(
                f"a task has lines such as `answer: 2.84` ({', '.join((*NEEDED, *OPTIONAL))}), not {line!r}"
            )
        given[name.strip()] = value.strip()
    if missing := [name for name in NEEDED if not given.get(name)]:
        raise OptionError(f"the task {given.get('question', content.strip())!r} has no {missing[0]}")
    answer = _number("answer", given["answer"])
    part = given["tolerance"].endswith("%")
    tolerance = _number("tolerance", given["tolerance"].rstrip("% ")) * (abs(answer) / 100 if part else 1.0)
    if tolerance <= 0.0:
        raise OptionError(
            f"the task {given['question']!r} has a tolerance of {given['tolerance']}; it must be positive"
        )
    return Task(given["question"], answer, tolerance, given.get("unit", ""), given.get("hint", ""))


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if abs(value) < float("inf"):
        return value
    raise OptionError(f"a task's {name} is a number, not {text!r}")


def _embedded(address: str, folder: Path) -> str:
    """The picture at an address as a data URI: pages load nothing from a network."""
    if urlsplit(address).scheme or address.startswith("//"):
        raise OptionError(
            f"the picture {address} is not a file; pages load nothing from a network, so save it beside the text"
        )
    path = folder / unquote(address)
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise OptionError(f"{path} is not a picture by its name; use .png, .jpg, .svg, .gif or .webp")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OptionError(f"the picture {path} cannot be read: {error.strerror}") from None
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
