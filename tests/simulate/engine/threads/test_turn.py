"""Threads and forks: what one thread works on is refused to others by name, and what a forked child has works.

Reference: the same run undisturbed, whose bits a run that others tried to disturb must have.
"""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import saltus

LONG = 3_000_000  # steps that take long enough to be met in compiled code


class Elsewhere:
    """Something that another thread does; its exception is raised at the end."""

    def __init__(self, work):
        self._error = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)

    def _run(self, work):
        try:
            work()
        except BaseException as error:
            self._error = error

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join(60)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error

    @property
    def busy(self):
        return self._thread.is_alive()


class Pause:
    """A control function that stops a run in its third step until it may go on."""

    def __init__(self):
        self.calls, self.reached, self.go = 0, threading.Event(), threading.Event()

    def __call__(self, sim):
        self.calls += 1
        if self.calls == 3:
            self.reached.set()
            assert self.go.wait(60)
        return 0.1 * np.cos(sim.energy()[:1])


METHODS = {
    "step": lambda sim: sim.step(),
    "run": lambda sim: sim.run(0.01),
    "forward": lambda sim: sim.forward(),
    "begin": lambda sim: sim.begin(),
    "reset": lambda sim: sim.reset(),
    "snapshot": lambda sim: sim.snapshot(),
    "restore": lambda sim: sim.restore(np.zeros(3)),
    "energy": lambda sim: sim.energy(),
    "full_M": lambda sim: sim.full_M(),
    "jacobian": lambda sim: sim.jacobian(1),
    "linearize": lambda sim: sim.linearize(),
    "sensordata": lambda sim: sim.sensordata,
    "data": lambda sim: sim.data.qacc,
    "contact": lambda sim: sim.data.ncon,
    "moment": lambda sim: sim.data.actuator_moment,
    "time =": lambda sim: setattr(sim, "time", 1.0),
    "qvel =": lambda sim: setattr(sim, "qvel", 1.0),
    "act =": lambda sim: setattr(sim, "act", []),
    "control =": lambda sim: setattr(sim, "control", None),
    "timestep =": lambda sim: setattr(sim, "timestep", 0.5),
}


def test_a_run_is_not_disturbed_by_other_threads():
    """Nothing that another thread may call changes a bit; a control function may look at energies."""
    runs = []
    for disturbed in (False, True):
        sim, pause = saltus.Simulation("cart_pole"), Pause()
        sim.qpos[1] = 0.3
        if not disturbed:
            pause.go.set()
        found = []
        with Elsewhere(lambda sim=sim, pause=pause, found=found: found.append(sim.run(0.3, 0.05, pause))):
            if disturbed:
                assert pause.reached.wait(60)
                for method in METHODS.values():
                    with pytest.raises(saltus.ConcurrencyError, match="another thread is using this Simulation"):
                        method(sim)
                assert sim.qpos.shape == (2,)  # views can be had
                pause.go.set()
        sim.step()  # it is this thread's turn again
        runs.append((found[0].qpos, found[0].energy, sim.snapshot()))
    for undisturbed, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(undisturbed, other)


def test_energy_is_refused_while_another_thread_is_in_compiled_steps():
    sim, alone = (saltus.Simulation("pendulum", "euler") for _ in range(2))
    for each in (sim, alone):
        each.qpos = 0.5
        each.energy(), each.step()
    alone.step(LONG)
    refused = 0
    with Elsewhere(lambda: sim.step(LONG)) as other:
        while other.busy:
            try:
                sim.energy()
            except saltus.ConcurrencyError:
                refused += 1
            time.sleep(0.001)
    assert refused > 0
    np.testing.assert_array_equal(sim.snapshot(), alone.snapshot())


def test_batches_are_refused_while_another_thread_steps_them():
    batch = saltus.Batch("pendulum", 20, threads=2)
    batch.step(1000)
    refused = set()
    uses = {
        "step": batch.step,
        "qpos": lambda: batch.qpos,
        "qvel =": lambda: setattr(batch, "qvel", 0.0),
        "reset": batch.reset,
        "timestep =": lambda: setattr(batch, "timestep", 0.5),
        "diverged": lambda: batch.diverged,
        "sensordata": lambda: batch.sensordata,
    }
    with Elsewhere(lambda: batch.step(LONG // 4)) as other:
        time.sleep(0.02)
        for name, use in uses.items():
            try:
                use()
            except saltus.ConcurrencyError as error:
                refused.add(name)
                assert "this Batch" in str(error)
        assert other.busy
    assert refused == set(uses)
    assert batch.time == pytest.approx((1000 + LONG // 4) * batch.timestep)


def test_an_error_ends_the_turn():
    sim = saltus.Simulation("pendulum", "explicit_euler")
    sim.qvel = 1e11
    with pytest.raises(saltus.DivergenceError):
        sim.step(1000)
    sim.reset()
    with Elsewhere(sim.step):
        pass
    assert sim.time == sim.timestep


def test_simulations_of_one_model_run_in_threads_of_their_own():
    """Two threads with a simulation each, made there, beside one after the other."""
    model = saltus.load("arm")

    def motion(speed, found):
        sim = saltus.Simulation(model, "rk4")
        sim.qvel = speed
        for _ in range(300):
            sim.step()
            sim.energy()
        found.append(sim.snapshot())

    results = {}
    for together in (False, True):
        results[together] = [[], []]
        threads = [threading.Thread(target=motion, args=(1.0 + k, results[together][k])) for k in range(2)]
        for thread in threads:
            thread.start()
            if not together:
                thread.join()
        for thread in threads:
            thread.join()
    np.testing.assert_array_equal(results[True], results[False])


FORKED = """
import hashlib, os, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is what this is about
import numpy as np
import saltus
from saltus.simulate.engine.batch import states as module
module.WORTH_A_THREAD = 0.0  # every step goes to the pool
made = saltus.Batch("arm", 40, threads=2)
made.qvel = np.linspace(0.0, 1.0, 40)[:, None] * np.ones(made.qvel.shape[1])
made.step(3)
assert made.lanes._threads.made
sim = saltus.Simulation("pendulum")
sim.step()
if {busy}:
    threading.Thread(target=sim.step, args=(50_000_000,), daemon=True).start()
    time.sleep(0.1)
child = os.fork()
if child == 0 and {busy}:
    try:
        sim.step()
    except saltus.ConcurrencyError as error:
        os._exit(17 if "when this process was forked" in str(error) else 1)
    os._exit(2)
if {busy}:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
made.step(4)
made.sensordata
os.write(1, hashlib.sha256(made.qpos.tobytes()).hexdigest().encode() + b" ")  # at once, so that no two mix
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on_with_a_batch_whose_threads_it_does_not_have():
    program = FORKED.format(busy=False)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    parent, child = answer.stdout.split()
    assert parent == child


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_refused_what_another_thread_was_working_on():
    program = FORKED.format(busy=True)
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert answer.returncode == 17, answer.stderr
