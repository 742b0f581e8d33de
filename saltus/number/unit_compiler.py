"""The process beside another one that compiles units for it: see `saltus.number.aside`.

Reads names of parts' files, a line each; writes a line when it has finished with one, whether or not it could.
"""

import os
import sys
from contextlib import suppress

from numba.core.registry import cpu_target

from saltus.number import aside
from saltus.number.parts import unit_path
from saltus.number.units import compile_unit


def main() -> None:
    """Compile the units that standard input names, until it ends."""
    aside.MOST = 0  # this is the process aside
    codegen = cpu_target.target_context.codegen()
    for line in sys.stdin:
        file = line.rstrip("\n")
        with suppress(Exception):  # the one that asks compiles it, and meets the error
            if not os.path.exists(unit_path(file)):
                compile_unit(file, codegen)
        print(file, flush=True)


if __name__ == "__main__":
    main()
