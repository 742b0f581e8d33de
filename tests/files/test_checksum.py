"""Checksums are those of BLAKE2b (RFC 7693), and a seal fits what was written and nothing else."""

import io

import pytest

from saltus.files.checksum import Damaged, digest, seal, sealed_content, sealed_size

MARK = b"\nmark:\n"


def test_a_checksum_is_blake2b_of_32_bytes():
    """Of "abc", from the reference implementation: `printf abc | b2sum -l 256`."""
    assert digest(b"abc").hex() == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"


def test_a_running_checksum_tells_the_order():
    assert digest(b"b", b"a") == digest(b"ab") != digest(b"ba")
    first, second = digest(b"a"), digest(b"b")
    assert digest(b"b", first) != digest(b"a", second) != digest(b"ab")


@pytest.mark.parametrize("content", [b"", b"x", b"abc" * 1_000_000])
def test_what_was_written_fits(content):
    file = io.BytesIO(content + seal(MARK, content))
    assert sealed_size(file, MARK) == len(content) and file.tell() == 0
    assert sealed_content(file, MARK) == content


def test_what_comes_before_is_part_of_it():
    file = io.BytesIO(b"content" + seal(MARK, b"content", b"name"))
    assert sealed_content(file, MARK, b"name") == b"content"
    with pytest.raises(Damaged, match="bytes have changed"):
        sealed_content(file, MARK, b"another")


def test_without_a_seal_nothing_is_read():
    class Endless(io.BytesIO):
        def read(self, size=-1):
            assert 0 <= size < 100
            return super().read(size)

    file = Endless(b"x" * 10_000)
    assert sealed_size(file, MARK) is None
    with pytest.raises(Damaged, match="does not end as it should"):
        sealed_content(file, MARK)
