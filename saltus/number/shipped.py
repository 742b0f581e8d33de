"""Kernels that come with the package, as intermediate code: a fresh installation need not compile them.

A wheel holds one archive of the files that `saltus.number.kept` keeps of kernels; `./ship` beside the sources makes
it. Its name has the key of the sources that it was made of, so that one of other sources is never opened.
"""

import functools
import zipfile
from pathlib import Path

DIRECTORY = Path(__file__).parent / "archive"


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
    try:
        return archive.read(name)
    except KeyError:
        return None


def pack(source: Path, key: str) -> Path:
    """Put the kernels that are kept in a directory into the archive for sources with this key; removes older archives.

    Entries and units stay out: they are machine code of this computer's processor.
    """
    DIRECTORY.mkdir(exist_ok=True)
    for old in DIRECTORY.glob("kernels-*.zip"):
        old.unlink()
    path = archive_path(key)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(source.glob("*.nbc")):
            if not file.name.startswith(("entry_", "unit_")):
                # the same bytes whenever it is made
                info = zipfile.ZipInfo(file.name)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, file.read_bytes(), compresslevel=9)
    return path
