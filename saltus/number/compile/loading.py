"""Machine code from the cache without all that only the compiler needs.

Before Numba looks for a function in its cache, it loads whatever it can compile: its own implementations of Python and
NumPy, and SciPy for their linear algebra. That takes longer than all else of a start, and code that is found needs none
of it. The compiler loads it where nothing is found.
"""

import functools

from saltus.number.compile.function_cache import EntryCache
from saltus.number.internals import tell_memory_functions

# constants of Python's hashes, which Numba tells the linker when it loads its own implementation of them
HASHES = b"_numba_hashsecret_"


class LoadingCache(EntryCache):
    """A cache of entries that loads machine code without what only the compiler needs.

    `missing` is called with the types of arguments for which nothing is found.
    """

    def __init__(self, py_func, also="", room=None, missing=None):
        super().__init__(py_func, also, room)
        self._missing = missing or (lambda types: None)

    def load_overload(self, sig, target_context):
        with self.guarded():
            data = self.files.load(self._index_key(sig, target_context.codegen()))
            if data is None:
                self._missing(sig)
                return None
            _, _, (machine_code, *_) = data[0]
            if HASHES in machine_code:
                target_context.refresh()
            _tell_memory_functions()
            return self._rebuilt(data, target_context)


_tell_memory_functions = functools.cache(tell_memory_functions)
