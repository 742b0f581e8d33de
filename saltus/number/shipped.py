"""Kernels that come with the package, compiled: a fresh installation need not compile them.

A wheel holds one archive of the files that `saltus.number.kept` keeps; `./ship` beside the sources makes it. Its name
has the key of the sources that it was made of, so that one of other sources is never opened. Intermediate code serves
every processor with registers as wide; machine code every processor of a family, with the same bits.
"""

import functools
import zipfile
from pathlib import Path

import llvmlite.binding as llvm
from numba import config

DIRECTORY = Path(__file__).parent / "archive"
MACHINE_CODE = ("entry_", "unit_")  # how names of such files begin

# What all processors of a family have, the best family first: the levels of the x86-64 psABI.
_V2 = ["cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"]
_V3 = [*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"]
_V4 = [*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]
FAMILIES = {"x86-64-v4": _V4, "x86-64-v3": _V3}


@functools.cache
def families() -> list[str]:
    """The families that this computer's processor belongs to, the best first."""
    features = llvm.get_host_cpu_features()
    return [name for name, needed in FAMILIES.items() if all(features.get(feature) for feature in needed)]


def compiler_options(family: str) -> dict[str, str]:
    """Environment variables under which Numba makes machine code for all processors of a family."""
    features = ",".join(f"+{feature}" for feature in FAMILIES[family])
    return {"NUMBA_CPU_NAME": family, "NUMBA_CPU_FEATURES": features}


def archive_path(key: str) -> Path:
    """Where the archive of sources with this key would be."""
    return DIRECTORY / f"kernels-{key}.zip"


@functools.cache
def _archive(path: Path) -> zipfile.ZipFile | None:
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        return None


def shipped(key: str, name: str) -> bytes | None:
    """The file of this name as it was written; None where the archive lacks it or there is no archive.

    Raises OSError or zipfile.BadZipFile where it cannot be read.
    """
    archive = _archive(archive_path(key))
    if archive is None:
        return None
    for inside in _names(name):
        try:
            return archive.read(inside)
        except KeyError:
            continue
    return None


def _names(name: str) -> list[str]:
    """What a file may be called in the archive."""
    if not name.startswith(MACHINE_CODE):
        return [name]
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:  # someone wants code for another processor
        return []
    return [f"{family}/{name}" for family in families()]


def pack(source: Path, key: str, family: str | None) -> Path:
    """Put what is kept in a directory into the archive for sources with this key; removes older archives.

    Machine code goes along if it is for a `family` of processors.
    """
    DIRECTORY.mkdir(exist_ok=True)
    for old in DIRECTORY.glob("kernels-*.zip"):
        old.unlink()
    path = archive_path(key)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(source.glob("*.nbc")):
            machine_code = file.name.startswith(MACHINE_CODE)
            if machine_code and not family:
                continue
            # the same bytes whenever it is made
            info = zipfile.ZipInfo(f"{family}/{file.name}" if machine_code else file.name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, file.read_bytes(), compresslevel=9)
    return path
