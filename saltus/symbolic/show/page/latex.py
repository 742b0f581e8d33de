"""The derivation as a LaTeX document: text, formulas and plots of the page, for pdflatex with amsmath and pgfplots."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.symbolic.show.latex_code import WIDTH as PRINTED
from saltus.symbolic.show.latex_code import document, escaped
from saltus.symbolic.show.page.motion import Panel, panels
from saltus.symbolic.show.page.sheet import Sheet
from saltus.symbolic.show.step import Step
from saltus.symbolic.show.steps import found

if TYPE_CHECKING:
    from saltus.symbolic.numeric import NumericEquations
    from saltus.symbolic.show.math_html import Table

ROWS = 40  # rows of a table on one page
POINTS = 400  # points of a curve
PLAIN = {"²": "$^2$", "³": "$^3$", "·": r"$\cdot$", "−": "-", "½": r"$\tfrac12$"}


def write_latex(
    equations: NumericEquations, path: str | os.PathLike[str], *, duration: float = 10.0, integrator: str | None = None
) -> None:
    """Write the derivation as a LaTeX document (.tex), with its plots; options as of `write_page`.

    Raises:
        OptionError: the file's suffix, the duration or the integrator is none.
        RecordError: the file cannot be written.
    """
    if os.path.splitext(os.fspath(path))[1].lower() != ".tex":
        raise OptionError(f"the suffix of a LaTeX document must be .tex, got '{os.fspath(path)}'")
    text = latex_document(Sheet(equations, duration, integrator, PRINTED))
    write_whole(path, text.encode(), what="derivation")


def latex_document(sheet: Sheet) -> str:
    """The document's text."""
    final = found(sheet.steps, "equations of motion")
    first = inline(f"{sheet.subtitle}.") + "\n\n" + display(final)
    if sheet.equations.left_out:
        first += inline(f"Not in these equations: {'; '.join(sheet.equations.left_out)}.")
    sections = [("", first)]
    for chapter, steps in sheet.chapters():
        parts = []
        for step in steps:
            alone = len(steps) == 1 or step.title == chapter
            parts.append(("" if alone else f"\\subsection*{{{inline(step.title)}}}\n") + step_latex(step))
        sections.append((chapter, "\n\n".join(parts)))
    figures = [figure(caption, row) for caption, row in panels(sheet.equations, sheet.notation, sheet.motion)]
    sections.append(("Motion", "\n\n".join([inline(sheet.motion_text()), *figures])))
    sections.append(("Check against the numeric engine", inline(sheet.check_text())))
    sections.append(("Code", inline(sheet.cost_text())))
    return document(sheet.title, sections, packages=[r"\usepackage{pgfplots}", r"\pgfplotsset{compat=1.16}"])


def step_latex(step: Step) -> str:
    """A step's text, table and formulas."""
    text, last = step.text, ""
    if step.table and step.results and "\n\n" in step.text:
        text, _, last = step.text.rpartition("\n\n")
    parts = [inline(text), _table(step.table) if step.table else "", inline(last), display(step)]
    return "\n\n".join(part for part in parts if part)


def display(step: Step) -> str:
    """A step's formulas on lines of their own, over pages if need be."""
    lines = [line for rows in step.rows() for line in rows]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" if lines else ""


def figure(caption: str, row: list[Panel]) -> str:
    """Plots side by side, with their data in the document."""
    width = 0.78 if row[0].over_time else 0.98 / max(len(row), 2)
    body = "\n".join(_axes(panel, width) for panel in row)
    # one box, so that the caption stays with it
    return (
        f"\\medskip\\noindent\\begin{{minipage}}{{\\textwidth}}\\centering\n{inline(caption)}\\\\[1ex]\n{body}\n"
        "\\end{minipage}"
    )


def _axes(panel: Panel, width: float) -> str:
    options = [rf"width={width:.2f}\textwidth", "height=5cm", "grid=major", "grid style={gray!20}"]
    options += [f"xlabel={{{inline(panel.x)}}}", f"ylabel={{{inline(panel.y)}}}"]
    options += ["label style={font=\\small}", "tick label style={font=\\footnotesize}"]
    if panel.over_time:
        options += ["enlarge x limits=false", "legend pos=outer north east", "legend style={draw=none,font=\\small}"]
    lines = [r"\begin{tikzpicture}", rf"\begin{{axis}}[{', '.join(options)}]"]
    for label, x, y, colour in panel.curves:
        every = -(-len(x) // POINTS)
        points = " ".join(f"({a:.5g},{b:.5g})" for a, b in zip(x[::every], y[::every], strict=True))
        name = f"c{colour.lstrip('#')}"  # axes are drawn at their end, when a name for all would be that of the last
        lines += [rf"\definecolor{{{name}}}{{HTML}}{{{name[1:].upper()}}}"]
        lines += [rf"\addplot[{name}, semithick, no marks] coordinates {{{points}}};"]
        lines += [rf"\addlegendentry{{{inline(label)}}}"] if label else []
    return "\n".join([*lines, r"\end{axis}", r"\end{tikzpicture}"])


def inline(text: str) -> str:
    """A text with formulas between dollar signs; the rest is escaped."""
    out = []
    for part in re.split(r"(\$\$.+?\$\$|\$.+?\$)", text, flags=re.DOTALL):
        if part.startswith("$$"):
            out.append(rf"\[{part[2:-2]}\]")
        elif part.startswith("$"):
            out.append(part)
        else:
            out.append("".join(PLAIN.get(c, escaped(c)) for c in part))
    return "".join(out)


def _table(table: Table) -> str:
    """Tables of at most so many rows, their widest column as wide as there is room."""
    head, rows = table
    lengths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    widest = max(range(len(head)), key=lengths.__getitem__)
    columns = "".join(r"p{0.45\textwidth}" if k == widest and lengths[k] > 30 else "l" for k in range(len(head)))
    out = []
    for start in range(0, len(rows), ROWS):
        lines = [" & ".join(map(inline, row)) + r" \\" for row in rows[start : start + ROWS]]
        top = " & ".join(map(inline, head)) + r" \\ \hline"
        body = "\n".join([top, *lines])
        out.append(
            f"\\begin{{center}}\n\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{tabular}}\n\\end{{center}}"
        )
    return "\n".join(out)
