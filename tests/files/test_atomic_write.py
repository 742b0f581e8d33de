"""A file holds all of what was written, or what it was before; nothing else is left.

Windows refuses to replace a file that another process is reading: the name is taken a moment later.
"""

import os

import pytest

from saltus.files import atomic_write
from saltus.files.atomic_write import replaced


def write(path, content, **how):
    with replaced(path, **how) as temporary, open(temporary, "wb") as file:
        file.write(content)


@pytest.mark.parametrize("durable", [True, False])
def test_what_fails_leaves_what_was_there(tmp_path, durable):
    path = tmp_path / "run"
    write(path, b"before", durable=durable)
    for error in (KeyboardInterrupt, OSError):
        with pytest.raises(error), replaced(path, durable=durable) as temporary:
            with open(temporary, "wb") as file:
                file.write(b"half")
            raise error
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["run"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_whatever_has_the_name_is_replaced(tmp_path):
    """As a cache does with what is damaged; a user's path is looked at first."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        atomic_write.target_of(tmp_path / "pipe")
    write(tmp_path / "pipe", b"1")
    assert (tmp_path / "pipe").read_bytes() == b"1"


def test_only_what_is_to_last_waits_for_the_disk(tmp_path, monkeypatch):
    reached = []
    monkeypatch.setattr(atomic_write.os, "fsync", reached.append)
    write(tmp_path / "kernel", b"1", durable=False)
    assert not reached
    write(tmp_path / "run", b"1")
    assert reached


@pytest.mark.parametrize(("system", "refused", "tries"), [("nt", 3, 4), ("nt", 99, 7), ("posix", 1, 1)])
def test_a_file_that_is_being_read_is_replaced_a_moment_later(tmp_path, monkeypatch, system, refused, tries):
    """On Windows for as long as a reader takes, not for ever; elsewhere such an error has another reason."""
    (tmp_path / "run").write_bytes(b"before")
    replace, tried = os.replace, []

    def busy(source, target):
        tried.append(source)
        if len(tried) <= refused:
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    made = atomic_write.new_beside(str(tmp_path / "run"))
    monkeypatch.setattr(atomic_write.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(atomic_write.os, "replace", busy)
    monkeypatch.setattr(atomic_write.os, "name", system)
    try:
        atomic_write._take_name(made, str(tmp_path / "run"))
        done = True
    except PermissionError:
        done = False
    monkeypatch.undo()
    assert done == (refused == 3) and len(tried) == tries
    assert (tmp_path / "run").read_bytes() == (b"" if done else b"before")


def test_directories_that_cannot_be_opened_are_no_error(tmp_path, monkeypatch):
    """Windows has no O_DIRECTORY."""
    monkeypatch.delattr(atomic_write.os, "O_DIRECTORY", raising=False)
    write(tmp_path / "run", b"1")
    assert (tmp_path / "run").read_bytes() == b"1"
