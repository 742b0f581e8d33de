"""Damaged copies of recordings, and what becomes of loading them.

    python tests/helpers/damage.py 10000

counts, over that many damaged files and stores, how loading ends: with a RecordError, or with the same recording.
"""

import collections
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from saltus.errors import RecordError
from saltus.record import Trajectory
from saltus.record.io import stream
from saltus.record.table.columns import DIMENSIONS
from saltus.record.table.stored_model import StoredModel

KINDS = ("flip", "page", "missing")
STRANGE = ("cut", "digit", "swap", "link", "device", "pipe")  # what else may become of files
PAGE = 4096


def recording(count=2000):
    """Samples of some motion, with contact points, events of no kind, a row at the end, and bytes for a model."""
    rng = np.random.default_rng(0)
    state = rng.normal(size=(count, 6)).cumsum(axis=0)
    end = {name: np.zeros(3) for name in ("qpos", "qvel")} | {name: np.zeros(0) for name in ("act", "ctrl")}
    model = StoredModel(rng.bytes(20_000), "4.0.0", "<mujoco/>", "m", [], None, {})
    return Trajectory(
        np.arange(count) * 0.01,
        state[:, :3],
        state[:, 3:],
        contact_state=rng.random((count, 2)) < 0.5,
        names={"contact": ["a", "b"]},
        attrs={"integrator": "rk4", "seed": 2**70},
        end=end | {"time": np.float64(count * 0.01), "energy": np.zeros(2)},
        model=model,
    )


def same(first, second):
    """Whether two recordings are equal bit for bit."""
    columns = all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in DIMENSIONS)
    ends = {name: value.tobytes() for name, value in (first.end or {}).items()}
    others = {name: value.tobytes() for name, value in (second.end or {}).items()}
    about = [(t.attrs, t.names, t.units, t.events.tobytes(), t.stored_model) for t in (first, second)]
    return columns and ends == others and about[0] == about[1]


def damage(source, target, kind, rng):
    """A copy of a file or a store at `source` with one bit flipped, one page zeroed, or a file or its end missing."""
    if source.is_dir():
        shutil.copytree(source, target)
        file = rng.choice(sorted(path for path in target.rglob("*") if path.is_file()))
    else:
        file = Path(shutil.copy(source, target))
    content = bytearray(file.read_bytes())
    if kind == "flip":
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == "page":
        first = rng.randrange(0, len(content), PAGE)
        content[first : first + PAGE] = bytes(len(content[first : first + PAGE]))
    elif source.is_dir():
        file.unlink()
        return
    else:
        del content[rng.randrange(len(content)) :]
    file.write_bytes(content)


def make_strange(file, others, kind, rng):
    """Do to a file, which lies beside others: cut it, change one digit, swap it, or put a link or pipe in its place."""
    content = file.read_bytes()
    if kind == "cut":
        file.write_bytes(content[: rng.randrange(len(content))])
    elif kind == "digit":
        places = [k for k, byte in enumerate(content) if chr(byte).isdecimal()]
        at = rng.choice(places or [0])
        file.write_bytes(content[:at] + str((content[at] + rng.randrange(1, 9)) % 10).encode() + content[at + 1 :])
    elif kind == "swap":
        other = rng.choice(others)
        file.write_bytes(other.read_bytes())
        other.write_bytes(content)
    else:
        file.unlink()
        if kind == "pipe":
            os.mkfifo(file)
        else:
            file.symlink_to("/dev/zero" if kind == "device" else rng.choice(others))


@contextlib.contextmanager
def no_waiting(seconds):
    """End what is inside by a TimeoutError if it waits for a pipe or comes to no end."""

    def late(*_):
        raise TimeoutError("it comes to no end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(path, whole):
    """End of loading, and the seconds until then."""
    began = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # said to be unverified
            result = "same" if same(Trajectory.load(path), whole) else "OTHER"
    except RecordError:
        result = "refused"
    except Exception as error:
        result = f"RAW {type(error).__name__}: {error}"
    return result, time.monotonic() - began


def count_outcomes(suffix, count, directory, seed=0, kinds=KINDS):
    """Number of damaged recordings, of `count`, by (kind, outcome), and the longest time."""
    rng = random.Random(seed)
    source, target = Path(directory) / f"whole{suffix}", Path(directory) / f"damaged{suffix}"
    whole = recording()
    size, stream.CHUNK_BYTES = stream.CHUNK_BYTES, 2**14  # several chunks
    try:
        whole.save(source)
    finally:
        stream.CHUNK_BYTES = size
    found, longest = collections.Counter(), 0.0
    for number in range(count):
        kind = kinds[number % len(kinds)]
        damage(source, target, kind, rng)
        result, seconds = outcome(target, whole)
        found[kind, result] += 1
        longest = max(longest, seconds)
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    return found, longest


if __name__ == "__main__":
    for suffix in (".nc", ".zarr"):
        with tempfile.TemporaryDirectory() as directory:
            print(suffix, *count_outcomes(suffix, int(sys.argv[1]) // 2, directory), flush=True)
