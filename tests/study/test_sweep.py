"""Sweeps.

Charter. Law: a row is what the same run gives by itself, bit for bit, whichever process ran it and whenever; besides,
the oscillator's closed forms (x = a cos ωt, ω² = k/m) hold along a sweep, to RK4's error at the step used (1e-7 after a
few periods), and semi-implicit Euler's stability limit h ω = 2 parts what runs from what diverges. A sweep that was cut
short and goes on is the sweep in one go.
"""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.systems import needs_proc

import saltus
from saltus.errors import OptionError, RecordError, SaltusWarning
from saltus.study.sweep import sweep

SPRING = """<mujoco model="swing"><option timestep="0.01" integrator="RK4"/><worldbody><body name="b">
  <joint name="x" type="slide" axis="1 0 0" stiffness="4"/>
  <geom name="g" size="0.1" mass="1" contype="0" conaffinity="0"/>
  </body></worldbody><actuator><motor name="push" joint="x"/></actuator></mujoco>"""


def own_run(values, duration=3.0, **options):
    """The same by hand."""
    sim = saltus.Simulation(saltus.load(SPRING).changed(values), **options)
    sim.qpos[:] = 0.5
    return sim.run(duration, 0.01, progress=False)


def test_all_combinations_by_hand_and_by_formula():
    values = {"joint[x]/stiffness": [4.0, 9.0], "body_mass[b]": [1.0, 2.0, 4.0], "qpos[x]": [0.5]}
    table = sweep(SPRING, values, ["qpos[x].final", "energy.initial"], 3.0, sample=0.01, workers=1)
    assert len(table) == 6 and table.status == ["done"] * 6
    rows = table.array()
    assert [tuple(row)[:3] for row in rows] == [(k, m, 0.5) for k in (4.0, 9.0) for m in (1.0, 2.0, 4.0)]
    k, m = rows["joint[x]/stiffness"], rows["body_mass[b]"]
    np.testing.assert_allclose(table["qpos[x].final"], 0.5 * np.cos(3 * np.sqrt(k / m)), atol=1e-7)
    np.testing.assert_allclose(table["energy.initial"], k * 0.5**2 / 2, rtol=1e-14)
    assert table["qpos[x].final"][1] == own_run({"body_mass[b]": 2.0}).qpos[-1, 0]


def test_a_mass_means_the_same_everywhere():
    """Small swings at ω² = m g l / (I + m l²): `body_mass` leaves I, `body_scale_mass` scales it with m.

    Tolerance: sin θ for θ is off by θ²/6, over 3 s of swings of 1e-3 rad; a run by itself and one of a batch, rounding.
    """
    arm = """<mujoco><option timestep="0.01" integrator="RK4"/><worldbody><body name="arm">
      <joint name="q" axis="0 1 0"/><inertial pos="0 0 -.3" mass="2" diaginertia=".2 .2 .1"/></body></worldbody>
      </mujoco>"""
    masses, swing = np.array([1.0, 2.0, 5.0]), 1e-3
    for key, inertia in (("body_mass[arm]", 0.2), ("body_scale_mass[arm]", 0.2 * masses / 2)):
        rate = np.sqrt(masses * 9.81 * 0.3 / (inertia + masses * 0.3**2))
        values = {key: masses.tolist(), "qpos[q]": [swing]}
        together = sweep(arm, values, "qpos[q].final", 3.0, sample=0.01, workers=1)["qpos[q].final"]
        np.testing.assert_allclose(together, swing * np.cos(3 * rate), atol=1e-8)
        for mass, found in zip(masses, together, strict=True):
            sim = saltus.Simulation(saltus.load(arm).changed({key: mass}))
            sim.qpos[:] = swing
            sim.step(300)
            assert sim.qpos[0] == pytest.approx(found, abs=1e-15)
    batch = saltus.Batch(arm, 3, vary=("body_mass",))
    batch.model.body_mass[:, 1] = masses
    batch.qpos = swing
    batch.step(300)
    rate = np.sqrt(masses * 9.81 * 0.3 / (0.2 + masses * 0.3**2))
    np.testing.assert_allclose(batch.qpos[:, 0], swing * np.cos(3 * rate), atol=1e-8)


def test_processes_change_nothing():
    values = {"body_mass[b]": [1.0, 2.0, 3.0], "qvel[x]": [0.0, 1.0]}
    measures = {"last": "qpos[x].final", "mean": lambda trajectory: trajectory.qpos.mean()}
    one, two = (sweep(SPRING, values, measures, 1.0, workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
    assert one.measures == ("last", "mean") and not np.isnan(one.values).any()


def test_values_together_and_cases():
    pairs = sweep(
        SPRING, {"body_mass[b]": [1.0, 2.0], "ctrl[push]": [1.0, 2.0]}, "qpos[x].max", 1.0, together=True, workers=1
    )
    # a constant force about x = F/k: 2 F/k at most, F (1 - cos ωt)/k before
    expected = [force * (1 - np.cos(2 / np.sqrt(m))) / 4 for force, m in ((1, 1), (2, 2))]
    np.testing.assert_allclose(pairs["qpos[x].max"], expected, atol=1e-7)
    cases = {"as it is": {}, "heavy": {"body_mass[b]": 2.0, "qpos[x]": 0.1}}
    named = sweep(SPRING, cases, "qpos[x].initial", 0.1, workers=1)
    assert named.cases == ("as it is", "heavy") and named["qpos[x].initial"].tolist() == [0.0, 0.1]
    assert named.array()["case"].tolist() == ["as it is", "heavy"] and np.isnan(named.array()["body_mass[b]"][0])


def test_what_diverges_is_a_row():
    """Semi-implicit Euler is stable up to h ω = 2."""
    steps = [0.9, 0.99, 1.01, 1.1]
    table = sweep(
        SPRING, {"opt.timestep": steps, "qpos[x]": [0.1]}, "qpos[x].max", 2000.0, integrator="euler", workers=1
    )
    assert table.status == ["done", "done", "diverged", "diverged"]
    assert "diverged at t" in table.notes[2] and "diverged at t" in table.table()
    assert np.isnan(table.values[2:]).all() and not np.isnan(table.values[:2]).any()


def test_integrators_are_values_too():
    table = sweep(SPRING, {"integrator": ["rk4", "euler"], "qpos[x]": [0.5]}, ["energy_drift"], 3.0, workers=1)
    assert table["energy_drift"][0] < 1e-7 < 1e-3 < table["energy_drift"][1]
    assert table.array()["integrator"].tolist() == ["rk4", "euler"]


def test_a_refused_run_is_a_row():
    """Steps over impacts are for hard contact."""
    table = sweep("bouncing_ball", {"integrator": ["moreau_jean"], "contact": ["soft"]}, "energy_drift", 0.1, workers=1)
    assert table.status == ["refused"] and "moreau_jean" in table.notes[0]


# ------------------------------------------------------------ what is kept


def test_it_goes_on_where_it_was(tmp_path):
    kept = tmp_path / "s.json"
    masses = [1.0, 2.0, 3.0, 4.0]
    counted = []

    def last(trajectory):
        counted.append(1)
        if len(counted) == 3:
            raise KeyboardInterrupt
        return trajectory.qpos[-1, 0]

    arguments = {"duration": 1.0, "workers": 1, "save": kept}
    with pytest.warns(SaltusWarning, match="interrupted; 2 of 4 runs are done"):
        cut = sweep(SPRING, {"body_mass[b]": masses, "qpos[x]": [0.5]}, [last], **arguments)
    assert cut.status == ["done", "done", "not run", "not run"] and cut.interrupted
    assert len(json.loads(kept.read_text())["rows"]) == 2
    whole = sweep(SPRING, {"body_mass[b]": masses, "qpos[x]": [0.5]}, [last], **arguments)
    assert len(counted) == 5 and not whole.interrupted  # two, the one that broke off, and the two that were left
    expected = [own_run({"body_mass[b]": m}, 1.0).qpos[-1, 0] for m in masses]
    np.testing.assert_array_equal(whole["last"], expected)
    # more values: only they are run
    more = sweep(SPRING, {"body_mass[b]": [*masses, 5.0], "qpos[x]": [0.5]}, [last], **arguments)
    assert len(counted) == 6 and more["last"][:4].tolist() == expected


def test_a_second_sweep_on_the_file_of_one_that_runs_is_refused(tmp_path):
    """All rows of the first are kept, where the two used to replace each other's; afterwards the file is free."""
    kept = tmp_path / "s.json"
    arguments = {"duration": 0.1, "workers": 1, "save": kept}
    refusals = []

    def last(trajectory):
        with pytest.raises(RecordError, match="another sweep is being written there") as refusal:
            sweep(SPRING, {"body_mass[b]": [7.0]}, [last], **arguments)
        refusals.append(refusal)
        return trajectory.qpos[-1, 0]

    sweep(SPRING, {"body_mass[b]": [1.0, 2.0]}, [last], **arguments)
    assert len(refusals) == 2 and len(json.loads(kept.read_text())["rows"]) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]
    sweep(SPRING, {"body_mass[b]": [1.0, 2.0, 3.0]}, [last], **arguments)
    assert len(json.loads(kept.read_text())["rows"]) == 3


def test_another_model_or_settings_are_refused(tmp_path):
    kept = tmp_path / "s.json"
    values = {"body_mass[b]": [1.0, 2.0]}
    arguments = {"measures": ["qpos[x].final"], "duration": 1.0, "workers": 1, "save": kept}
    sweep(SPRING, values, **arguments)
    before = kept.read_bytes()
    for change, what in (
        ({"model": SPRING.replace('stiffness="4"', 'stiffness="5"')}, "model"),
        ({"duration": 2.0}, "duration"),
        ({"measures": ["qpos[x].max"]}, "measures"),
        ({"integrator": "euler"}, "integrator"),
        ({"timestep": 0.02}, "timestep"),
    ):
        changed = {"model": SPRING, **arguments, **change}
        with pytest.raises(OptionError, match=f"another {what};"):
            sweep(changed.pop("model"), values, **changed)
    assert kept.read_bytes() == before
    kept.write_text("{}")
    with pytest.raises(RecordError, match="not a sweep"):
        sweep(SPRING, values, **arguments)


@needs_proc
@pytest.mark.slow
def test_ctrl_c(tmp_path):
    """Of a process of its own: SIGINT ends it within seconds, what is done is in the file, and the workers are gone."""
    kept = tmp_path / "s.json"
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, saltus\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored where tests run in the background
        f"model = '''{SPRING}'''\n"
        "table = saltus.sweep(model, {'opt.timestep': [0.01, 1e-8, 2e-8]}, 'qpos[x].final', 10.0,"
        f" sample=1.0, workers=2, save={str(kept)!r})\n"
        "print(table.status)\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    children = []
    while time.monotonic() < deadline and (len(children) < 2 or not kept.exists() or '"done"' not in kept.read_text()):
        time.sleep(0.1)
        children = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 5 and process.returncode == 0, err
    assert out.strip() == "['done', 'not run', 'not run']" and "interrupted; 1 of 3 runs are done" in err
    assert len(json.loads(kept.read_text())["rows"]) == 1
    assert len(children) == 2 and not any(os.path.exists(f"/proc/{child}") for child in children)


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            own = file.read().split()
        found = []
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += file.read().split()
        return sorted(set(own + found))
    except OSError:
        return []


# ------------------------------------------------------------ what is refused


def test_other_arguments_that_cannot_be():
    values = {"body_mass[b]": [1.0, 2.0]}
    for arguments, message in (
        ({"measures": []}, "at least one measure"),
        ({"measures": ["energy_drift", "energy_drift"]}, "two measures have the name 'energy_drift'"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"measures": {"text": lambda trajectory: "much"}}, "measure text of the run with body_mass.b. = 1"),
    ):
        with pytest.raises(OptionError, match=message):
            sweep(SPRING, values, **{"measures": "energy_drift", "duration": 0.1, "workers": 1, **arguments})
    with pytest.raises(OptionError, match=r"equal numbers: body_mass\[b\] has 2, qpos\[x\] has 1"):
        sweep(SPRING, {**values, "qpos[x]": [0.0]}, "energy_drift", 1.0, together=True, workers=1)
