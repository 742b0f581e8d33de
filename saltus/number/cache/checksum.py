"""Files that tell whether they are still what was written.

Compiled code that has lost a bit does not fail, it jumps somewhere. So a file begins with the length of its content and
a SHA-256 of its own name and that content, and nobody sees the content before both are right. That is a guard against
damage, not against malice: whoever may write a file may write its hash, too.
"""

import hashlib
import os
import stat
import struct

MARK = b"saltus.1"
HEAD = struct.Struct("<8sQ32s")  # the mark, length of the content, digest
# opening a pipe must not wait for someone to write into it
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Damaged(Exception):
    """A file is not what was written; the text says in what."""


def sealed(name: str, content: bytes) -> bytes:
    """What to write into the file of that name so that `read_sealed` can check it."""
    return _head(name, content) + content


def read_sealed(path: str) -> bytes:
    """The content of a file that was written as `sealed` says.

    Raises:
        FileNotFoundError: there is none.
        Damaged: it is not as it was written.
    """
    try:
        descriptor = os.open(path, FLAGS)
        try:
            head, content = _parts(descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Damaged(error.strerror) from error
    if head != _head(os.path.basename(path), content):
        raise Damaged("its bytes have changed")
    return content


def unsealed(name: str, whole: bytes) -> bytes:
    """The content of what `sealed` gave for that name. Damaged: it is not as it was given."""
    content = whole[HEAD.size :]
    if whole[: HEAD.size] != _head(name, content):
        raise Damaged("its bytes have changed")
    return content


def _parts(descriptor: int) -> tuple[bytes, bytes]:
    """Head and content, which is read only if the file is as long as its head says."""
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        raise Damaged("not a regular file")
    with open(descriptor, "rb", closefd=False) as file:
        head = file.read(HEAD.size)
        if len(head) < HEAD.size or not head.startswith(MARK):
            raise Damaged("it does not begin as it should")
        length = HEAD.unpack(head)[1]
        if about.st_size != HEAD.size + length:
            raise Damaged(f"{about.st_size} bytes long instead of {HEAD.size + length}")
        return head, file.read(length)


def _head(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return HEAD.pack(MARK, len(content), digest.digest())
