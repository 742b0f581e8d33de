"""Models of packages on PyPI load and step, and muscles among them have MuJoCo's forces.

References: MuJoCo 4.0's own compiler, which says what is a model, and its mj_forward.

Tolerance: as in test_actuation and test_smooth_mujoco: 1e-9 of a force, 1e-11 of the largest acceleration, or what
rounding and the condition of the inertia matrix make of it. In the hand tendons go through geoms, where MuJoCo iterates
to 1e-6 rad and arms are right to 1e-5 (see test_tendon).
"""

import mujoco
import numpy as np
import pytest
from helpers import packages
from helpers.actuators import compared, dense_moment, largest_error, our_moment, random_states
from helpers.oracle import full_inertia

import saltus
from saltus.number.kinds import lane64

LEAST = 0.95  # of models
REPORT = packages.Path(__file__).resolve().parents[2] / "docs" / "models.md"
EPS = 2.2e-16


def there(package):
    try:
        return packages.root(package)
    except packages.Absent as absent:
        pytest.skip(str(absent))


@pytest.mark.slow
@pytest.mark.parametrize("package", packages.PACKAGES)
def test_models_load_and_step(package):
    """At least 95 of 100, and as docs/models.md says."""
    there(package)
    line, details, refused = packages.report(package)
    models, taken = line.split("|")[3:5]
    assert int(taken) >= LEAST * int(models), refused
    text = REPORT.read_text(encoding="utf-8")
    assert line in text, "write docs/models.md anew: PYTHONPATH=tests python -m helpers.packages > docs/models.md"
    assert all(one in text for one in details)


def test_part_of_a_model_is_told_from_a_model(tmp_path, monkeypatch):
    (tmp_path / "whole.xml").write_text("<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>")
    (tmp_path / "part.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    (tmp_path / "readme.txt").write_text("")
    monkeypatch.setattr(packages, "root", lambda package: tmp_path)
    found = {file.name: file for file in packages.files("any")}
    assert set(found) == {"whole.xml", "part.xml"}
    assert found["whole.xml"].reason is None and "Unrecognized" in found["part.xml"].reason
    line, details, refused = packages.report("any==1")
    assert line == "| any 1 | 2 | 1 | 1 | 100 % |" and not refused
    assert any("1 not compiled" in one for one in details)


MUSCLES = {"hand/myohand_pose.xml": 1e-5, "leg/myolegs.xml": 1e-9}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUSCLES)
def test_muscles(name):
    """Tens of muscles around many geoms, at random postures within the joints' ranges."""
    found = sorted(there("myosuite==2.3.0").rglob(name))
    tolerance = MUSCLES[name]
    model = saltus.load(found[0], ignore=["constraints"])
    m = model.mujoco
    assert (m.actuator_gaintype == mujoco.mjtGain.mjGAIN_MUSCLE.value).sum() > 30
    rng = np.random.default_rng(5)
    states = random_states(m, lane64.width)
    for state in states:
        low, high = m.jnt_range.T
        state["qpos"] = m.qpos0.copy()
        hinged = m.jnt_type >= 2
        state["qpos"][m.jnt_qposadr[hinged]] = rng.uniform(low, high)[hinged]
        state["act"] = rng.uniform(0, 1, m.na)
    for ours, wanted in compared(model, states):
        for field in ("actuator_length", "actuator_velocity", "qfrc_actuator"):
            assert largest_error(ours(field), getattr(wanted, field)) < tolerance, field
        error = np.abs(ours("actuator_force") - wanted.actuator_force) / np.maximum(np.abs(wanted.actuator_force), 1e-3)
        assert error.max() < tolerance
        assert largest_error(our_moment(model, ours("moment")), dense_moment(m, wanted)) < tolerance
        assert largest_error(ours("act_dot"), wanted.act_dot) < tolerance
        condition = np.linalg.cond(full_inertia(m, wanted))
        assert largest_error(ours("qacc"), wanted.qacc) < max(tolerance, EPS * condition)
