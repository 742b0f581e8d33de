"""One step of a derivation, and how a notebook shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from saltus.symbolic.expressions import Algebraic
from saltus.symbolic.show.math_html import Table, formula, in_notebook, inline, paragraphs, table_html
from saltus.symbolic.show.notation import Notation


@dataclass(frozen=True)
class Step:
    r"""One step of a derivation.

    name: key of the step, "kinetic energy"; title: a heading; text: why, in paragraphs with blank lines between,
    formulas between dollar signs; results: left sides in LaTeX with their values, of SymPy: expressions, matrices, or
    equations, which have their own left side; table: head and rows of texts like `text`, None if there is none.
    """

    name: str
    title: str
    text: str
    results: Mapping[str, Algebraic]
    notation: Notation = field(repr=False, compare=False)
    table: Table | None = None

    def rows(self) -> list[list[str]]:
        """Lines of an `aligned` environment for each result."""
        found = [self.notation.rows(left, right) for left, right in self.results.items()]
        # equations that are too long to be aligned at their sign begin at the left, and all others with them
        if any(rows[0].startswith("& ") for rows in found):
            found = [rows if rows[0].startswith("& ") else [f"& {rows[0].replace(' &= ', ' = ')}"] for rows in found]
        return found

    def latex(self) -> str:
        r"""The results in one `aligned` environment, to stand between \[ and \]; "" if there are none."""
        lines = [line for rows in self.rows() for line in rows]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}" if lines else ""

    def _repr_html_(self) -> str:
        return in_notebook(step_html(self))

    def _repr_latex_(self) -> str | None:
        return f"$\\displaystyle {self.latex()}$" if self.results else None


class Steps(tuple[Step, ...]):
    """Steps in order, which notebooks show below each other."""

    def _repr_html_(self) -> str:
        return in_notebook("".join(map(step_html, self)))


def step_html(step: Step, heading: str = "h3") -> str:
    """A step with its heading, if there is to be one."""
    title = f"<{heading}>{inline(step.title)}</{heading}>" if heading else ""
    first, last = step.text, ""
    if step.table and step.results and "\n\n" in step.text:  # the last words belong to the formulas
        first, _, last = step.text.rpartition("\n\n")
    parts = [title, paragraphs(first), table_html(step.table) if step.table else "", paragraphs(last)]
    return "".join(parts) + formula(step.latex())
