"""Marks of tests that need something of the operating system which not all have; it is asked for, not its name."""

import os
import shutil
import signal
import tempfile

import pytest


def can_link() -> bool:
    """Whether this user may make symbolic links, which Windows reserves to some."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            os.symlink(directory, os.path.join(directory, "link"))
        except (OSError, AttributeError):
            return False
    return True


needs_named_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
needs_links = pytest.mark.skipif(not can_link(), reason="no symbolic links for this user")
needs_modes = pytest.mark.skipif(os.name != "posix", reason="no modes of files")
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signal ends a process there")
needs_pgrep = pytest.mark.skipif(shutil.which("pgrep") is None, reason="no pgrep")
