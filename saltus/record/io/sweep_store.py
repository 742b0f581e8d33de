"""The file of a sweep's results, written as they arrive, from which an interrupted sweep is resumed.

JSON: what was run (`about`), and for each run its values, measures and status. The file is replaced atomically, soon
after a row arrives and at the end, so it is always valid. It is locked by one sweep at a time: two would overwrite each
other's rows. `checksum` is the BLAKE2b-256 of all else that it says, as JSON with sorted keys: it may be laid out
otherwise, but says what was written. Files from before there were checksums are read with a warning.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from saltus.arguments import path_of
from saltus.errors import OptionError, RecordError, warn
from saltus.files.checksum import Damaged, digest
from saltus.files.opening import open_regular
from saltus.record.files.atomic_write import check_writable, reason_of, write_whole
from saltus.record.files.lock import FileLock
from saltus.record.io.memory_room import free_memory
from saltus.record.io.sweep.stored import FORMAT, STATUSES, UNVERIFIED

UNPROTECTED = "saltus sweep 1"  # from before there were checksums
CHECKSUM = "checksum"
SMALL = 2**26  # bytes of a file that is read however little memory is free
GROWTH = 30  # bytes of memory that a byte of JSON may take
LEAST = 1.0  # s between two writings
SHARE = 20  # wait after a write, in multiples of its duration


class Kept:
    """Stored rows of a sweep, by the values of their run.

    `about`: settings that all runs share, as JSON holds them. An existing file must have these settings; its rows are
    taken over. `optional`: settings that the file may have otherwise; `about` then has the file's. Without a `path`
    nothing is written. The file is locked for this sweep until `close`, or the end of `with`.

    Raises:
        OptionError: the file belongs to another model or to other settings; the message says what differs.
        RecordError: the file cannot be read or written, or another sweep is writing it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        about: Mapping[str, Any],
        optional: Mapping[str, Any] | None = None,
    ):
        self._optional = dict(optional or {})
        self._lock: FileLock | None = None
        self._path, self._about = path, json.loads(json.dumps(about))
        self.rows: dict[str, dict[str, Any]] = {}
        self._written, self._wait, self._new = time.monotonic(), LEAST, False
        self._guard = threading.RLock()
        self._later: threading.Timer | None = None
        if path is None:
            return
        check_writable(path_of("save", path), what="sweep")
        self._lock = FileLock(path, what="sweep")
        try:
            if os.path.getsize(path) if os.path.exists(path) else 0:
                self._read(path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file to other sweeps."""
        with self._guard:
            if self._later is not None:
                self._later.cancel()
        if self._lock is not None:
            self._lock.release()

    def _read(self, path: str | os.PathLike[str]) -> None:
        try:
            content = _content(os.fspath(path))
            before, rows = content["about"], content["rows"]
            if not isinstance(before, dict):
                raise Damaged("its settings are no settings")
            self.rows = {key_of(row["values"]): row for row in map(_checked, rows)}
        except Exception as error:  # readers of broken files may raise any error
            raise RecordError(path, f"not a sweep: {reason_of(error)}", action="read", what="sweep") from error
        if CHECKSUM not in content:
            warn(f"sweep '{os.fspath(path)}' {UNVERIFIED}")
        self._optional = {name: before[name] for name in self._optional if name in before}
        different = [
            name
            for name in {**before, **self._about}
            if name not in self._optional and before.get(name) != self._about.get(name)
        ]
        if different:
            names = ", ".join(different)
            raise OptionError(
                f"'{os.fspath(path)}' contains a sweep with another {names}; use another file, or remove it"
            )

    @property
    def about(self) -> dict[str, Any]:
        """Settings that all rows share."""
        return self._about | self._optional

    def add(self, values: Mapping[str, Any], row: Mapping[str, Any], key: str | None = None) -> None:
        """Keep a run's row; `key`: the key of its values, where it is known."""
        with self._guard:
            self.rows[key_of(values) if key is None else key] = {"values": plain(values), **row}
            self._new = True
            early = self._written + self._wait - time.monotonic()
            if early <= 0.0:
                self.write()
            elif self._later is None and self._path is not None:
                # the next row may come much later
                self._later = threading.Timer(early, self._write_later)
                self._later.daemon = True
                self._later.start()

    def write(self) -> None:
        """Write everything not yet written."""
        with self._guard:
            if self._path is None or not self._new:
                return
            began = time.monotonic()
            content = {"format": FORMAT, "about": self.about, "rows": list(self.rows.values())}
            content[CHECKSUM] = _checksum(content)
            write_whole(self._path, json.dumps(content, indent=1).encode(), what="sweep")
            self._written, self._new = time.monotonic(), False
            self._wait = max(LEAST, SHARE * (self._written - began))

    def _write_later(self) -> None:
        """Write in the background; the next call of `write` tries again and reports an error."""
        with self._guard:
            self._later = None
            with contextlib.suppress(RecordError):
                self.write()


def _content(path: str) -> dict[str, Any]:
    """Content of a file. ValueError, OSError: it is not the file of a sweep, or not as it was written."""
    with open_regular(path) as file:
        size, free = os.fstat(file.fileno()).st_size, free_memory()
        if size > SMALL and free is not None and GROWTH * size > free:
            raise ValueError(
                f"its {size >> 20} MiB may take more memory than is free; sweeps of that size are for .zarr"
            )
        content = json.loads(file.read(size).decode())
    if not isinstance(content, dict) or content["format"] not in (FORMAT, UNPROTECTED):
        raise ValueError(f"its format is {content['format']!r}" if isinstance(content, dict) else "it is other JSON")
    checked = content["format"] == FORMAT or CHECKSUM in content
    if checked and content.get(CHECKSUM) != _checksum({k: part for k, part in content.items() if k != CHECKSUM}):
        raise Damaged("its checksum does not match: it is damaged, or was changed by hand")
    return content


def _checksum(content: Mapping[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True).encode()).hex()


def _checked(row: Any) -> dict[str, Any]:
    """A row, if it is one: values, and where it has them measures, a status and a note."""
    measures = row.get("measures") or {}
    good = isinstance(row["values"], dict) and isinstance(measures, dict) and isinstance(row.get("note", ""), str)
    numbers = good and all(x is None or type(x) in (int, float, bool) for x in measures.values())
    if not numbers or row.get("status", STATUSES[0]) not in STATUSES:
        raise Damaged("a row is not one of a sweep")
    return row


def key_of(values: Mapping[str, Any]) -> str:
    """Key of a run's values."""
    return json.dumps(plain(values), sort_keys=True)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as JSON holds them: text, numbers, lists; objects as they describe themselves."""
    return {path: _plain(value) for path, value in values.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return float(value) if type(value) is int else value
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(value) if isinstance(value, bool | int | float | str) else repr(value)
