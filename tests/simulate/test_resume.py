"""A run that was cut short and goes on is the run that was not, bit for bit.

Law: what a step depends on is in the checkpoint. It is tested by ending runs anywhere: by SIGKILL from outside, and by
an exception after every commit's opportunity; and by comparing all columns and the final state with those of the same
run without a stream. Tolerance: none.
"""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import saltus
from saltus.record.io import stream
from saltus.record.io.store import CHECKPOINT, Store
from saltus.record.table.columns import DIMENSIONS
from saltus.simulate import resume as resuming
from saltus.simulate.resume import resume

PID = saltus.PID(kp=1500, ki=150, kd=15, target=-1.2566)
MOCAP = """<mujoco><option timestep="0.01"/><worldbody><body name="hand" mocap="true"><geom size="0.1"/></body>
  <body><joint axis="0 1 0"/><geom size="0.1" pos="0 0 1" contype="0"/></body></worldbody></mujoco>"""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Commits whenever there is an opportunity, and chunks of 16 samples."""
    monkeypatch.setattr(stream, "SECONDS", 0.0)
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1)


def assert_same(a, b):
    for name in DIMENSIONS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert (a.end is None) == (b.end is None)
    for name in a.end or ():
        np.testing.assert_array_equal(a.end[name], b.end[name], err_msg=f"end: {name}")
    assert a.attrs.get("unconverged") == b.attrs.get("unconverged")


class Cut(Exception):
    """The end of a process."""


def cut_after(fraction):
    def progress(done):
        if done > fraction:
            raise Cut

    return progress


# ---------------------------------------------------------------- killed from outside

CHILD = """
import sys, time, saltus
from saltus.record.io import stream
stream.SECONDS, stream.CHUNK_BYTES = 0.0, 1
sim, duration, control = {case}
def slowly(done):
    time.sleep(1000.0 if done > 0.7 else 0.002)
sim.run(duration, {sample}, control, progress=slowly, save=sys.argv[1])
"""
CASES = {
    "verlet": ("saltus.Simulation('double_pendulum', 'verlet', timestep=0.003), 8.0, None", 0.01),
    "dopri5": ("saltus.Simulation('double_pendulum', 'dopri5'), 20.0, None", 1 / 60),
    "contacts": ("saltus.Simulation('humanoid'), 1.5, None", 0.011),
    "PID": (
        "saltus.Simulation('pendulum', 'rk4', timestep=0.01), 8.0, saltus.PID(kp=1500, ki=150, kd=15, target=-1.2566)",
        1 / 60,
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
@pytest.mark.parametrize("name", CASES)
def test_a_killed_process_leaves_what_it_committed(tmp_path, monkeypatch, name):
    case, sample = CASES[name]
    path = tmp_path / "run.zarr"
    process = subprocess.Popen([sys.executable, "-c", CHILD.format(case=case, sample=sample), str(path)])
    wait_for_samples(process, path, 40)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    monkeypatch.setattr(stream, "SECONDS", 2.0)
    sim, duration, control = eval(case)
    whole = sim.run(duration, sample, control)
    cut = saltus.Trajectory.load(path)
    assert 40 <= len(cut) < len(whole)
    assert cut.attrs["interrupted_at"] < duration
    for column in DIMENSIONS:
        np.testing.assert_array_equal(getattr(cut, column), getattr(whole, column)[: len(cut)])
    assert_same(resume(path), whole)
    assert_same(saltus.Trajectory.load(path), whole)


def wait_for_samples(process, path, count):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, "the run was over before it could be killed"
        if (path / CHECKPOINT).exists() and len(Store(path)) >= count:
            return
        time.sleep(0.005)
    process.kill()
    raise AssertionError("the run did not begin")


# ---------------------------------------------------------------- cut anywhere


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "rk4", "verlet", "implicit_midpoint", "dopri5"])
@pytest.mark.parametrize("sample", [1 / 60, 0.07])
def test_cut_again_and_again(tmp_path, integrator, sample):
    """After each of a dozen pieces; samples lie inside steps, and the last step is a short one."""

    def sim():
        return saltus.Simulation("pendulum", integrator, timestep=0.03)

    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        sim().run(2.0, sample, save=path, progress=cut_after(0.05))
    for piece in range(1, 12):
        try:
            resume(path, progress=cut_after(0.05 + piece / 12))
        except Cut:
            continue
    assert_same(resume(path), sim().run(2.0, sample))


def test_a_narrow_window_does_not_change_a_free_run(tmp_path, monkeypatch):
    """Samples that a call of compiled code has no room for are found by taking its steps again."""
    whole = saltus.Simulation("double_pendulum", "dopri5").run(20.0, 0.002)
    for window in (1, 3, 50):
        monkeypatch.setattr("saltus.simulate.running.adaptive_run.WINDOW", window)
        assert_same(saltus.Simulation("double_pendulum", "dopri5").run(20.0, 0.002), whole)


def test_a_stream_does_not_change_a_run(tmp_path):
    sim, other = (saltus.Simulation("pendulum", "rk4", timestep=0.01) for _ in range(2))
    assert_same(sim.run(1.0, 0.03, save=tmp_path / "run.zarr"), other.run(1.0, 0.03))
    np.testing.assert_array_equal(sim.snapshot(), other.snapshot())


def test_an_interrupted_run_goes_on(tmp_path):
    path, sim = tmp_path / "run.zarr", saltus.Simulation("pendulum", "verlet")

    def interrupt(done):
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        cut = sim.run(2.0, 0.1, save=path, progress=interrupt)
    assert cut.attrs["interrupted_at"] == sim.time and 8 < len(cut) < 21
    whole = resume(path)
    assert "interrupted_at" not in whole.attrs
    assert_same(whole, saltus.Simulation("pendulum", "verlet").run(2.0, 0.1))
    assert_same(resume(path), whole)  # what is complete stays as it is


def test_a_run_from_another_state_and_with_forces(tmp_path):
    def sim():
        sim = saltus.Simulation(MOCAP, "rk4")
        sim.time, sim.qpos[0], sim.qvel[0] = 3.0, 0.3, -1.0
        sim.qfrc_applied[0], sim.mocap_pos[0] = 2.0, [1.0, 2.0, 3.0]
        return sim

    with pytest.raises(Cut):
        sim().run(1.0, 0.1, save=tmp_path / "run.zarr", progress=cut_after(0.5))
    assert_same(resume(tmp_path / "run.zarr"), sim().run(1.0, 0.1))


@pytest.mark.slow
def test_the_integrators_own_parameters(tmp_path):
    heun = saltus.ButcherTableau([[0, 0], [1, 0]], ["1/2", "1/2"], name="heun")
    for k, options in enumerate(({"integrator": "dopri5", "tolerance": (1e-5, 1e-6)}, {"integrator": heun})):
        sim, other = (saltus.Simulation("pendulum", timestep=0.01, **options) for _ in range(2))
        with pytest.raises(Cut):
            sim.run(100.0, 0.1, save=tmp_path / f"{k}.zarr", progress=cut_after(0.5))
        assert_same(resume(tmp_path / f"{k}.zarr"), other.run(100.0, 0.1))


# ---------------------------------------------------------------- controls


def wave(sim):
    return [10 * np.sin(3 * sim.time)]


def other_wave(sim):
    return [0.0]


def test_a_control_function_is_asked_for_by_name(tmp_path):
    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        saltus.Simulation("pendulum").run(2.0, 0.013, wave, save=path, progress=cut_after(0.5))
    with pytest.raises(saltus.OptionError, match="controlled by the function wave; pass it as control="):
        resume(path)
    with pytest.raises(saltus.OptionError, match="controlled by wave, not by other_wave"):
        resume(path, other_wave)
    assert_same(resume(path, wave), saltus.Simulation("pendulum").run(2.0, 0.013, wave))


def test_control_arrays_and_controllers_are_in_the_store(tmp_path):
    values = np.linspace(-20, 20, 40)[:, None]
    for k, control in enumerate((values, [3.0], PID)):
        path = tmp_path / f"{k}.zarr"
        with pytest.raises(Cut):
            saltus.Simulation("pendulum", "rk4").run(2.0, 0.07, control, save=path, progress=cut_after(0.5))
        with pytest.raises(saltus.OptionError, match="call resume without control"):
            resume(path, wave)
        assert_same(resume(path), saltus.Simulation("pendulum", "rk4").run(2.0, 0.07, control))


@pytest.mark.slow
def test_a_controller_of_the_simulation_and_a_law_of_the_users(tmp_path):
    def sim():
        return saltus.Simulation("pendulum", "rk4", control=PID)

    with pytest.raises(Cut):
        sim().run(2.0, 0.07, save=tmp_path / "a.zarr", progress=cut_after(0.5))
    assert_same(resume(tmp_path / "a.zarr"), sim().run(2.0, 0.07))

    @saltus.controller(parameters=[4.0])
    def damper(m, d, z):
        d.ctrl[0] = -d.control_prm[0] * d.qvel[0]

    with pytest.raises(Cut):
        saltus.Simulation("pendulum", "rk4").run(2.0, 0.07, damper, save=tmp_path / "b.zarr", progress=cut_after(0.5))
    with pytest.raises(saltus.OptionError, match=r"controlled by the controller .*damper.*pass it as"):
        resume(tmp_path / "b.zarr")
    again = resume(tmp_path / "b.zarr", damper)
    assert_same(again, saltus.Simulation("pendulum", "rk4").run(2.0, 0.07, damper))


# ---------------------------------------------------------------- what cannot go on


def test_other_versions_are_told(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        saltus.Simulation("pendulum").run(2.0, save=path, progress=cut_after(0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Cut):
            resume(path, progress=cut_after(0.6))
    monkeypatch.setattr(resuming, "__version__", "99.0")
    with pytest.warns(saltus.SaltusWarning, match=r"saltus .* is now 99\.0\): rounding may differ"):
        resume(path)


def test_another_model(tmp_path):
    path = tmp_path / "run.zarr"
    with pytest.raises(Cut):
        saltus.Simulation("pendulum").run(2.0, save=path, progress=cut_after(0.3))
    with pytest.raises(saltus.OptionError, match="is a run of another model, pendulum"):
        resume(path, model="double_pendulum")
    assert len(resume(path, model="pendulum")) == 121


def test_a_run_that_diverged(tmp_path):
    model = """<mujoco><option gravity="0 0 0" timestep="0.03"/><worldbody><body><joint type="slide" stiffness="1e4"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    sim = saltus.Simulation(model)
    sim.qpos[0] = 1e-3
    with pytest.raises(saltus.DivergenceError) as caught:
        sim.run(100, 0.1, save=tmp_path / "run.zarr")
    assert len(caught.value.trajectory) == len(saltus.Trajectory.load(tmp_path / "run.zarr")) > 2
    assert "diverged at t =" in saltus.Trajectory.load(tmp_path / "run.zarr").attrs["diverged"]
    with pytest.raises(saltus.RecordError, match=r"cannot resume recording .*the run diverged"):
        resume(tmp_path / "run.zarr")


def test_what_is_no_streamed_run(tmp_path):
    with pytest.raises(saltus.RecordError, match="nowhere"):
        resume(tmp_path / "nowhere.zarr")
    saltus.Simulation("pendulum").run(0.1).save(tmp_path / "saved.zarr")
    assert len(resume(tmp_path / "saved.zarr")) == 7


def test_a_certificate_goes_into_the_store(tmp_path):
    t = saltus.Simulation("pendulum", "rk4").run(1.0, save=tmp_path / "run.zarr", certify=True)
    again = saltus.Trajectory.load(tmp_path / "run.zarr")
    assert t.certificate.ok and str(again.certificate) == str(t.certificate)


@pytest.mark.slow
def test_memory_of_a_long_run_is_bounded(tmp_path):
    """A run of 120 000 samples of 72 bytes keeps none of their 8.6 MB; what a process needs at all is spent before."""
    status = "/proc/self/statm"
    if not os.path.exists(status):
        pytest.skip("this system does not tell how much memory is used")

    def used():
        with open(status) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    stream.SECONDS, stream.CHUNK_BYTES = 0.5, 2**18
    for integrator in ("rk4", "dopri5"):
        saltus.Simulation("double_pendulum", integrator).run(10.0, 0.001, save=tmp_path / f"{integrator}.zarr")
        before, most = used(), 0.0

        def watch(done):
            nonlocal most
            most = max(most, used())

        sim = saltus.Simulation("double_pendulum", integrator)
        sim.run(60.0, 0.0005, progress=watch, save=tmp_path / f"{integrator}_long.zarr")
        assert most - before < 4.0
