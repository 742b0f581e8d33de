"""Threads that outlast a call, also over a fork."""

import os
from concurrent.futures import ThreadPoolExecutor


class ThreadPool:
    """So many threads, made when first needed; a process that was forked since has none, and makes others."""

    def __init__(self, number: int):
        self._number = number
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    @property
    def made(self) -> bool:
        """Whether there are threads yet."""
        return self._pool is not None

    def get(self) -> ThreadPoolExecutor:
        """The threads of this process."""
        if self._pool is None or self._process != os.getpid():
            self._pool, self._process = ThreadPoolExecutor(self._number, thread_name_prefix="saltus"), os.getpid()
        return self._pool
