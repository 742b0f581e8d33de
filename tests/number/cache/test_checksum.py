"""Sealed files: what was written comes back, or `Damaged` is raised, whatever happened to the file in between."""

import os
import random

import pytest

from saltus.files.checksum import LENGTH
from saltus.number.cache.checksum import MARK, Damaged, read_sealed, sealed

CONTENT = random.Random(3).randbytes(20_000)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kernel.nbc"
    path.write_bytes(sealed(path.name, CONTENT))
    return path


def test_what_was_written_comes_back(path):
    assert read_sealed(str(path)) == CONTENT


def test_what_is_not_there_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_sealed(str(tmp_path / "nothing"))


def faults(whole, rng):
    """A damaged copy of what was written: one kind of damage after another."""
    place, page = rng.randrange(len(whole)), rng.randrange(0, len(whole), 4096)
    flipped = bytearray(whole)
    flipped[place] ^= 1 << rng.randrange(8)
    yield bytes(flipped)
    yield whole[:place]
    yield whole + rng.randbytes(1 + rng.randrange(100))
    yield whole[:page] + bytes(len(whole[page : page + 4096])) + whole[page + 4096 :]
    yield whole[:place] + rng.randbytes(1) + whole[place:]
    yield rng.randbytes(len(whole))


def test_no_damage_goes_unnoticed(path):
    whole, rng = path.read_bytes(), random.Random(11)
    for _ in range(200):
        for damaged in faults(whole, rng):
            path.write_bytes(damaged)
            with pytest.raises(Damaged):
                read_sealed(str(path))


def test_every_bit_of_the_seal_counts(path):
    whole = path.read_bytes()
    for bit in range(8 * (len(MARK) + LENGTH)):
        damaged = bytearray(whole)
        damaged[-1 - bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(Damaged):
            read_sealed(str(path))


def test_another_files_content_is_damage(path):
    path.write_bytes(sealed("another.nbc", CONTENT))
    with pytest.raises(Damaged, match="bytes have changed"):
        read_sealed(str(path))


def test_a_file_larger_than_memory_is_not_read(path):
    """One that does not end with a seal is refused before anything is read."""
    os.truncate(path, 1 << 40)  # sparse: takes no room on the disk
    with pytest.raises(Damaged, match="does not end as it should"):
        read_sealed(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_pipes_directories_and_loops_of_links_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("link")
    for name in ("pipe", "directory", "link"):
        with pytest.raises(Damaged):
            read_sealed(str(tmp_path / name))
