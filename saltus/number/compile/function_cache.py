"""Numba's function caches on the files of `saltus.number.cache.storage`.

A compiled function is one file, named by a hash of the argument types, of its code and of all that it refers to (see
`saltus.number.cache.fingerprint`).
"""

import contextlib
import functools
import hashlib
import sys

from saltus.errors import OptionError
from saltus.number.cache.fingerprint import base_key, fingerprint
from saltus.number.cache.storage import cache_directory, cache_key, content, write
from saltus.number.compile import worker_pool
from saltus.number.compile.parts import Gone, keep, part_of
from saltus.number.compile.units import EntryLibrary
from saltus.number.internals import (
    CacheLocator,
    CompileResultCacheImpl,
    FileCacheOfFunction,
    IndexDataCacheFile,
    compile_result,
)


class _Locator(CacheLocator):
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
        super().__init__(cache_path, filename_base, base_key())
        self._base, self._py_func, self._also, self._room = filename_base, py_func, also, room

    @functools.cached_property
    def _depends(self):
        # not before the first use: what a function calls may be defined after it
        return self._source_stamp, fingerprint(self._py_func, self._room), self._also

    def save(self, key, data):
        # a full disk, or code that no key can tell from others, costs the next run its time, no more
        with contextlib.suppress(OSError, OptionError):
            name = self._file_name(key)
            write(self._data_path(name), self._dump(data))

    def load(self, key):
        name = self.name(key)
        return content(self._data_path(name)) if name else None

    def name(self, key) -> str:
        """The name of the file; "" where what the function refers to cannot be told."""
        try:
            return self._file_name(key)
        except OptionError:
            return ""

    def _file_name(self, key):
        digest = hashlib.sha256(repr((key, self._depends)).encode()).hexdigest()[:16]
        return f"{self._base}-{digest}.nbc"


class _KernelCache(FileCacheOfFunction):
    def __init__(self, py_func, also="", room=None):
        super().__init__(py_func)
        self.files = _Files(self.folder, self.base_name, py_func, also, room)

    def file_name(self, types) -> str:
        """The name of the file for arguments of these types; "" where what the function refers to cannot be told."""
        return self.files.name(types)

    def _index_key(self, sig, codegen):
        return sig  # the types tell the width of lanes, the directory the processor


class EntryCache(_KernelCache):
    """Numba's function cache on `cache_directory()`, for machine code. `also`: what else the code depends on.

    `room`: a folder whose sources `also` tells, so that its functions are told by their names.
    """

    _impl_class = _Implementation

    def _rebuilt(self, payload, target_context):
        """The compile result of what a file holds; None where what it calls cannot be had."""
        if payload[0][1] != "entry":  # code that calls no kernels
            return self.rebuilt_by_numba(payload, target_context)
        try:
            library = EntryLibrary.restored(target_context.codegen(), payload[0])
        except Gone:
            return None  # it is compiled anew with what it calls
        return compile_result(target_context, library, payload)


class PartCache(_KernelCache):
    """Numba's function cache for kernels that are parts of others, which are kept as intermediate code.

    A file holds one kernel and names those of the kernels that it calls.
    """

    _impl_class = _Implementation

    def _load_overload(self, sig, target_context):
        codegen = target_context.codegen()
        key = self._index_key(sig, codegen)
        name = self.file_name(key)
        payload = self.files.load(key) or (worker_pool.wait_for(name) and self.files.load(key))
        if not payload:
            return None
        try:
            library = part_of(name, codegen, payload)
        except Gone:
            return None  # what it calls is compiled anew with it
        return compile_result(target_context, library, payload)

    def _save_overload(self, sig, data):
        super()._save_overload(sig, data)
        name = self.file_name(self._index_key(sig, data.codegen))
        if name and (cache_directory() / name).exists():
            keep(data.library, name)
            worker_pool.something_is_ready()
