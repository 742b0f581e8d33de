"""A recording's seal fits what was written, and nothing else."""

import io

import pytest

from saltus.files.checksum import Damaged
from saltus.record.files.checksum import MARK, SIZE, sealed_size, write_sealed


def sealed(tmp_path, content):
    write_sealed(tmp_path / "file", content)
    return (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("content", [b"", b"x", b"abc" * 1_000_000])
def test_what_was_written_fits(tmp_path, content):
    whole = sealed(tmp_path, content)
    file = io.BytesIO(whole)
    assert whole[: len(content)] == content and len(whole) == len(content) + SIZE
    assert sealed_size(file) == len(content) and file.tell() == 0


def test_recordings_of_earlier_versions_fit():
    """Byte by byte as version 0.1 wrote them: the mark, and BLAKE2b-256 of "abc" (`printf abc | b2sum -l 256`)."""
    checksum = bytes.fromhex("bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
    assert sealed_size(io.BytesIO(b"abc\nSaltus recording, BLAKE2b-256:\n" + checksum)) == 3


def test_every_flipped_bit_is_noticed(tmp_path):
    """In the content and in the checksum; in the mark it is as if there were no seal."""
    whole = sealed(tmp_path, b"some content")
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        if 0 <= bit // 8 - len(b"some content") < len(MARK):
            assert sealed_size(io.BytesIO(damaged)) is None
        else:
            with pytest.raises(Damaged, match="the file is damaged"):
                sealed_size(io.BytesIO(damaged))


@pytest.mark.parametrize("content", [b"", b"short", b"no seal" * 100])
def test_files_without_a_seal(content):
    assert sealed_size(io.BytesIO(content)) is None
