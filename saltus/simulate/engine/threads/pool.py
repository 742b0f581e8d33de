"""Pools of threads that live longer than a call and are replaced after a fork."""

import os
from concurrent.futures import ThreadPoolExecutor


class ThreadPool:
    """A pool of `number` threads, created on first use; after a fork the child process creates its own."""

    def __init__(self, number: int):
        self._number = number
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    @property
    def made(self) -> bool:
        """Whether the threads of this process exist yet."""
        return self._pool is not None

    def get(self) -> ThreadPoolExecutor:
        """Return the threads of this process."""
        if self._pool is None or self._process != os.getpid():
            self._pool, self._process = ThreadPoolExecutor(self._number, thread_name_prefix="saltus"), os.getpid()
        return self._pool
