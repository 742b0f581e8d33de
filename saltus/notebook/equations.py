"""Display of equations of motion: in matrix form, one by one, and the meanings of their symbols."""

from __future__ import annotations

from saltus.notebook.html import Html, display, escaped, facts, folded, note, table, title
from saltus.symbolic.numeric import NumericEquations
from saltus.symbolic.show.math_html import MATH_STYLE, font_style, formula, inline
from saltus.symbolic.show.names import latex_names
from saltus.symbolic.show.steps import equations_latex, is_short, matrix_latex
from saltus.terminal.display import count


def equations_html(equations: NumericEquations) -> Html:
    """Display equations of motion, unless they are too long to read, and their symbols."""
    words = f"{equations.orientation} coordinates, {count(len(equations.v), 'velocity')}"
    heading = title(f"Equations of motion of {equations.model.name}", words)
    letters = folded("letters", _letters(equations))
    left_out = note(f"not in the equations: {'; '.join(equations.left_out)}") if equations.left_out else ""
    if not is_short(equations):
        operations = f"They have {equations.count_ops().total} operations, too many to show here."
        return display(heading, facts({"length": operations}), letters, left_out)
    style = f"<style>{font_style()}{MATH_STYLE}</style>"
    several = len(equations.v) > 1
    main = formula(matrix_latex(equations))
    single = folded("one by one", formula(equations_latex(equations))) if several else ""
    return display(style, heading, main, single, letters, left_out)


def _letters(equations: NumericEquations) -> Html:
    """Table of symbols with their meanings and values."""
    names = latex_names(equations)
    rows = [[_symbol(names, s), escaped(text), ""] for s, text in equations.meanings.items()]
    rows += [[_symbol(names, s), "parameter", f"{value:.6g}"] for s, value in equations.parameters.items()]
    rows += [[_symbol(names, s), escaped(text), ""] for s, text in equations.inputs.items()]
    return table(["symbol", "meaning", "value (SI units)"], rows)


def _symbol(names: dict, symbol: object) -> Html:
    return Html(inline(f"${names.get(symbol, str(symbol))}$"))
