"""Units: machine code of large kernels, made once, called by all entries that need it.

Reference: plain Python on the same numbers; for whole models, the step that is compiled as one.
"""

import os
import subprocess
import sys

import pytest

from saltus.number.cache.checksum import read_sealed

SCRIPT = """
import sys
from saltus.number.compile import worker_pool
from saltus.number.compile import parts
from saltus.number.compile import units
worker_pool.MOST = 0  # all of it here
parts.LARGE = int(sys.argv[2])
from saltus.number.kernels import Entry, kernel
from saltus.number.structs import Field, Layout, Struct

made = []
compile_unit = units.compile_unit
def counted(file, codegen):
    unit = compile_unit(file, codegen)
    made.append(file.partition("-")[0])
    return unit
units.compile_unit = counted

@kernel
def series(x, n):
    total, term = 0.0, 1.0
    for k in range(1, n + 1):
        total += term
        term *= x / k
        if term > 1e9:
            return -total
    return total

@kernel
def ratio(d, n):
    below = series(d.x[1], n)
    if below < 1.0:
        for k in range(n):
            below += d.x[0] * k
    return series(d.x[0], n) / below

m = Struct(Layout("Nothing", {"n": Field("int", ())}, frozen=True), {"n": 1})
d = Struct(Layout("Pair", {"x": Field("real", ("two",))}), {"two": 2})
d.x[0], d.x[1] = 0.3, 1.7
entry = Entry("ratio", "n", sys.argv[1], ratio=ratio, series=series)
expected = series.py_func(0.3, 9) / series.py_func(1.7, 9)
result = entry(m, d, 9)
assert entry(m, d, 9) == result
print(f"{result.hex()} {expected.hex()} {','.join(sorted(made))}")
"""


@pytest.fixture
def run(tmp_path):
    """Runs a process that compiles an entry with this body, with kernels as units from a number of instructions.

    It gives its result, the one of plain Python, and the units that it made.
    """
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)

    def run(body="return ratio(d, n)", large=10, warnings="error"):
        command = [sys.executable, "-W", warnings, str(script), body, str(large)]
        environment = {**os.environ, "SALTUS_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr
        run.said = done.stderr
        result, expected, made = done.stdout.rstrip("\n").split(" ")
        return float.fromhex(result), float.fromhex(expected), made

    run.files = lambda name: sorted(cache.rglob(f"{name}*.nbc"))
    return run


@pytest.mark.slow
def test_another_entry_calls_the_same_units(run):
    result, expected, made = run()
    assert result == expected and made == "ratio,series"
    assert run("return 2.0 * ratio(d, n)") == (2.0 * expected, expected, "")
    assert len(run.files("entry_")) == 2 and len(run.files("unit_")) == 2


def test_small_kernels_are_no_units(run):
    result, expected, made = run(large=10_000)
    assert result == expected and made == "" and run.files("unit_") == []


@pytest.mark.slow
def test_a_kernel_is_as_large_as_what_it_calls_with_it(run):
    """`series` alone is too small to be a unit, `ratio` is one with it."""
    result, expected, made = run(large=60)
    assert result == expected and made == "ratio"
    assert run("return series(d.x[0], n) / series(d.x[1], n)", large=60)[::2] == (expected, "")


@pytest.mark.slow
@pytest.mark.parametrize("which", ["unit_ratio", "unit_series", "unit_"])
def test_a_missing_unit_is_made_anew(run, which):
    expected = run()[1]
    gone = run.files(which)
    for file in gone:
        file.unlink()
    assert run()[::2] == (expected, ",".join(sorted(f.name.removeprefix("unit_").partition("-")[0] for f in gone)))
    assert run.files(which) == gone and run()[::2] == (expected, "")


@pytest.mark.slow
def test_an_entry_whose_kernels_are_gone_is_compiled_anew(run):
    expected = run()[1]
    for name in ("unit_ratio", "ratio"):
        (file,) = run.files(name)
        file.unlink()
    assert run()[::2] == (expected, "ratio")


def test_a_damaged_unit_is_told_and_made_anew(run):
    expected = run()[1]
    (file,) = run.files("unit_ratio")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert run(warnings="always")[::2] == (expected, "ratio")
    assert f"damaged: {file}" in run.said and read_sealed(str(file))


MODEL = """
import sys
from saltus.number.compile import parts
parts.LARGE = int(sys.argv[1])
import saltus
sim = saltus.Simulation("double_pendulum", "implicitfast")
sim.qpos[:] = 1.0, 0.5
sim.step(200)
print(sim.qpos.tobytes().hex(), sim.qvel.tobytes().hex())
"""


@pytest.mark.slow
def test_steps_in_units_have_the_bits_of_one_whole(tmp_path):
    def bits(large):
        cache = tmp_path / f"cache{large}"
        cache.mkdir(mode=0o700)
        environment = {**os.environ, "SALTUS_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", MODEL, str(large)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=300)
        return done.stdout, len(list(cache.rglob("unit_*")))

    (whole, none), (parts, many) = bits(10**9), bits(100)
    assert parts == whole and none == 0 and many > 10
