"""A file holds all of what was written, or what it was before; nothing else is left."""

import os

import pytest
from helpers.systems import needs_links

from saltus.errors import RecordError
from saltus.record.files.atomic_write import check_writable, write_whole, written_whole


def test_what_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "run.nc"
    write_whole(path, b"before")
    for error in (KeyboardInterrupt, ZeroDivisionError):
        with pytest.raises(error), written_whole(path) as temporary:
            with open(temporary, "wb") as file:
                file.write(b"half")
            raise error
    with pytest.raises(RecordError, match="no space"), written_whole(path):
        raise OSError(28, "No space left on device")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["run.nc"]


@needs_links
def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


@pytest.mark.parametrize(("path", "why"), [("no/run.nc", "does not exist"), (".", "is a directory"), ("a\0b", "null")])
def test_what_cannot_be_written_is_known_before(tmp_path, path, why):
    with pytest.raises(RecordError, match=why):
        check_writable(tmp_path / path)
    check_writable(tmp_path / "run.nc")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of Unix")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordError, match="not a regular file"):
        check_writable(tmp_path / "pipe")
