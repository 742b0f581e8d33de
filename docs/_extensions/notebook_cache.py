"""Where outputs of executed pages are kept: by all that they depend on, the page's cells and the whole package.

The cache itself (jupyter_cache) knows pages by their cells alone. So each state of the package has a cache of its own,
beside the compiled kernels, where a fresh checkout finds it; the last few are kept.
"""

import contextlib
import hashlib
import importlib.metadata
import platform
import shutil
from pathlib import Path

from saltus.number.cache.storage import cache_root

PACKAGE = Path(__file__).resolve().parents[2] / "saltus"
FOLDER = "notebooks"
KEPT = 4  # states of the package
PEERS = ("numpy", "numba", "mujoco", "scipy", "sympy", "matplotlib", "pandas", "xarray", "ipython", "gymnasium")


def package_key(package: Path = PACKAGE) -> str:
    """Hash of all files of the package but compiled ones, and of the versions of what its outputs show."""
    digest = hashlib.sha256(platform.python_version().encode())
    for name in PEERS:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for path in sorted(package.rglob("*")):
        if path.is_file() and not {"__pycache__", "node_modules"} & {*path.parts}:
            digest.update(f"{path.relative_to(package)}\n".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def folder(root: Path | None = None, key: str | None = None) -> Path:
    """The cache of this state of the package, which is there then; those of the oldest states are removed."""
    found = (root or cache_root()) / FOLDER / (key or package_key())
    found.mkdir(parents=True, exist_ok=True)
    found.touch()  # used now
    for old in sorted(found.parent.iterdir(), key=lambda path: -path.stat().st_mtime)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return found
