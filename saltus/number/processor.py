"""The processor that machine code is for: not this one, but all of the family that it belongs to.

So computers of one family run the same code and can share it. What a processor has beyond its family makes steps
faster by nothing that one could measure.
"""

import functools
import platform

import llvmlite.binding as llvm
from numba import config

from saltus.number.internals import code_generator_for

# What all processors of a family have, the best family first: the levels of the x86-64 psABI.
_V2 = ["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"]
_V3 = [*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"]
_V4 = [*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
FAMILIES = {"x86-64-v4": _V4, "x86-64-v3": _V3}


@functools.cache
def family() -> str:
    """The best family that this computer's processor belongs to; "" if it belongs to none, or Numba is told another."""
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:
        return ""
    has = llvm.get_host_cpu_features()
    return next((name for name, needed in FAMILIES.items() if all(map(has.get, needed))), "")


def register_bits() -> int:
    """Width in bits of the widest SIMD register that machine code uses."""
    features = dict.fromkeys(FAMILIES[family()], True) if family() else llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 512
    if features.get("avx"):
        return 256
    return 128


def cpu_name() -> str:
    """Name of this CPU as machine code sees it, for cache keys and recordings."""
    name = family() or "-".join(filter(None, [config.CPU_NAME or llvm.get_host_cpu_name(), config.CPU_FEATURES]))
    return f"{platform.machine()}-{name}-{register_bits()}"


@functools.cache
def code_generator(codegen):
    """A copy of Numba's code generator that makes machine code for the family."""
    if not family():
        return codegen
    return code_generator_for(codegen, family(), ",".join(f"+{feature}" for feature in FAMILIES[family()]))
