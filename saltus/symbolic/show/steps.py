"""The derivation as a student would follow it: its steps in order, each with a name, words and results.

for step in steps(equations):
    print(step.title, step.results)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from saltus.symbolic.show import step_forces, step_frames, step_terms
from saltus.symbolic.show.notation import WIDTH, Notation

if TYPE_CHECKING:
    from saltus.symbolic.equations import Equations

Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]  # head and rows


@dataclass(frozen=True)
class Step:
    r"""One step of a derivation.

    name: what it is found by, "kinetic energy"; title: a heading; text: why, in paragraphs with blank lines between,
    formulas between dollar signs; results: left sides in LaTeX and what they equal, of SymPy: expressions, matrices, or
    equations, which have their own left side; table: head and rows of texts like `text`, None if there is none.
    """

    name: str
    title: str
    text: str
    results: Mapping[str, Any]
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
        from saltus.symbolic.show.page_html import in_notebook, step_html

        return in_notebook(step_html(self))

    def _repr_latex_(self) -> str | None:
        return f"$\\displaystyle {self.latex()}$" if self.results else None


class Steps(tuple[Step, ...]):
    """Steps in order, which notebooks show below each other."""

    def _repr_html_(self) -> str:
        from saltus.symbolic.show.page_html import in_notebook, step_html

        return in_notebook("".join(map(step_html, self)))


def steps(equations: Equations, width: float = WIDTH) -> Steps:
    """All steps of a derivation, in order; `width` of a line of their formulas in characters."""
    notation = Notation(equations, width)
    makers: list[Callable[[Equations, Notation], Iterator[dict[str, Any]]]] = [
        step_frames.coordinates,
        step_frames.parameters,
        step_frames.positions,
        step_frames.velocities,
        step_terms.energies,
        step_terms.terms,
        step_forces.forces,
        step_terms.equations_of_motion,
        step_forces.constraints,
    ]
    return Steps(Step(notation=notation, **made) for make in makers for made in make(equations, notation))


def equations_latex(equations: Equations) -> str:
    """The equations of motion alone, in one `aligned` environment."""
    notation = Notation(equations)
    lines = [line for eq in step_terms.equations(equations, notation).values() for line in notation.rows("", eq)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def found(steps_: tuple[Step, ...], name: str) -> Step:
    """The step with a name; KeyError names those there are."""
    for step in steps_:
        if step.name == name:
            return step
    raise KeyError(f"no step {name!r}; there are: {', '.join(step.name for step in steps_)}")
