"""Users' functions on floats, lanes and duals: each construct of Python.

Reference: the same function as plain Python, on numbers; for derivatives, central differences of it.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
from helpers.cases import Cases

import saltus
from saltus.dynamics.users.rewriting import Role, rewritten
from saltus.number.functions import where
from saltus.number.kernels import kernel

ANY = Role((), True)
KINDS = {"float64": 1e-13, "float32": 3e-5, "lane64": 1e-13, "lane32": 3e-5}
X = np.random.default_rng(3).uniform(-2.0, 2.0, (37, 2))
GAIN = 1.5


def values(a, b):
    """Conditional values, truths as numbers."""
    first = a if a > b else 2.0 * b
    second = 1.0 if a > 0.5 else -1 if a < -0.5 else 0
    third = where(a > b, 1.0, 0.0) + (a > 0) * b + (a > b) + (b > 0.1) - (not a > 0)
    return first, second, third


def truths(a, b):
    """and, or, not, chains, memberships of numbers."""
    one = 1.0 if (a > 0 and b > 0) or not a < 1 else 0.0
    two = 1.0 if -1 < a**2 - b < 1 else 0.0
    inside = -1 < a <= 1
    outside = not inside or b > 1
    three = 2.0 if outside and a else 3.0
    return one, two, three


def powers(a, b):
    return a**2 - b**3 + a**7, (a * a) ** 0.5 + abs(b) ** 1.5, (a + 3.0) ** b + (b + 3) ** -2


def remainders(a, b):
    return a % 0.7 + 3.0 % b, a // 0.3, b % -0.4 + min(a, b, 0.3) - max(a, b, -1)


def functions(a, b):
    one = np.sqrt(abs(a)) + np.cos(b) + math.sin(a) + np.tanh(b) + math.log(a * a + 1) + np.exp(b)
    two = np.arctan2(a, b) + np.arctan(a) + np.tan(0.5 * b) + math.asin(0.4 * a) + np.cosh(b) + np.sinh(a)
    three = np.hypot(a, b) + np.clip(a, -1, 0.5) + np.minimum(a, b) + np.sign(a) + math.log10(3 + a) + np.log1p(b * b)
    return one, two, three


def rounding(a, b):
    return np.floor(a) + math.ceil(b) + round(a), np.trunc(b) + int(3.7), float(a > b) + math.copysign(1.5, a)


def branches(a, b):
    """Branches that assign, also variables that no other one knows."""
    total = 0.0
    if a > 0:
        total = a
        part = b
    elif b > 0:
        total -= 1
        part = 2.0
    else:
        part = 3
    if total > 1 and b < 1:
        total += 10
    u, v = part, total
    if a > b:
        u, v = v, u
    return total, u, v


def loops(a, b):
    """Loops that each simulation leaves in its own time, and sums that begin with numbers."""
    s = 0
    for k in range(4):
        if a > 0.4 * k:
            s += a**2
        else:
            s -= b
    steps = 0
    x = abs(a) + 0.1
    while x < 3.0:
        x = 1.5 * x + 0.1
        steps += 1
        if steps > 2 and b > 0:
            break
    odd = 0.0
    for k in range(6):
        if k % 2 == 0:
            continue
        if b > 0.2 * k:
            continue
        odd += k * GAIN
    return s, x + steps, odd


def early(a, b):
    """Functions that end early."""
    if a > 1:
        return a, 0, 1
    for k in range(5):
        if b > 0.3 * k and a < 0:
            return k, b, a
        if k > 3:
            break
    if not b:
        return 1, 2, 3
    c = a + b
    return c, c * a, c - b


def arrays(a, b):
    """Small arrays: arithmetic, elements, norms, slices."""
    u = np.array([a, b, 1.0])
    v = np.zeros(3)
    for k in range(3):
        if a > 0.2 * k:
            v[k] = a * k
        else:
            v[k] += 1.0
    w = 2.0 * u - v / 2 + -u * v
    w[-1] = b
    t = w[0:2]
    x = u if a > b else v
    return np.linalg.norm(w), np.dot(u, w) + sum(t) + x[1] + len(w), max(t[0], t[1]) + np.linalg.norm((a, b))


CONSTRUCTS = [values, truths, powers, remainders, functions, rounding, branches, loops, early, arrays]
DERIVED = [values, powers, functions, branches, loops, early, arrays]


def compiled(function):
    def law(x):
        return inner(x[0], x[1])

    inner = kernel(rewritten(ANY, function))
    return Cases(kernel(law), 2, 3)


def plain(function, x):
    return np.array([function(*row) for row in x.tolist()], float)


@pytest.mark.parametrize("function", CONSTRUCTS)
def test_constructs(function):
    run = compiled(function)
    for kind, tolerance in KINDS.items():
        given = X.astype(np.float32 if kind.endswith("32") else float)
        assert np.allclose(run(kind, given), plain(function, given), rtol=tolerance, atol=tolerance), kind


@pytest.mark.parametrize("function", DERIVED)
def test_derivatives(function):
    dx = np.zeros((*X.shape, 8))
    dx[:, 0, 0] = dx[:, 1, 1] = 1.0
    value, slope = compiled(function)("dual", X, dx)
    assert np.allclose(value, plain(function, X), rtol=1e-13, atol=1e-13)
    for k in range(2):
        h = 1e-6 * np.eye(2)[k]
        expected = (plain(function, X + h) - plain(function, X - h)) / 2e-6
        assert np.allclose(slope[:, :, k], expected, rtol=1e-6, atol=1e-6)


def test_lambdas_and_closures():
    def scaled(gain):
        return lambda a, b: (a * gain if a > b else b, gain, 0.0)

    assert np.allclose(compiled(scaled(3.0))("lane64", X), plain(scaled(3.0), X))


def test_the_code_follows_the_source_and_what_it_refers_to(monkeypatch):
    """Whoever compiles it again, in this process or another, finds what belongs to it."""
    from saltus.number.cache.fingerprint import fingerprint

    names = [fingerprint(rewritten(ANY, f)) for f in (values, truths, loops, loops)]
    assert len(set(names)) == 3 and names[2] == names[3]
    monkeypatch.setitem(globals(), "GAIN", 2.5)
    assert fingerprint(rewritten(ANY, loops)) != names[2]


def test_our_own_functions_stay_as_they_are():
    from saltus.dynamics.control import pid

    assert rewritten(ANY, pid.py_func) is pid.py_func
    assert rewritten(Role.of("f(t), a function of the time"), values) is values


def test_simulations_of_a_batch_go_their_own_ways():
    """Energy that a controller pumps in only where the pendulum moves up: each simulation as one alone."""

    @saltus.controller
    def pump(m, d, z):
        total = 0.0
        for k in range(m.nv):
            total += d.qvel[k] ** 2
        control = d.ctrl
        control[0] = 0.0
        if total > 0.01 and d.qpos[0] * d.qvel[0] < 0:
            d.ctrl[0] = 0.3 if total < 1 else -0.2 * np.sqrt(total)

    starts = np.linspace(-2.0, 2.0, 5)
    batch = saltus.Batch("pendulum", 5, integrator="euler", control=pump)
    batch.qpos = starts[:, None]
    batch.step(200)
    for k, start in enumerate(starts):
        alone = saltus.Simulation("pendulum", integrator="euler", control=pump)
        alone.qpos[0] = start
        alone.step(200)
        assert np.allclose(batch.qpos[k], alone.qpos, atol=1e-12)


def test_functions_of_a_program_on_the_command_line_are_rewritten():
    """`python -c` has no file; a power of a number that is a lane needs the rewriting."""
    program = (
        "import saltus\n"
        "@saltus.controller\n"
        "def brake(m, d, z):\n"
        "    d.ctrl[0] = -d.qvel[0] ** 2\n"
        "batch = saltus.Batch('pendulum', 2, control=brake)\n"
        "batch.step()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
