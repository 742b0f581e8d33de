"""Kernels that come with the package, compiled: a fresh installation need not compile them.

A wheel holds one archive of the files that `saltus.number.cache.storage` keeps; `./ship` beside the sources makes it.
Its name has the key of the sources, versions, architecture and operating system that it was made of, so that one of
others is never opened. Intermediate code serves every processor with registers as wide, machine code every processor of
a family (see `saltus.number.processor`).
"""

import functools
import zipfile
from pathlib import Path

from saltus.number.processor import family

DIRECTORY = Path(__file__).parent / "archived"
MACHINE_CODE = ("entry_", "unit_")  # how names of such files begin


def archive_path(key: str) -> Path:
    """Path of the archive of the sources with this key, whether it exists or not."""
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
    return archive.read(_name_inside(name)) if archive and _has(archive, name) else None


def is_shipped(key: str, name: str) -> bool:
    """Whether the archive has the file of this name. Raises as `shipped`."""
    archive = _archive(archive_path(key))
    return archive is not None and _has(archive, name)


def _has(archive: zipfile.ZipFile, name: str) -> bool:
    return _name_inside(name) in archive.NameToInfo


def _name_inside(name: str) -> str:
    """Name in the archive of a file of the cache."""
    return f"{family()}/{name}" if name.startswith(MACHINE_CODE) else name


def pack(source: Path, key: str) -> Path:
    """Put what is kept in a directory into the archive for sources with this key; removes older archives.

    Machine code for this processor alone stays out.
    """
    DIRECTORY.mkdir(exist_ok=True)
    for old in DIRECTORY.glob("kernels-*.zip"):
        old.unlink()
    path = archive_path(key)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(source.glob("*.nbc")):
            if family() or not file.name.startswith(MACHINE_CODE):
                # the same bytes whenever it is made
                info = zipfile.ZipInfo(_name_inside(file.name))
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, file.read_bytes(), compresslevel=9)
    return path
