"""Where compiled kernels are kept between runs.

Numba's own cache looks at one source file at a time, so that an edit in another file goes unnoticed and gives wrong
answers. Here the directory is named by a hash of every kernel source, the versions of Python, Numba and llvmlite and
the CPU: whatever changes, a fresh directory is used. `SALTUS_CACHE_DIR` overrides the place. The directory must be the
user's own: what lies there is executed.

A compiled function is one file, named by a hash of the argument types and, for code from outside the package, of that
code and all that it refers to (see `saltus.number.fingerprint`). Files appear whole or not at all and never change, so
that processes can share them. Their bytes are checked before any of them is used (see `saltus.number.sealed`): what is
damaged is compiled anew and replaced.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from saltus.errors import OptionError, SaltusWarning
from saltus.number.fingerprint import KERNEL_ROOMS, PACKAGE, fingerprint
from saltus.number.kinds import cpu_name
from saltus.number.parts import PartLibrary, rebuild_part
from saltus.number.sealed import Damaged, read_sealed, sealed, unsealed
from saltus.number.shipped import archive_path, shipped


@functools.cache
def source_key() -> str:
    """Hash of all that kernels as intermediate code depend on, whatever the processor."""
    digest = hashlib.sha256()
    for room in KERNEL_ROOMS:
        for source in sorted((PACKAGE / room).rglob("*.py")):
            text = source.read_bytes()
            if room != "simulate" or b"number.kernels" in text:  # the rest of simulate/ compiles nothing
                digest.update(str(source.relative_to(PACKAGE)).encode())
                digest.update(text)
    version = "{}.{}".format(*sys.version_info)
    for part in (version, numba.__version__, llvmlite.__version__, llvm.get_default_triple()):
        digest.update(part.encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_key() -> str:
    """Hash of all that compiled kernels depend on."""
    return hashlib.sha256(f"{source_key()} {sys.version} {cpu_name()}".encode()).hexdigest()[:16]


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
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        root = Path(home) / "saltus"
        directory = root / cache_key()
        if why := _not_own(root) or _not_own(directory):
            warnings.warn(f"compiled kernels are not kept: {why}", SaltusWarning, stacklevel=2)
    if not why and _can_write(root) and _can_write(directory) and not _not_own(directory):
        return directory
    root = Path(tempfile.gettempdir()) / f"saltus-{getattr(os, 'getuid', int)()}"
    directory = root / cache_key()
    if _can_write(root) and not _not_own(root) and _can_write(directory) and not _not_own(directory):
        return directory
    return Path(tempfile.mkdtemp(prefix="saltus-"))


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


class _Locator(_CacheLocator):
    def __init__(self, py_func):
        self._name = f"{py_func.__module__}"
        self._py_file = py_func.__code__.co_filename

    def get_cache_path(self):
        return str(cache_directory())

    def get_source_stamp(self):
        return cache_key()

    def get_disambiguator(self):
        return hashlib.sha256(self._name.encode()).hexdigest()[:8]


class _Implementation(CompileResultCacheImpl):
    def __init__(self, py_func):
        self._lineno = py_func.__code__.co_firstlineno
        self._locator = _Locator(py_func)
        self._filename_base = self.get_filename_base(py_func.__qualname__, getattr(sys, "abiflags", ""))


class _Files(IndexDataCacheFile):
    """Compiled functions as files that are named by their key; Numba's index of numbers may mix up two writers."""

    def __init__(self, cache_path, filename_base, py_func, also="", room=None):
        super().__init__(cache_path, filename_base, source_key())  # the directory tells the rest
        self._base, self._py_func, self._also, self._room = filename_base, py_func, also, room

    @functools.cached_property
    def _depends(self):
        # not before the first use: what a function calls may be defined after it
        return self._source_stamp, fingerprint(self._py_func, self._room), self._also

    def save(self, key, data):
        # a full disk, or code that no key can tell from others, costs the next run its time, no more
        with contextlib.suppress(OSError, OptionError):
            name = self._file_name(key)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(sealed(name, self._dump(data)))

    def load(self, key):
        name = self.name(key)
        return _content(self._data_path(name)) if name else None

    def name(self, key) -> str:
        """The name of the file; "" where what the function refers to cannot be told."""
        try:
            return self._file_name(key)
        except OptionError:
            return ""

    def _file_name(self, key):
        digest = hashlib.sha256(repr((key, self._depends)).encode()).hexdigest()[:16]
        return f"{self._base}-{digest}.nbc"


def _content(path):
    """What a file holds, or one that came with the package; None where there is none, or a damaged one.

    It is compiled then, and the file replaced.
    """
    try:
        return _unpickled(read_sealed(path))
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


class _KernelCache(FunctionCache):
    def __init__(self, py_func, also="", room=None):
        super().__init__(py_func)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, py_func, also, room)


class EntryCache(_KernelCache):
    """Numba's function cache on `cache_directory()`, for machine code. `also`: what else the code depends on.

    `room`: a folder whose sources `also` tells, so that its functions are told by their names.
    """

    _impl_class = _Implementation


class PartCache(_KernelCache):
    """The same for kernels that are parts of others, which are kept as intermediate code.

    A file holds one kernel and names those of the kernels that it calls.
    """

    _impl_class = _Implementation

    def _index_key(self, sig, codegen):
        return sig  # the types tell the width of lanes; all else that depends on the processor comes later

    def _load_overload(self, sig, target_context):
        codegen = target_context.codegen()
        key = self._index_key(sig, codegen)
        payload = self._cache_file.load(key)
        if payload is None:
            return None
        try:
            library = _library(self._cache_file.name(key), codegen, payload)
        except _Gone:
            return None  # what it calls is compiled anew with it
        return rebuild_part(target_context, library, payload)

    def _save_overload(self, sig, data):
        super()._save_overload(sig, data)
        name = self._cache_file.name(self._index_key(sig, data.codegen))
        if name and (cache_directory() / name).exists():
            data.library.file = name
            _libraries[name] = data.library


class _Gone(Exception):
    """A file is not there any more, or damaged."""


_libraries: dict[str, PartLibrary] = {}  # by their files


def _library(name: str, codegen, payload=None) -> PartLibrary:
    """The library of a file, with those of the kernels that it calls. `payload`: what is in the file, where known.

    Raises _Gone where a file of one of them cannot be had.
    """
    if name not in _libraries:
        payload = payload or _content(str(cache_directory() / name))
        if payload is None:
            raise _Gone(name)
        library = PartLibrary.restored(codegen, payload[0], lambda other: _library(other, codegen))
        library.file = name
        _libraries[name] = library
    return _libraries[name]
