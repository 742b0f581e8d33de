"""Files that tell whether they are still what was written.

Compiled code that has lost a bit does not fail, it jumps somewhere. So a file ends with a checksum of its own name and
its content (see `saltus.files.checksum`), and nobody sees the content before it is right.
"""

import io
import os

from saltus.files.checksum import Damaged, seal, sealed_content
from saltus.files.opening import open_regular

MARK = b"\nSaltus kernel, BLAKE2b-256:\n"


def sealed(name: str, content: bytes) -> bytes:
    """Content with its seal, to be written into the file of that name, which `read_sealed` checks."""
    return content + seal(MARK, content, _before(name))


def read_sealed(path: str) -> bytes:
    """The content of a file that was written as `sealed` says.

    Raises:
        FileNotFoundError: there is none.
        Damaged: it is not as it was written.
    """
    try:
        with open_regular(path) as file:
            return sealed_content(file, MARK, _before(os.path.basename(path)))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Damaged(error.strerror) from error


def unsealed(name: str, whole: bytes) -> bytes:
    """The content of what `sealed` gave for that name. Damaged: it is not as it was given."""
    return sealed_content(io.BytesIO(whole), MARK, _before(name))


def _before(name: str) -> bytes:
    """Part of the checksum, so that another file's content is damage, too."""
    return name.encode() + b"\n"
