"""The system's locks: one has it, whoever it is, and those who cannot lock are told so by number."""

import errno
import os

import pytest
from filelock import Timeout

from saltus.files.lock import WITHOUT_LOCKS, system_lock


def test_one_at_a_time(tmp_path):
    first, second = system_lock(tmp_path / "lock"), system_lock(tmp_path / "lock")
    first.acquire(blocking=False)
    with pytest.raises(Timeout):
        second.acquire(blocking=False)
    first.release()
    with second:
        assert second.is_locked and not first.is_locked


@pytest.mark.skipif(os.name == "nt", reason="locks of Unix")
@pytest.mark.parametrize("number", sorted(WITHOUT_LOCKS))
def test_where_there_are_no_locks_nothing_is_left_that_would_stand_for_one(tmp_path, monkeypatch, number):
    """Some network drives, and systems without flock(2)."""

    def none(descriptor, kind):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", none)
    for _ in range(2):
        with pytest.raises(OSError) as raised:
            system_lock(tmp_path / "lock").acquire(blocking=False)
        assert raised.value.errno == number and not isinstance(raised.value, Timeout)
    assert {errno.ENOLCK, errno.ENOSYS} <= WITHOUT_LOCKS
