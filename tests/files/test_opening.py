"""Only regular files are opened: nothing that never ends, and nobody waits for a pipe."""

import os

import pytest

from saltus.files.opening import open_regular


def test_a_file_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"a\r\nb")
    with open_regular(str(tmp_path / "file")) as file:
        assert file.read() == b"a\r\nb"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_others_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").touch()
    for name in (tmp_path / "pipe", tmp_path, os.devnull):
        with pytest.raises(OSError, match="regular file"):
            open_regular(str(name))
    open_regular(str(tmp_path / "link")).close()
    with pytest.raises(OSError):
        open_regular(str(tmp_path / "link"), follow=False)
