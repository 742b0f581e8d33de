"""The processor that machine code is for: not this one, but all of the family that it belongs to.

So computers of one family run the same code and can share it. What a processor has beyond its family makes steps
faster by nothing that one could measure. Which architecture this is, LLVM is asked and not the system, which names that
of the computer where another one's programs are translated.
"""

import functools
import hashlib
import re

import llvmlite.binding as llvm
from numba import config

from saltus.number.internals import code_generator_for

X86, ARM = "x86_64", "aarch64"  # architectures, as LLVM calls them

# What all processors of a family have, the best family first: the levels of the x86-64 psABI.
_V2 = ["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"]
_V3 = [*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"]
_V4 = [*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
FAMILIES = {"x86-64-v4": _V4, "x86-64-v3": _V3}

# Every 64-bit ARM that runs programs has these; LLVM cannot tell what else one has on every system.
ARM_FAMILY, ARM_FEATURES = "armv8-a", ["fp-armv8", "neon"]


def architecture() -> str:
    """The architecture that this process runs machine code of, as LLVM calls it on Linux."""
    name = llvm.get_process_triple().partition("-")[0]
    return {"arm64": ARM, "amd64": X86}.get(name, name)


def system() -> str:
    """LLVM's name of architecture and operating system, whose version does not count: "arm64-apple-darwin"."""
    return re.sub(r"(darwin|macosx)[\d.]+", r"\1", llvm.get_process_triple())


@functools.cache
def family() -> str:
    """The best family that this computer's processor belongs to; "" if it belongs to none, or Numba is told another."""
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:
        return ""
    if architecture() == ARM:
        return ARM_FAMILY
    if architecture() != X86:
        return ""
    has = _features()
    return next((name for name, needed in FAMILIES.items() if all(map(has.get, needed))), "")


def register_bits() -> int:
    """Width in bits of the widest SIMD register that machine code uses: on ARM that of NEON."""
    if architecture() != X86:
        return 128
    features = dict.fromkeys(FAMILIES[family()], True) if family() else _features()
    if features.get("avx512f"):
        return 512
    if features.get("avx"):
        return 256
    return 128


def _features() -> dict[str, bool]:
    """The processor's features that Numba uses, or those that it is told to use."""
    if config.CPU_FEATURES is not None:
        return {name[1:]: name[0] == "+" for name in config.CPU_FEATURES.split(",") if name}
    has = llvm.get_host_cpu_features()
    return {name: there and (config.ENABLE_AVX or not name.startswith("avx")) for name, there in has.items()}


def cpu_name() -> str:
    """Name of this CPU as machine code sees it, for cache keys and recordings."""
    return f"{architecture()}-{family() or _own_name()}-{register_bits()}"


def _own_name() -> str:
    """The name of a processor of no family. Those of one name may differ in features, where a computer is simulated."""
    has = ",".join(sorted(name for name, there in _features().items() if there))
    features = config.CPU_FEATURES or hashlib.sha256(has.encode()).hexdigest()[:8]
    return f"{config.CPU_NAME or llvm.get_host_cpu_name()}-{features}"


@functools.cache
def code_generator(codegen):
    """A copy of Numba's code generator that makes machine code for the family."""
    if not family():
        return codegen
    cpu, features = (family(), FAMILIES[family()]) if family() in FAMILIES else ("generic", ARM_FEATURES)
    return code_generator_for(codegen, cpu, ",".join(f"+{feature}" for feature in features))
