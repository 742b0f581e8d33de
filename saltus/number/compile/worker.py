"""The process beside another one that compiles for it: see `saltus.number.compile.worker_pool`.

Its arguments are modules that it needs. It reads what to compile, a line each, and writes a line when it has finished
with one, whether or not it could.
"""

import importlib
import sys
from contextlib import suppress

from saltus.number.cache.storage import is_kept
from saltus.number.compile import prefetch, worker_pool
from saltus.number.compile.parts import unit_name
from saltus.number.compile.units import compile_unit
from saltus.number.internals import host_code_generator


def main() -> None:
    """Compile what standard input names, until it ends."""
    worker_pool.MOST = 0  # this is the process aside
    for module in sys.argv[1:]:
        with suppress(ImportError):
            importlib.import_module(module)
    codegen = host_code_generator()
    for line in sys.stdin:
        what, name = line.split()
        with suppress(Exception):  # the one that asks compiles it, and meets the error
            if what == "kernel":
                prefetch.compile_kernel(name)
            elif not is_kept(unit_name(name)):
                compile_unit(name, codegen)
        print(what, flush=True)


if __name__ == "__main__":
    main()
