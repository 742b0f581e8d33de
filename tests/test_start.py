"""What a start imports once its kernels are in the cache: nothing that the run does not use."""

import subprocess
import sys

import pytest

COMPILER = ("numba.np.arraymath", "numba.np.linalg", "numba.cpython.unicode", "numba.typed.typedlist")
LIBRARIES = ("scipy.linalg", "scipy.sparse", "sympy", "symengine", "matplotlib", "PIL", "av", "rich", "websockets")
TABLES = ("xarray", "pandas", "h5netcdf", "h5py", "zarr", "dask", "numpy.f2py", "numpy.testing")
ROOMS = (
    "saltus.symbolic",
    "saltus.lab",
    "saltus.bench",
    "saltus.draw.renderer",
    "saltus.study.sweep",
    "saltus.simulate.batch",
)
STEP = "import saltus; saltus.Simulation('pendulum').step()"
RUN = "from saltus.cli import main; main(['run', 'pendulum', '--duration', '0.1', '--no-certify'])"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "also"), [(STEP, ("typer", "pydantic", "saltus.cli")), (RUN, ())], ids=["step", "run"]
)
def test_a_start_imports_nothing_that_it_does_not_use(start, also):
    heavy = {*COMPILER, *LIBRARIES, *TABLES, *ROOMS, *also}
    program = f"""
import atexit, sys
atexit.register(lambda: print("imported:", *sorted({heavy} & set(sys.modules))))
{start}
"""
    for _ in range(2):  # the first may compile
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "imported:"
