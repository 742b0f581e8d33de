"""Files of compiled code: where they are kept, by what key, and what is in them.

Numba's own cache looks at one source file at a time, so that an edit in another file goes unnoticed and gives wrong
answers. Here the directory is named by the versions of Python, Numba and llvmlite and the CPU, and files by all that
their code depends on (see `saltus.number.cache.fingerprint`): an edit compiles what it touches, and what another
version of the sources left is found again. `SALTUS_CACHE_DIR` overrides the place. The directory must be the user's
own: what lies there is executed.

Files appear whole or not at all and never change, so that processes can share them. Their bytes are checked before any
of them is used (see `saltus.number.cache.checksum`): what is damaged is compiled anew and replaced.
"""

import atexit
import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import llvmlite
import numba

from saltus.errors import OptionError, SaltusWarning
from saltus.files.atomic_write import replaced
from saltus.number.cache.archive import archive_path, is_shipped, shipped
from saltus.number.cache.checksum import Damaged, read_sealed, sealed, unsealed
from saltus.number.cache.eviction import evict_now_and_then, mark_used
from saltus.number.cache.fingerprint import KERNEL_ROOMS, PACKAGE
from saltus.number.processor import cpu_name, system


@functools.cache
def source_key() -> str:
    """Hash of all sources of compiled code, whatever the processor."""
    digest = hashlib.sha256()
    for room in KERNEL_ROOMS:
        for source in sorted((PACKAGE / room).rglob("*.py")):
            text = source.read_bytes()
            if room != "simulate" or b"number.kernels" in text:  # the rest of simulate/ compiles nothing
                digest.update(str(source.relative_to(PACKAGE)).encode())
                digest.update(text)
    digest.update(_versions().encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_key() -> str:
    """Hash of what compiled code of any source depends on: versions and processor."""
    return hashlib.sha256(f"{_versions()} {sys.version} {cpu_name()}".encode()).hexdigest()[:16]


def _versions() -> str:
    python = "{}.{}".format(*sys.version_info)
    return " ".join((python, numba.__version__, llvmlite.__version__, system()))


@functools.cache
def cache_directory() -> Path:
    """Directory of this version's compiled kernels; a temporary one where the usual place cannot be used.

    What lies there is executed, so that it must be this user's own.

    Raises:
        OptionError: `SALTUS_CACHE_DIR` is empty, another user's, or others may write there.
    """
    given = os.environ.get("SALTUS_CACHE_DIR")
    if given is not None:
        if not given.strip():
            raise OptionError("SALTUS_CACHE_DIR is empty; unset it, or name a directory")
        root = Path(given)
        directory = root / cache_key()
        if why := _not_own(root, shared=True) or _not_own(directory):
            raise OptionError(f"SALTUS_CACHE_DIR: {why}; what lies there is executed, so that it must be yours alone")
    else:
        root = _usual_root()
        directory = root / cache_key()
        if why := _not_own(root) or _not_own(directory):
            warnings.warn(f"compiled kernels are not kept: {why}", SaltusWarning, stacklevel=2)
    if not why and _can_write(root) and _can_write(directory) and not _not_own(directory):
        return directory
    unusable, root = root, _temporary_root()
    directory = root / cache_key()
    if not (_can_write(root) and not _not_own(root) and _can_write(directory) and not _not_own(directory)):
        root = Path(tempfile.mkdtemp(prefix="saltus-"))
        directory = root / cache_key()
        directory.mkdir(mode=0o700)
        atexit.register(_remove, root, os.getpid())
    if given is not None:
        text = f"SALTUS_CACHE_DIR: no files can be made in '{unusable}'; compiled code is kept in '{root}'"
        warnings.warn(text, SaltusWarning, stacklevel=2)
    return directory


def _remove(root: Path, process: int) -> None:
    """Remove a temporary place at the end of the process that made it, not of one forked from it."""
    if os.getpid() == process:
        shutil.rmtree(root, ignore_errors=True)


def _usual_root() -> Path:
    """The user's directory of compiled code; a temporary one for a user without a home."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "saltus" if os.path.isabs(home) else _temporary_root()


def _temporary_root() -> Path:
    return Path(tempfile.gettempdir()) / f"saltus-{getattr(os, 'getuid', int)()}"


def cache_root() -> Path:
    """The directory that holds those of all versions, or this version's where it stands alone."""
    directory = cache_directory()
    return directory.parent if directory.name == cache_key() else directory


def _not_own(directory: Path, *, shared: bool = False) -> str:
    """Why others may have put something into a directory, "" if they may not or it is not there.

    It is the user's, and nobody else writes there. `shared`: it may be root's, and one as /tmp, where all have files of
    their own (the sticky bit), since only one below it is read.
    """
    try:
        found = directory.stat()
    except OSError:
        return ""
    user = getattr(os, "getuid", lambda: found.st_uid)()
    if found.st_uid != user and not (shared and found.st_uid == 0):
        return f"'{directory}' belongs to another user"
    if os.name == "posix" and found.st_mode & 0o022 and not (shared and found.st_mode & stat.S_ISVTX):
        return f"others may write in '{directory}' (chmod go-w)"
    return ""


def _can_write(directory: Path) -> bool:
    """Whether files can be made in the directory, which is made if need be."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=directory).close()
    except OSError:
        return False
    return True


def is_kept(name: str) -> bool:
    """Whether there is a file of this name, here or with the package; it may be damaged."""
    with contextlib.suppress(OSError, zipfile.BadZipFile):
        return (cache_directory() / name).exists() or is_shipped(source_key(), name)
    return False


def content(path):
    """The content of a file, or of one that came with the package; None where there is none, or a damaged one.

    It is compiled then, and the file replaced.
    """
    try:
        found = _unpickled(read_sealed(path))
        mark_used(path)
        return found
    except FileNotFoundError:
        return _shipped(os.path.basename(path))
    except Damaged as damage:
        _tell_damage(path, damage)
        return None


def _shipped(name):
    try:
        file = shipped(source_key(), name)
        return None if file is None else _unpickled(unsealed(name, file))
    except (Damaged, OSError, zipfile.BadZipFile) as damage:
        _tell_damage(f"{archive_path(source_key())}: {name}", damage)
        return None


def _unpickled(content):
    try:
        return pickle.loads(content)
    except Exception as error:  # whatever modules that it names have become since
        raise Damaged(f"it cannot be unpickled, {type(error).__name__}: {error}") from error


_damaged: list[str] = []  # files that were found so


def _tell_damage(path, damage):
    """One warning a process, however many files there are."""
    _damaged.append(path)
    if len(_damaged) == 1:
        text = f"the cache of compiled kernels is damaged: {path} ({damage}); what is damaged is compiled anew"
        warnings.warn(text, SaltusWarning, stacklevel=2)


def write(path, content: bytes) -> None:
    """Make a file of this content, sealed, whole or not at all. OSError: it cannot be made."""
    _evict_at_the_end()
    write_whole(path, sealed(os.path.basename(path), content))


@functools.cache
def _evict_at_the_end() -> None:
    """A process that has compiled removes at its end what is too much."""
    atexit.register(evict_now_and_then, cache_root())


def write_whole(path, content: bytes) -> None:
    """Make a file of these bytes, whole or not at all. OSError: it cannot be made."""
    with replaced(path, durable=False) as made, open(made, "wb") as file:
        file.write(content)
