"""Equations as files: Python, Numba, C and kernels say what the equations say.

The engine's M and bias are the reference for all of them; they come from other algorithms. The tolerance is that of
rounding: fewer than 1e3 operations of numbers below 1e3.
"""

import ctypes
import subprocess

import numpy as np
import pytest

import saltus
from saltus.errors import RecordError
from saltus.symbolic.code import routine
from saltus.symbolic.export.python_code import function

STATE = [0.7, -1.1], [0.4, 2.0]


@pytest.fixture(scope="module")
def engine():
    sim = saltus.Simulation("double_pendulum")
    sim.qpos[:], sim.qvel[:] = STATE
    sim.forward()
    return sim.full_M(), sim.data.qfrc_bias.copy()


def check(M, bias, engine, equations):
    """Compare in the joints' coordinates."""
    S = equations.choice.own.sums
    np.testing.assert_allclose(S.T @ np.asarray(M) @ S, engine[0], rtol=1e-12)
    np.testing.assert_allclose(S.T @ np.asarray(bias), engine[1], rtol=1e-12)


@pytest.fixture(scope="module", params=["relative", "absolute"])
def equations(request):
    return saltus.derive("double_pendulum", request.param)


def test_lambdify(equations, engine):
    check(*equations.lambdify()(*equations.from_joint(*STATE)), engine, equations)


def test_lambdify_with_letters(engine):
    equations = saltus.derive("double_pendulum", parameters="symbols")
    f = equations.lambdify()
    check(*f(*STATE), engine, equations)
    M, _ = f(*STATE, {"m_lower": 4.0})
    m = saltus.load("double_pendulum").changed({"body_mass[lower]": 4.0})
    sim = saltus.Simulation(m)
    sim.qpos[:] = STATE[0]
    sim.forward()
    np.testing.assert_allclose(M, sim.full_M(), rtol=1e-12)


def test_python_file(equations, engine, tmp_path):
    path = tmp_path / "pendulum.py"
    text = equations.python(path)
    assert (path.read_text() == text and "alpha" in text) or equations.orientation == "relative"
    namespace: dict = {}
    exec(compile(text, str(path), "exec"), namespace)
    M, bias, forces = namespace["double_pendulum"](*equations.from_joint(*STATE), [3.0, 5.0])
    check(M, bias, engine, equations)
    np.testing.assert_array_equal(equations.choice.own.sums.T @ forces, [3.0, 5.0])


@pytest.mark.slow
def test_numba_file(equations, engine, tmp_path):
    path = tmp_path / "compiled_pendulum.py"
    equations.python(path, target="numba")
    code = "import compiled_pendulum as p; print(*(x.tolist() for x in p.double_pendulum({}, {}, [0.0, 0.0])), sep=';')"
    q, v = (x.tolist() for x in equations.from_joint(*STATE))
    done = subprocess.run(["python", "-c", code.format(q, v)], cwd=tmp_path, capture_output=True, text=True, check=True)
    M, bias, _ = map(eval, done.stdout.split(";"))
    check(M, bias, engine, equations)


def test_c_file(equations, engine, tmp_path):
    path = tmp_path / "pendulum.c"
    equations.c(path)
    assert (tmp_path / "pendulum.h").exists()
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "pendulum.c", "-lm", "-o", "pendulum.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "pendulum.so"))
    M, bias, forces = np.zeros((2, 2)), np.zeros(2), np.zeros(2)
    arrays = [*equations.from_joint(*STATE), np.array([3.0, 5.0]), M, bias, forces]
    library.double_pendulum(*(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in arrays))
    check(M, bias, engine, equations)
    np.testing.assert_array_equal(equations.choice.own.sums.T @ forces, [3.0, 5.0])


def test_kernel_file(equations, tmp_path):
    """It is what runs under the integrators, see test_numeric."""
    text = equations.python(tmp_path / "kernels.py", target="kernel")
    assert "def inertia(m, d):" in text and "def bias(m, d):" in text and (tmp_path / "kernels.py").read_text() == text


def test_maximal_code_holds_the_constraints():
    equations = saltus.derive("pendulum", "maximal")
    compiled = function(routine(equations))
    q, v = equations.from_joint([0.5], [1.0])
    M, _, _, J, gamma, phi, rate = compiled(q, v, [0.0])
    np.testing.assert_allclose(np.diag(M), [2.0, 2.0, 0.0])
    np.testing.assert_allclose(phi, 0.0, atol=1e-15)
    np.testing.assert_allclose(J @ v, rate, atol=1e-15)
    # differentiated twice along a turn at constant rate, which keeps the constraints: J a = γ with a = -ω² (x, z)
    np.testing.assert_allclose(J @ [-q[0], -q[1], 0.0], gamma, atol=1e-15)


def test_operations_are_counted():
    """M = m l² and m g l sin θ with numbers: nothing to compute but a product and a sine."""
    counts = saltus.derive("pendulum").count_ops()
    assert (counts.multiplications, counts.functions, counts.additions) == (1, 1, 0)


def test_files_are_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(RecordError, match="no_such_folder"):
        saltus.derive("pendulum").python(tmp_path / "no_such_folder" / "f.py")
