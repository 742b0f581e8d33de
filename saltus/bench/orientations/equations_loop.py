"""The time loop around derived equations: semi-implicit Euler with the generated code, in Python and in Numba.

Maximal coordinates are held together by multipliers, (M, Jᵀ; J, 0) (a, -λ) = (f, γ), and may be stabilised by
γ - 2 s J v - s² Φ (Baumgarte 1972).
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from saltus.bench.orientations.case import TIMESTEP
from saltus.symbolic.export.numba_code import numba_source
from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import Routine, write

#: advance(q, v, strengths, s): takes a step for each strength of the force; q and v are changed in place.
Advance = Callable[[np.ndarray, np.ndarray, np.ndarray, float], None]

# results of a routine that maximal coordinates add to M and force
CONSTRAINTS = ("jacobian", "gamma", "phi")


def python_loop(routine: Routine) -> Advance:
    """The loop in Python, with NumPy's linear solution."""
    evaluate = function(routine)
    n, size = _sizes(routine)
    system = np.zeros((size, size))

    def accelerations(q: np.ndarray, v: np.ndarray, u: float, s: float) -> np.ndarray:
        if size == n:
            return np.linalg.solve(*evaluate(q, v, (u,)))
        M, force, J, gamma, phi = evaluate(q, v, (u,))
        system[:n, :n], system[n:, :n], system[:n, n:] = M, J, J.T
        right = np.concatenate([force, gamma - 2.0 * s * (J @ v) - s * s * phi])
        return np.linalg.solve(system, right)[:n]

    def advance(q: np.ndarray, v: np.ndarray, strengths: np.ndarray, s: float) -> None:
        for u in strengths:
            v += TIMESTEP * accelerations(q, v, u, s)
            q += TIMESTEP * v

    return advance


def numba_loop(routine: Routine, folder: Path) -> Advance:
    """The loop in Numba, all of it compiled; the generated module is written into a folder."""
    n, size = _sizes(routine)
    nc = size - n
    code, places, constants, first = _packed(routine)
    into = getattr(_imported(code, folder), f"{code.name}_into")
    M, jacobian, force, gamma, phi = (first.get(name, 0) for name in ("M", "jacobian", "force", "gamma", "phi"))
    solve = numba.njit(error_model="numpy")(solve_symmetric)

    @numba.njit(error_model="numpy")
    def fill(x, v, s, A, b):
        for i in range(n):
            b[i] = x[force + i]
            for j in range(i + 1):
                A[i, j] = x[M + i * n + j]
        for k in range(nc):
            rate = 0.0
            for i in range(n):
                A[n + k, i] = x[jacobian + k * n + i]
                rate += A[n + k, i] * v[i]
            for i in range(n, n + k + 1):
                A[n + k, i] = 0.0
            b[n + k] = x[gamma + k] - 2.0 * s * rate - s * s * x[phi + k]

    @numba.njit("void(f8[::1], f8[::1], f8[::1], f8)", error_model="numpy")
    def advance(q, v, strengths, s):
        A, b, u = np.empty((size, size)), np.empty(size), np.empty(1)
        x, varying = constants.copy(), np.empty(len(places))
        for strength in strengths:
            u[0] = strength
            into(q, v, u, varying)
            for k in range(len(places)):
                x[places[k]] = varying[k]
            fill(x, v, s, A, b)
            solve(A, b)
            for i in range(n):
                v[i] += TIMESTEP * b[i]
                q[i] += TIMESTEP * v[i]

    return advance


def _packed(routine: Routine) -> tuple[Routine, np.ndarray, np.ndarray, dict[str, int]]:
    """Routine of the entries that vary, their places among all entries, the constants, and the offset of each result.

    Most entries of maximal coordinates are constant, and Numba takes long to compile the storing of each.
    """
    sizes = [math.prod(shape) for shape in routine.shapes.values()]
    first = dict(zip(routine.shapes, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    constants, places, varying = np.zeros(sum(sizes)), [], []
    for name, shape in routine.shapes.items():
        for index in routine.computed(name):
            place, entry = first[name] + int(np.ravel_multi_index(index, shape)), routine.entry(name, index)
            if entry.free_symbols:
                places.append(place)
                varying.append(entry)
            else:
                constants[place] = float(entry)
    return Routine(routine.name, routine.arguments, {"varying": varying}), np.array(places), constants, first


def solve_symmetric(A: Any, b: Any) -> None:
    """Solve A x = b by L D Lᵀ without pivots, in place, from A's lower triangle; b becomes x.

    Pivots are not needed for (M, Jᵀ; J, 0) with M positive definite, before it, and J of full rank.
    """
    n = len(b)
    for j in range(n):
        for i in range(j + 1, n):
            r = A[i, j] / A[j, j]
            for k in range(j + 1, i + 1):
                A[i, k] -= r * A[k, j]
        for i in range(j + 1, n):
            A[i, j] /= A[j, j]
            b[i] -= A[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        b[i] /= A[i, i]
        for k in range(i + 1, n):
            b[i] -= A[k, i] * b[k]


def _sizes(routine: Routine) -> tuple[int, int]:
    """Number of velocities, and number of unknowns with the multipliers."""
    n = routine.shapes["force"][0]
    return n, n + (routine.shapes["gamma"][0] if "gamma" in routine.shapes else 0)


def _imported(routine: Routine, folder: Path) -> Any:
    path = folder / f"{routine.name}.py"
    write(path, numba_source(routine))
    spec = importlib.util.spec_from_file_location(routine.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
