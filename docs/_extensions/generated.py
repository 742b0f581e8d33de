"""The directive `generated`: tables of the reference that are made from the code when the site is built.

    ```{generated} integrators
    ```

Its argument is one of `integrators`, `bundled-models`, `data-fields`, `model-fields`, `mujoco-fields`,
`command-line`, `bench-commands`. Each is a function here that returns Markdown, whose headings become sections of the
page.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

UNITS = re.compile(r" \(([^()]*)\)\.?$")
UNIT = re.compile(r"\b(m|rad|kg|N|J|s)\b|^1/s")
PAGE = re.compile(r"\bdocs/(\w+/\w+)\.md")
SHAPE = re.compile(r"\[([^\]]*)\] ")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


# ---------------------------------------------------------------- integrators and models


def _room(integrator: Any) -> list[str]:
    """The parts of the name of the module that an integrator's step is in."""
    return integrator.step.py_func.__module__.split(".")


def integrators() -> str:
    """Every integrator with its declared properties."""
    import saltus

    rows = []
    references = []
    for name, one in saltus.integrators().items():
        implicit = one.kind in ("implicit", "time-stepping") or "implicit" in _room(one) or "radau" in _room(one)
        marks = ["✓" if is_it else "" for is_it in (one.adaptive, implicit, one.kind == "symplectic")]
        rows.append([f"`{name}`", str(one.order), one.kind, *marks])
        references.append([f"`{name}`", one.reference])
    head = ["name", "order", "kind", "adaptive", "implicit", "symplectic"]
    return f"{table(head, rows)}\n{table(['name', 'reference'], references)}"


def bundled_models() -> str:
    """The bundled models, each with the comment of its file."""
    import saltus
    from saltus.model.source.bundled_names import BUNDLED

    out = []
    for name in saltus.models():
        comment = re.search(r"<!--(.*?)-->", (BUNDLED / f"{name}.xml").read_text(encoding="utf-8"), re.S)
        out += [f"## {name}", "", prose(textwrap.dedent(comment[1].strip("\n")) if comment else ""), ""]
    return "\n".join(out)


def prose(text: str) -> str:
    """Plain text as Markdown: indented blocks, which hold formulas, are literal, and * and _ are themselves."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.startswith("  "):
            least = min(len(row) - len(row.lstrip()) for row in paragraph.split("\n"))
            out.append("\n".join(["```text", *(row[least:] for row in paragraph.split("\n")), "```"]))
        else:
            paragraph = "\n".join(row.strip() for row in paragraph.split("\n"))
            parts = re.split(r"(`[^`]+`)", paragraph)
            parts[::2] = [re.sub(r"([*<>$\[\]]|\b_|_\b)", r"\\\1", part) for part in parts[::2]]
            out.append(PAGE.sub(r"{doc}`/\1`", "".join(parts)))
    return "\n\n".join(out)


# ---------------------------------------------------------------- fields


def data_fields() -> str:
    from saltus.simulate.engine.data_fields import DataFields

    return _fields(DataFields)


def model_fields() -> str:
    from saltus.model.model_fields import ModelFields

    return _fields(ModelFields)


def mujoco_fields() -> str:
    from saltus.model.source.mujoco_fields.page import document

    return document()


def _fields(kind: type) -> str:
    """Fields of a class, in the groups that blank lines or comments make of them, with shape and unit."""
    source = textwrap.dedent(inspect.getsource(kind))
    body = ast.parse(source).body[0].body
    rows = source.split("\n")
    groups: list[tuple[str, list[list[str]]]] = []
    for field, about in itertools.pairwise(body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(about, ast.Expr):
            continue
        above = rows[field.lineno - 2].strip()
        if not groups or not above or above.startswith("#"):
            heading = above.lstrip("# ") if above.startswith("#") else ""
            groups.append((heading, []))
        groups[-1][1].append([f"`{field.target.id}`", *_described(ast.literal_eval(about.value), field.annotation)])
    out = []
    for heading, lines in groups:
        prefixes = {line[0].partition("_")[0] for line in lines}
        if not heading and len(prefixes) == 1 and len(lines) > 1:
            heading = f"{prefixes.pop()}_...`"
        out += [f"## {_capital(heading)}"] if heading else []
        out.append(table(["name", "shape", "unit", "meaning"], lines))
    return "\n\n".join(out)


def _described(text: str, annotation: ast.expr) -> tuple[str, str, str]:
    """Shape, unit and meaning of a field, from its docstring: "[nv] velocities (rad/s, m/s)."."""
    shape = SHAPE.match(text)
    text = text[shape.end() :] if shape else text
    unit = UNITS.search(text)
    if unit and UNIT.search(unit[1]) and text.count("(") == 1:
        text = text[: unit.start()] + "."
    else:
        unit = None
    return (f"[{shape[1]}]" if shape else ast.unparse(annotation)), unit[1] if unit else "", prose(_capital(text))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---------------------------------------------------------------- the command line


def command_line() -> str:
    """Every command of `saltus`, with its arguments and options."""
    return "\n\n".join(_command(path, command) for path, command in commands())


def bench_commands() -> str:
    """The commands of `saltus bench` and what each compares."""
    rows = [[f"`saltus {path}`", _help(command)[0]] for path, command in commands() if path.startswith("bench ")]
    return table(["command", "what it compares"], rows)


def commands() -> list[tuple[str, Any]]:
    """Names and commands, those of groups with the group's name before theirs."""
    import typer

    from saltus.cli import app

    found = []

    def walk(path: str, command: Any) -> None:
        for name, inner in getattr(command, "commands", {}).items():
            if hasattr(inner, "commands"):
                walk(f"{path}{name} ", inner)
            elif not inner.hidden:
                found.append((f"{path}{name}", inner))

    walk("", typer.main.get_command(app))
    return found


def _command(path: str, command: Any) -> str:
    context = command.make_context(path, [], resilient_parsing=True)
    usage = re.sub(r"[{}]", "", " ".join(command.collect_usage_pieces(context)))
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and parameter.name not in ("install_completion", "show_completion"):
            rows.append(_option(*record))
    options = table(["argument or option", "meaning", "default"], rows)
    return "\n\n".join(
        [f"## saltus {path}", f"```text\nsaltus {path} {usage}\n```", *map(prose, _help(command)), options]
    )


def _help(command: Any) -> list[str]:
    return [inspect.cleandoc(text) for text in re.split(r"\n\s*\n", command.help or "")]


def _option(names: str, about: str) -> list[str]:
    """A row from a line of --help, whose end is "[default: ...]" or "[required]" where it has one."""
    end = re.search(r"\s*\[(?:default: (.*?)|required)\]$", about)
    about = about[: end.start()] if end else about
    return [f"`{names}`", prose(" ".join(about.split())), "" if not end else f"`{end[1]}`" if end[1] else "required"]


MADE = {
    "integrators": integrators,
    "bundled-models": bundled_models,
    "data-fields": data_fields,
    "model-fields": model_fields,
    "mujoco-fields": mujoco_fields,
    "command-line": command_line,
    "bench-commands": bench_commands,
}


class Generated(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        made = MADE.get(self.arguments[0])
        if made is None:
            raise self.error(f"generated: unknown table {self.arguments[0]!r}; one of {', '.join(MADE)}")
        self.env.note_reread()  # the sources are all of Saltus
        return self.parse_text_to_nodes(made(), allow_section_headings=True)


def setup(app) -> dict[str, Any]:
    app.add_directive("generated", Generated)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
