"""Simplification beyond normal forms, with a limit on the time that it may take.

SymPy's `trigsimp` tries many rules and may take seconds or hours, so that it runs in a process of its own (this
module as a program), one expression after another, and those not done in time stay as they were.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import sympy

from saltus.errors import SaltusError
from saltus.symbolic.expressions import parsed, to_symengine, to_sympy


def simplified(expressions: Sequence[Any], limit: float) -> tuple[list[Any], int, float]:
    """Expressions as short as `trigsimp` makes them within `limit` seconds, how many were done, and the seconds.

    An expression that would become longer is returned unchanged.
    """
    began = time.perf_counter()
    command = [sys.executable, "-m", "saltus.symbolic.simplify"]
    pipe = subprocess.PIPE
    worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8")
    try:
        said, complaint = worker.communicate(json.dumps([str(to_sympy(x)) for x in expressions]), timeout=limit)
        if worker.returncode:
            raise SaltusError(f"simplification failed: {complaint.strip().splitlines()[-1]}")
    except subprocess.TimeoutExpired:
        worker.kill()
        said, _ = worker.communicate()
    lines = [line for line in said.splitlines(keepends=True) if line.endswith("\n")]  # the last may be half a line
    done = [to_symengine(parsed(line)) for line in lines]
    return [*done, *expressions[len(done) :]], len(done), time.perf_counter() - began


def main() -> None:
    """Read a list of expressions, write the simplified ones, a line each as soon as it is done."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # names are Greek letters, which not every system's encoding has
    for text in json.load(sys.stdin):
        expression = parsed(text)
        shorter = sympy.trigsimp(expression)
        print(shorter if shorter.count_ops() < expression.count_ops() else expression, flush=True)


if __name__ == "__main__":
    main()
