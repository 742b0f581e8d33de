"""Errors planted one at a time in a copy of the package: each wrong sign turns a benchmark red.

A copy runs as users do, `saltus verify NAME`, in a process of its own. It shares the cache of compiled kernels with the
package: what the sign touches has other keys, all else is found; code under a stale key would pass, and fail here. The
verdict must be that of numbers, or of a simulation that failed: a copy that does not compile does not count. Unchanged
copies pass.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import saltus

PACKAGE = Path(saltus.__file__).parent
SIMULATED = ("DivergenceError", "EventError")  # how a wrong simulation may end


@dataclass(frozen=True)
class Plant:
    """A sign in a file of the package, `right` as it stands and `wrong`, and a benchmark that must notice."""

    file: str
    right: str
    wrong: str
    benchmark: str


PLANTS = {
    "lever arm of a rod": Plant(
        "contact/rows/rod_contacts.py",
        "dot3(axis, cross(t, d.side_arm[i]))",
        "dot3(axis, cross(d.side_arm[i], t))",
        "rolling-rod",
    ),
    "slope of a cam": Plant(
        "contact/rows/coupling.py",
        "b + h * (2.0 * c + h * 3.0 * e)",
        "b + h * (2.0 * c - h * 3.0 * e)",
        "cam-acceleration",
    ),
    "slip over a capstan": Plant(
        "dynamics/tendon/capstan.py",
        "after = -0.5 if e >= m.capstan_last[t]",
        "after = 0.5 if e >= m.capstan_last[t]",
        "capstan",
    ),
    "coriolis": Plant(
        "dynamics/tree/rnea.py",
        "a = add_scaled6(a, d.qvel[i], rate)",
        "a = add_scaled6(a, -d.qvel[i], rate)",
        "n-link-2",
    ),
    "gyroscopic": Plant(
        "spatial/motions.py",
        "v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4]",
        "v[2] * f[1] - v[1] * f[2] + v[4] * f[5] - v[5] * f[4]",
        "top-slow",
    ),
    "gravity": Plant("dynamics/tree/rnea.py", "zero - g[1], zero - g[2])", "zero - g[1], zero + g[2])", "n-link-1"),
    "jacobian of points": Plant(
        "dynamics/tree/jacobian.py",
        "translation[k, i] = linear[k]",
        "translation[k, i] = -linear[k]",
        "n-link-1",
    ),
    "jacobian of contacts": Plant(
        "contact/rows/contacts.py",
        "d.row_J[place + 1] = side * dot6(s, w1)",
        "d.row_J[place + 1] = -dot6(s, w1)",
        "rolling-soft",
    ),
    "friction cone": Plant(
        "solve/cone/residual.py",
        "- mu * sqrt(y1 * y1 + y2 * y2)",
        "+ mu * sqrt(y1 * y1 + y2 * y2)",
        "friction-siconos-small",
    ),
    "restitution": Plant(
        "solve/impact/law.py",
        "p.impact_aim[b] = maximum(-e * p.impact_base[row], 0.0)",
        "p.impact_aim[b] = maximum(e * p.impact_base[row], 0.0)",
        "two-spheres",
    ),
    "pid": Plant(
        "dynamics/control.py",
        "u = u + d.control_prm[p + PID_KD]",
        "u = u - d.control_prm[p + PID_KD]",
        "servo-pid",
    ),
    "soft law": Plant(
        "contact/rows/soft_law.py",
        "return -damping * v - stiffness * d * r",
        "return -damping * v + stiffness * d * r",
        "rest-penetration",
    ),
    "stretch": Plant(
        "dynamics/flex/elements.py",
        "tension[a] = tension[a] + (s[0] * x",
        "tension[a] = tension[a] - (s[0] * x",
        "patch-sheet",
    ),
    "muscle activation": Plant(
        "dynamics/actuator/muscle.py", "return excess / where(tau", "return -excess / where(tau", "activation-rises"
    ),
    "friction at rest": Plant(
        "contact/rows/joints.py",
        "bound = kinetic + excess * exp(-decay)",
        "bound = kinetic - excess * exp(-decay)",
        "stribeck-breakaway",
    ),
    "bristles": Plant(
        "dynamics/actuator/dc_motor.py",
        "torque = torque - m.actuator_dynprm[k, 5] * d.act[place]",
        "torque = torque + m.actuator_dynprm[k, 5] * d.act[place]",
        "bristles-breakaway",
    ),
    "cogging": Plant(
        "dynamics/actuator/dc_motor.py",
        "torque = torque + prm[0] * sine",
        "torque = torque - prm[0] * sine",
        "dcmotor-cogging",
    ),
    "quaternion": Plant(
        "spatial/quaternions.py",
        "a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]",
        "a[0] * b[3] - a[1] * b[2] + a[2] * b[1] + a[3] * b[0]",
        "top-nutation",
    ),
    "runge-kutta stage": Plant(
        "integrate/fixed/runge_kutta.py",
        "d.qvel[i] = d.qvel_saved[i] + h * gain",
        "d.qvel[i] = d.qvel_saved[i] - h * gain",
        "oscillator-rk4",
    ),
}


def verified(folder, benchmark):
    """The result of a benchmark with the copy of the package in a folder."""
    results = folder / "results.json"
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-P", "-m", "saltus", "verify", benchmark, "--json", str(results)]
    run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert run.returncode in (0, 1) and results.exists(), run.stderr
    (result,) = json.loads(results.read_text(encoding="utf-8"))
    assert run.returncode == (result["verdict"] != "passed")
    return result


@pytest.fixture
def copy(tmp_path):
    """A folder with a copy of the package."""
    unused = shutil.ignore_patterns("__pycache__", "node_modules", "archived", "*.html", "page")
    shutil.copytree(PACKAGE, tmp_path / "saltus", ignore=unused)
    return tmp_path


@pytest.mark.slow
def test_an_unchanged_copy_passes(copy):
    result = verified(copy, "oscillator-euler")
    assert result["verdict"] == "passed" and result["checks"], result


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTS)
def test_a_wrong_sign_is_noticed(copy, name):
    plant = PLANTS[name]
    path = copy / "saltus" / plant.file
    text = path.read_text(encoding="utf-8")
    assert text.count(plant.right) == 1, f"{plant.right!r} is no longer in {plant.file}, once"
    path.write_text(text.replace(plant.right, plant.wrong), encoding="utf-8")
    result = verified(copy, plant.benchmark)
    assert result["verdict"] == "failed", result
    if not result["checks"]:
        assert result["message"].startswith(SIMULATED), result["message"]


def test_planted_benchmarks_are_tested_unchanged():
    """All of them are in the registry, whose own tests run them unchanged."""
    from saltus.verify.registry import benchmarks

    assert {plant.benchmark for plant in PLANTS.values()} <= set(benchmarks())
