r"""Long equations of motion as LaTeX: first their common parts with names, p_1 = ..., then the equations with these.

Coefficients of accelerations, forces and the rest are searched for common parts by SymEngine; accelerations and
multipliers are in no part, so that each equation remains one of M a + h = Q.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import symengine
import sympy

from saltus.symbolic.expressions import to_sympy

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations
    from saltus.symbolic.show.notation import Notation

LETTERS = ("p", "z", r"\rho", r"\zeta")  # of the parts: the first that no symbol has


def equations_by_parts(equations: DerivedEquations, notation: Notation) -> list[str]:
    """Lines of an `aligned` environment: a definition for each common part, then the equations."""
    d, n = equations.derivation, len(equations.v)
    right = [symengine.Add(*(force[i] for force in d.forces.values())) for i in range(n)]
    lower = [(i, j) for i in range(n) for j in range(i + 1)]
    wanted = [*(d.M[i][j] for i, j in lower), *d.bias, *right, *(x for row in d.jacobian for x in row)]
    replaced, short = symengine.cse([symengine.sympify(x) for x in wanted])
    put: dict[Any, Any] = {}  # what stands for each of the search's symbols
    parts = []
    for symbol, expression in replaced:
        part = to_sympy(expression).xreplace(put)
        if not _is_angle(part, set(equations.q)):
            name = sympy.Symbol(f"_part_{len(parts) + 1}")
            parts.append((name, part))
            part = name
        put[to_sympy(symbol)] = part
    taken = {text.partition("_")[0] for text in notation.names.values()}
    letter = next(x for x in LETTERS if x not in taken or x == LETTERS[-1])
    notation.name_parts({name: rf"{letter}_{{{k}}}" for k, (name, _) in enumerate(parts, 1)})
    found = [to_sympy(x).xreplace(put) for x in short]
    M = dict(zip(lower, found, strict=False))
    h, Q, J = found[len(lower) :][:n], found[len(lower) + n :][:n], found[len(lower) + 2 * n :]
    multipliers = [sympy.Symbol(f"lambda{k + 1}") for k in range(len(d.jacobian))]
    lines = [line for name, part in parts for line in notation.long_rows(notation.names[name], part)]
    for i in range(n):
        left = sympy.Add(*(M[max(i, j), min(i, j)] * a for j, a in enumerate(equations.a)), h[i])
        held = (J[k * n + i] * m for k, m in enumerate(multipliers))
        lines += notation.long_rows("", sympy.Eq(left, sympy.Add(Q[i], *held), evaluate=False))
    return lines


def _is_angle(part: Any, coordinates: set[Any]) -> bool:
    """Whether a part is read more easily than a name: a sum of coordinates, or the sine or cosine of a single one."""
    if isinstance(part, sympy.sin | sympy.cos):
        return part.args[0] in coordinates
    return part.free_symbols <= coordinates and not part.atoms(sympy.Function) and not part.is_Pow
