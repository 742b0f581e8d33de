"""Mutants of files that Saltus wrote: recordings, results of sweeps, policies.

Damage that falls on bytes must be refused or leave what was written; changed metadata and arrays may be accepted.
"""

import functools
import json
import random
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import saltus
from helpers import damage
from helpers.recordings import recorded
from helpers.soaking.outcomes import Kind, Other
from helpers.soaking.values import TEXTS, VALUES, changed_json_text
from saltus.env import Policy
from saltus.errors import SaltusWarning
from saltus.record import Trajectory
from saltus.record.files.checksum import sealed_size, write_sealed
from saltus.record.io.sweep_store import Kept

ABOUT = {"model": "pendulum", "step": 0.1}
BYTES = (*damage.KINDS, "cut", "digit", "swap", "device")
SHAPES: tuple[Any, ...] = ((), (0,), (1,), (3,), (3, 2), (0, 5), (1, 1, 1), (1000,))
TYPES = ("f4", "f8", "i4", "u1", "?", "c16", "U5", "S3", ">f8", "M8[s]")


@functools.cache
def written() -> Path:
    """A folder with a whole file of each sort."""
    folder = Path(tempfile.mkdtemp(prefix="saltus-soak-whole-"))
    whole = damage.recording(200)
    for suffix in (".nc", ".zarr"):
        whole.save(folder / f"whole{suffix}")
        recorded().save(folder / f"other{suffix}")
    with Kept(folder / "whole.json", ABOUT) as kept:
        for k in range(10):
            kept.add({"a": 0.1 * k}, {"status": "done", "measures": {"height": 1 / (k + 1)}, "note": ""})
        kept.write()
    weights = np.random.default_rng(0).normal(size=(4, 3))
    Policy([weights, weights.T], [np.zeros(4), np.zeros(3)], low=-1.0, high=1.0).save(folder / "whole.npz")
    recorded().save(folder / "columns.npz")
    return folder


def sweep(save: Path) -> None:
    """A small sweep that keeps its results."""
    values = {"qpos[theta]": [0.1, 0.2]}
    saltus.sweep("pendulum", values, duration=0.1, workers=1, progress=False, save=save)


@functools.cache
def swept() -> Path:
    """Results of a sweep in a Zarr store."""
    store = Path(tempfile.mkdtemp(prefix="saltus-soak-whole-")) / "sweep.zarr"
    sweep(store)
    return store


def _copy(source: Path, folder: Path) -> Path:
    target = folder / f"mutant{source.suffix}"
    shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    return target


def damaged(source: Path, folder: Path, rng: random.Random) -> Path:
    """A copy in whose bytes something is changed."""
    how = rng.choice(BYTES)
    if how in damage.KINDS:
        target = folder / f"mutant{source.suffix}"
        damage.damage(source, target, how, rng)
        return target
    target = _copy(source, folder)
    inside = sorted(path for path in target.rglob("*") if path.is_file()) if target.is_dir() else [target]
    other = folder / "beside"
    other.write_bytes(rng.randbytes(100))
    damage.make_strange(rng.choice(inside), [other], how, rng)
    return target


def _odd_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array of another type or shape, or with an odd entry."""
    how = rng.randrange(4)
    if how == 0:
        return np.zeros(rng.choice(SHAPES), rng.choice(TYPES))
    if how == 1 and array.dtype.kind in "US":
        return np.array(rng.choice(TEXTS))
    if how == 2 or not array.size or array.dtype.kind not in "fi":
        return np.array(array.reshape(-1)[: rng.randrange(array.size + 1)])
    array = np.array(array)
    array.reshape(-1)[rng.randrange(array.size)] = rng.choice(
        [-1, 0, np.iinfo(array.dtype).max] if array.dtype.kind == "i" else FLOATS
    )
    return array


FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e-320)


def changed_npz(source: Path, folder: Path, rng: random.Random) -> Path:
    """A copy with one or two of its arrays odd, gone, or by another name."""
    with np.load(source) as file:
        arrays = {name: file[name] for name in file.files}
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(sorted(arrays))
        array, how = arrays.pop(name), rng.randrange(8)
        if how == 1:
            arrays[rng.choice(["x", "weight_9", f"{name}_", "é"])] = array
        elif how > 1:
            arrays[name] = _odd_array(array, rng)
    target = folder / "mutant.npz"
    np.savez(target, **arrays)
    return target


def changed_netcdf(source: Path, folder: Path, rng: random.Random) -> Path:
    """A copy with an attribute or a variable that is odd, gone, or by another name."""
    import h5py

    target = folder / "mutant.nc"
    target.write_bytes(_unsealed(source))
    with h5py.File(target, "r+") as file:
        for _ in range(rng.randint(1, 2)):
            holder = rng.choice([file, file[rng.choice(sorted(file))]])
            names = sorted(holder.attrs)
            if holder is not file or rng.random() < 0.6:
                name = rng.choice(names or ["x"])
                value = rng.choice([v for v in VALUES if can_be_attribute(v)])
                text = holder.attrs.get(name)
                if isinstance(text, str) and text[:1] in "{[" and rng.random() < 0.7:
                    value = changed_json_text(text, rng)
                holder.attrs[name] = value if len(str(value)) < 20_000 else "["
            else:
                name = rng.choice(sorted(file))
                array = file[name]
                new = _odd_array(np.asarray(array[()]), rng) if array.dtype.kind in "fi" else np.zeros(3)
                del file[name]
                if new.dtype.kind in "fiu":
                    file[name] = new
    if rng.random() < 0.8:  # as if it had been written so: what is inside is looked at
        write_sealed(target, target.read_bytes())
    return target


def _unsealed(source: Path) -> bytes:
    """Contents of a file before its checksum."""
    with open(source, "rb") as file:
        return file.read(sealed_size(file))


def can_be_attribute(value: Any) -> bool:
    """Whether HDF5 can hold a value: texts, and whole numbers of 64 bits."""
    return bool(value) if isinstance(value, str) else isinstance(value, int | float) and abs(value) < 2**63


def changed_zarr(source: Path, folder: Path, rng: random.Random) -> Path:
    """A copy with changed metadata."""
    target = _copy(source, folder)
    file = rng.choice(sorted(target.rglob("zarr.json")))
    file.write_text(changed_json_text(file.read_text(), rng))
    if (seal := target / "checkpoint.npz").exists() and rng.random() < 0.5:
        write_sealed(seal, changed_npz(seal, folder, rng).read_bytes())
    return target


def look_at(trajectory: Trajectory) -> None:
    """Use of a recording that loads, as by anybody."""
    repr(trajectory), len(trajectory.time), trajectory["qpos"], trajectory.to_pandas()


def try_recording(suffix: str, rng: random.Random, folder: Path) -> None:
    """Load a mutant of a recording, as NetCDF or Zarr."""
    whole = written() / f"whole{suffix}"
    if rng.random() < 0.4:
        found = None
        target = damaged(whole, folder, rng)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = Trajectory.load(target)
        unverified = any(issubclass(w.category, SaltusWarning) for w in caught)
        if not unverified and not damage.same(found, Trajectory.load(whole)):
            raise Other("a damaged recording loads as another one, without a warning")
        return
    source = written() / f"{rng.choice(['whole', 'other'])}{suffix}"
    target = (changed_netcdf if suffix == ".nc" else changed_zarr)(source, folder, rng)
    look_at(Trajectory.load(target))


def try_npz(rng: random.Random, folder: Path) -> None:
    """Load what another program may have made of columns in .npz, as a recording; as such it is refused."""
    source = written() / "columns.npz"
    Trajectory.load(rng.choice([damaged, changed_npz])(source, folder, rng))


def try_sweep(rng: random.Random, folder: Path) -> None:
    """Go on with a mutant of a sweep's results, as JSON or Zarr."""
    if rng.random() < 0.2:
        sweep(rng.choice([damaged, changed_zarr])(swept(), folder, rng))
        return
    whole = written() / "whole.json"
    if rng.random() < 0.3:
        target = damaged(whole, folder, rng)
    else:
        target = folder / "mutant.json"
        text = changed_json_text(whole.read_text(), rng)
        if rng.random() < 0.7:
            text = _from_before(text)
        target.write_text(text)
    with Kept(target, ABOUT) as kept:
        list(kept.rows.items())


def _from_before(text: str) -> str:
    """A file as they were before they had checksums, so that its rows are looked at."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(content, dict):
        content.pop("checksum", None)
        content["format"] = "saltus sweep 1"
    return json.dumps(content)


def try_policy(rng: random.Random, folder: Path) -> None:
    """Load a mutant of a policy, and ask it for an action."""
    target = rng.choice([damaged, changed_npz, changed_npz])(written() / "whole.npz", folder, rng)
    policy = Policy.load(target)
    repr(policy), policy(np.zeros(policy.nobservation))


KINDS = (
    Kind("netcdf", functools.partial(try_recording, ".nc"), written),
    Kind("zarr", functools.partial(try_recording, ".zarr"), written),
    Kind("npz", try_npz, written),
    Kind("sweep", try_sweep, lambda: (written(), swept())),
    Kind("policy", try_policy, written),
)
