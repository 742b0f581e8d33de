"""Entries that are in the cache run without Numba's compiler.

Reference: the same entries where they were compiled; the hash of a text by Python itself, which differs by process.
"""

import subprocess
import sys

import pytest

COMPILER = {"numba.np.arraymath", "scipy.linalg"}
PROGRAM = """
import sys
import numpy as np
from saltus.number.kernels import Entry
array, text = np.array([3.0, 4.0]), "saltus"
entry = Entry("loaded", "{argument}", "return {expression}", short=(), np=np)
print(np.array_equal(entry({argument}), {expected}), bool({compiler} & set(sys.modules)))
"""


def process(directory, monkeypatch, **parts):
    monkeypatch.setenv("SALTUS_CACHE_DIR", str(directory))
    code = PROGRAM.format(compiler=COMPILER, **parts)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "expression", "expected", "compiler"),
    [
        ("array", "array[0] + array[1]", "7.0", False),
        ("array", "2.0 * array", "np.array([6.0, 8.0])", False),
        ("text", "hash(text)", "hash(text)", True),  # Numba's own hashes need the constants of this process
    ],
)
def test_loaded_without_the_compiler(tmp_path, monkeypatch, argument, expression, expected, compiler):
    tmp_path.chmod(0o700)
    parts = dict(argument=argument, expression=expression, expected=expected)
    assert process(tmp_path, monkeypatch, **parts) == ["True", "True"]
    assert process(tmp_path, monkeypatch, **parts) == ["True", str(compiler)]
