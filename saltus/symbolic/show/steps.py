"""The derivation as a student would follow it: its steps in order, each with a name, words and results.

for step in steps(equations):
    print(step.title, step.results)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from saltus.symbolic.show import step_forces, step_frames, step_terms
from saltus.symbolic.show.arranged import size
from saltus.symbolic.show.common_parts import equations_by_parts
from saltus.symbolic.show.notation import LONGEST, WIDTH, Notation
from saltus.symbolic.show.step import Step, Steps

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations
    from saltus.symbolic.numeric import NumericEquations

OPERATIONS = 2000  # most operations of equations that a notebook shows


def steps(equations: DerivedEquations, width: float = WIDTH) -> Steps:
    """Steps of a derivation, in order; `width` of a line of their formulas in characters."""
    notation = Notation(equations, width)
    makers: list[Callable[[DerivedEquations, Notation], Iterator[dict[str, Any]]]] = [
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


def equations_latex(equations: DerivedEquations) -> str:
    """The equations of motion alone, in one `aligned` environment; of long ones, common parts are named first."""
    notation = Notation(equations)
    found = step_terms.equations(equations, notation)
    if any(size(equation) > LONGEST for equation in found.values()):
        lines = equations_by_parts(equations, notation)
    else:
        lines = [line for equation in found.values() for line in notation.rows("", equation)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def matrix_latex(equations: DerivedEquations) -> str:
    """LaTeX of the equations of motion with matrices; a single equation as it is."""
    (*_, last) = step_terms.equations_of_motion(equations, notation := Notation(equations))
    if last["name"] != "matrices":
        return equations_latex(equations)
    right = r"Q + J^{\mathsf{T}} \lambda" if equations.derivation.jacobian else "Q"
    acceleration = "a" if equations.derivation.jacobian else r"\ddot{q}"
    lines = [f"M {acceleration} + h &= {right}"]
    lines += [line for left, matrix in last["results"].items() for line in notation.rows(left, matrix)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def found(steps_: tuple[Step, ...], name: str) -> Step:
    """Find the step with a name; the KeyError for an unknown one names those there are."""
    for step in steps_:
        if step.name == name:
            return step
    raise KeyError(f"no step {name!r}; there are: {', '.join(step.name for step in steps_)}")


def is_short(equations: NumericEquations) -> bool:
    """Whether equations are short enough to be shown unasked."""
    return equations.count_ops().total <= OPERATIONS
