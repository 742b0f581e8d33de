"""The executor on a Dask cluster; the only file that needs the package distributed."""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import platform
import queue
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from saltus.errors import OptionError, RecordError, SaltusError, warn
from saltus.number.cache.turn import one_compiles
from saltus.record.files.atomic_write import reason_of
from saltus.study.executors.workers import Lost

INSTALL = "a Dask cluster needs the package distributed; install it with: pip install 'saltus[cluster]'"
PATIENCE = 10.0  # s to wait for the scheduler
SILENCE = 10.0  # s to wait for a first worker before that is said
LOOK = 1.0  # s after which the workers are counted again
FETCHED = 300.0  # s in which a result arrives; where its worker is lost it is computed again meanwhile


class Cluster:
    """Calls on the workers of a Dask cluster, by the address of its scheduler or a client.

    A client that was given stays open. Workers that come later take part.
    """

    def __init__(self, where: Any, *, reproducible: bool = True):
        try:
            import distributed
        except ImportError as error:
            raise OptionError(INSTALL) from error
        self._own = isinstance(where, str)
        self._given = where if self._own else ""
        if self._own:
            _check_address(where)
            try:
                self.client = distributed.Client(where, timeout=PATIENCE, set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                raise OptionError(f"there is no Dask scheduler at {where} ({error})") from error
        elif isinstance(where, distributed.Client):
            self.client = where
        else:
            raise OptionError(f"workers must be a number, an address or a distributed.Client, got {where!r}")
        try:
            self.expected = ours() if reproducible else None
            self._check()
        except Gone as error:
            address = self._address  # a client that is closed has none
            self.__exit__()
            raise OptionError(f"there is no Dask scheduler at {address} any more; it ended just now") from error
        except BaseException:
            self.__exit__()
            raise
        self._done: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._pending: dict[Any, Any] = {}
        self._works: dict[Any, Any] = {}  # on the cluster, by what they are here
        self._slots, self._counted = 1, -LOOK

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for future in list(getattr(self, "_pending", {}).values()):
            future.cancel()
        if self._own:
            # a client that has lost its scheduler may fail at looking for it meanwhile; it is closed all the same
            with contextlib.suppress(OSError, RuntimeError, CancelledError):
                self.client.close(timeout=PATIENCE)

    @property
    def dashboard(self) -> str:
        """The address of the scheduler's page."""
        return self.client.dashboard_link or ""

    @property
    def slots(self) -> int:
        """Number of calls that run at once on the present workers. Gone: no scheduler answers."""
        if time.monotonic() - self._counted > LOOK:
            with self._answering():
                threads: Any = self.client.nthreads()
            self._slots, self._counted = max(1, sum(threads.values())), time.monotonic()
        return self._slots

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """Gone: what is asked in here gets no answer."""
        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
            raise Gone(f"the Dask cluster at {self._address} is gone") from error

    def _check(self) -> None:
        """Wait for a worker. OptionError: one would give other numbers than this process."""
        with self._answering():
            first: Any = self.client.submit(os.getpid, pure=False)  # a cluster that adapts begins workers for a task
            try:
                first.result(timeout=SILENCE)
            except TimeoutError:
                warn(f"the Dask cluster at {self._address} has no workers yet; waiting for the first one")
                first.result()
            workers: Any = self.client.run(ours, on_error="return")
        for worker, found in workers.items():
            if isinstance(found, BaseException):
                raise OptionError(f"worker {worker} cannot run Saltus ({type(found).__name__}: {found})") from found
            if self.expected is not None and (what := difference(found, self.expected)):
                raise OptionError(
                    f"worker {worker} has another {what}: results would not be the same to the bit; "
                    "reproducible=False (--any-worker) runs nevertheless"
                )

    @property
    def _address(self) -> str:
        return (self.client.scheduler and self.client.scheduler.address) or self._given or "?"

    def sees(self, folder: str) -> bool:
        """Whether all workers have this folder, as this process has it. RecordError: one cannot write there."""
        token = uuid.uuid4().hex
        mark = os.path.join(folder, f".{token}")
        try:
            with open(mark, "w", encoding="utf-8") as file:
                file.write(token)
        except OSError as error:
            raise RecordError(folder, reason_of(error), what="sweep") from error
        try:
            with self._answering():
                found: Any = self.client.run(_read, mark, on_error="return")
            return bool(found) and all(text == token for text in found.values())
        finally:
            os.remove(mark)

    def submit(self, tag: Any, work: Callable[..., Any], *job: Any) -> None:
        """Have `work(*job)` called on a worker; `work.compile(*job)` before, if it has that, once in each.

        Gone: no scheduler answers.
        """
        # in bytes, which the scheduler need not understand; "pure" to Dask is what it may take from an earlier call
        packed, known = _packed(job), self._works.get(id(work))
        with self._answering():
            if known is None:
                sent = self.client.submit(_kept, _packed((self.expected, work)), pure=False)
                known = self._works[id(work)] = sent, work  # who has a reference keeps its identity
            future = self.client.submit(_call, known[0], packed, pure=False)
        self._pending[future.key] = future
        future.add_done_callback(lambda done: self._done.put((tag, done)))

    def next(self) -> tuple[Any, Any]:
        """The tag of a call that is over, and what it returned or raised. Gone: no scheduler answers."""
        from distributed.scheduler import KilledWorker

        while True:
            try:
                tag, future = self._done.get(timeout=1.0)
                break
            except queue.Empty:
                if self.client.status not in ("running", "connecting", "newly-created"):
                    raise Gone(f"the Dask cluster at {self._address} is gone") from None
        self._pending.pop(future.key, None)
        if future.cancelled() or future.status not in ("finished", "error"):
            raise Gone(f"the Dask cluster at {self._address} is gone")
        try:
            outcome = future.result(timeout=FETCHED)
        except KilledWorker:
            outcome = Lost("its workers ended, one after the other")
        except Exception as error:
            outcome = error
        return tag, outcome


def _check_address(where: str) -> None:
    """OptionError: no scheduler can have this address."""
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(where)
        if scheme in ("tcp", "tls", "ws", "wss"):
            parse_host_port(place)
    except ValueError as error:
        raise OptionError(f"workers: {where!r} is no address of a scheduler, such as tcp://host:8786") from error


class Carried:
    """A function that travels with its code: the file that it is from need not be where it arrives."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def __call__(self, *given: Any) -> Any:
        return self._function(*given)

    def __reduce__(self) -> tuple[Any, ...]:
        import cloudpickle

        module = sys.modules.get(getattr(self._function, "__module__", None) or "")
        known = cloudpickle.list_registry_pickle_by_value()
        own = module is not None and module.__name__ not in {"__main__", *known}
        if own:
            cloudpickle.register_pickle_by_value(module)
        try:
            return _arrived, (cloudpickle.dumps(self._function),)
        finally:
            if own:
                cloudpickle.unregister_pickle_by_value(module)


def _arrived(packed: bytes) -> Carried:
    return Carried(pickle.loads(packed))


class Gone(SaltusError, ConnectionError):
    """The scheduler does not answer any more."""


def ours() -> dict[str, str]:
    """Properties of this process on which the bits of results depend."""
    from saltus.number.processor import cpu_name
    from saltus.version import __version__

    return {"version of Saltus": __version__, "processor": cpu_name(), "operating system": platform.system()}


def difference(found: dict[str, str], expected: dict[str, str]) -> str:
    """Differences of a worker from this process; empty if there are none."""
    other = [f"{what} ({found.get(what)}, here {own})" for what, own in expected.items() if found.get(what) != own]
    return " and another ".join(other)


def _packed(content: Any) -> bytes:
    try:
        return pickle.dumps(content)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise OptionError(f"this cannot be sent to other computers ({error})") from error


def _kept(packed: bytes) -> bytes:
    """Objects that many calls need, which each worker receives once."""
    return packed


class _Work:
    """Function that many calls on a worker share, and whether its kernels have been compiled."""

    def __init__(self, function: Callable[..., Any]):
        self.function, self.ready = function, not hasattr(function, "compile")


@functools.lru_cache(maxsize=4)
def _unpacked(common: bytes) -> _Work:
    """OptionError: this worker, which may have come after the others were looked at, would give other numbers."""
    expected, function = pickle.loads(common)
    if expected is not None and (what := difference(ours(), expected)):
        raise OptionError(f"a worker on {socket.gethostname()} has another {what}")
    return _Work(function)


def _call(common: bytes, packed: bytes) -> Any:
    """Call the shared function with a job, on a worker."""
    work, job = _unpacked(common), pickle.loads(packed)
    if not work.ready:
        with one_compiles():
            work.function.compile(*job)  # type: ignore[attr-defined]
        work.ready = True
    return work.function(*job)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
