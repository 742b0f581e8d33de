"""Decorators of the rasteriser's compiled code, which is cached on disk like the physics kernels.

The cache key of the physics kernels does not include these sources and is completed here.
"""

import functools
import hashlib
from pathlib import Path
from typing import Any

from numba import njit

from saltus.number.compile.loading import LoadingCache
from saltus.number.internals import keep_in
from saltus.number.kernels import FASTMATH

ROOM = Path(__file__).resolve().parents[1]  # draw/


@functools.cache
def sources() -> str:
    """Hash of all sources of draw/, so that an edit of any of them recompiles."""
    digest = hashlib.sha256()
    for source in sorted(ROOM.rglob("*.py")):
        digest.update(str(source.relative_to(ROOM)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


def entry(function) -> Any:
    """Compile a function called from Python at its first use. It releases the GIL and must not allocate memory."""
    options: dict[str, Any] = dict(
        nogil=True, error_model="numpy", fastmath=set(FASTMATH), no_cfunc_wrapper=True, _nrt=False
    )
    dispatcher: Any = njit(**options)(function)
    keep_in(LoadingCache(function, also=sources(), room=ROOM), dispatcher)
    return dispatcher


def part(function=None, *, strict=False) -> Any:
    """Compile a function called from compiled code. `strict` keeps floating-point operations as written."""
    if function is None:
        return functools.partial(part, strict=strict)
    fastmath = False if strict else set(FASTMATH)
    options: dict[str, Any] = dict(
        error_model="numpy", fastmath=fastmath, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False
    )
    return njit(**options)(function)
