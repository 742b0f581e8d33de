"""Faults of executors: workers, schedulers and clients killed at random moments of a sweep, until it is complete.

Law: after all that, every run is in the store exactly once, equal to the bit to those of a sweep that nobody disturbed;
and a client that is not killed itself ends with what is done, or finds no scheduler.
SALTUS_KILLS: how many kills of each kind (3 unless told); SALTUS_RUNS: how many runs.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers.systems import needs_kill

import saltus
from saltus.record.io.sweep_zarr import open_dataset
from saltus.study.sampling import Uniform

pytest.importorskip("distributed")
KILLS = int(os.environ.get("SALTUS_KILLS", "3"))
RUNS = int(os.environ.get("SALTUS_RUNS", str(120 * 1024)))
KINDS = ("worker", "scheduler", "client")
DONE, CUT, NOBODY = 0, 3, 4  # how a client may end by itself
CLIENT = f"""
import json, sys, saltus
from saltus.study.sampling import Uniform
arguments = json.loads(sys.argv[1])
values = {{path: Uniform(*given) for path, given in arguments.pop("values").items()}}
try:
    found = saltus.sweep("pendulum", values, progress=False, workers=sys.argv[2], save=sys.argv[3], **arguments)
except saltus.OptionError as error:
    if "there is no Dask scheduler" not in str(error):
        raise
    sys.exit({NOBODY})
sys.exit({DONE} if set(found.status) == {{"done"}} else {CUT})
"""
ARGUMENTS = {
    "values": {"body_mass[pendulum]": (1, 3), "dof_damping[theta]": (0.01, 0.5), "qpos[theta]": (-2, 2)},
    "measures": ["qpos[theta].final", "energy_drift"],
    "duration": 5.0,
    "timestep": 0.005,
    "sample": 0.05,
    "samples": RUNS,
    "sampling": "sobol",
}


class Processes:
    """A scheduler, two workers and a client, each started again where it has ended."""

    def __init__(self, store, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{s.getsockname()[1]}"
        self.store, self.folder = store, folder
        self.alive: dict[str, subprocess.Popen] = {}

    def command(self, name):
        dask = [sys.executable, "-m", "dask"]
        if name == "scheduler":
            return [*dask, "scheduler", "--host", self.address, "--no-dashboard", "--no-show"]
        if name == "client":
            return [sys.executable, "-c", CLIENT, json.dumps(ARGUMENTS), self.address, str(self.store)]
        local = ["--local-directory", str(self.folder)]
        return [*dask, "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *local]

    def keep_up(self):
        """Start what is not there; whether the client has come to the end."""
        for name in ("scheduler", "worker 0", "worker 1", "client"):
            process = self.alive.get(name)
            if process is not None and process.poll() is not None:
                if name == "client":
                    assert process.returncode in (DONE, CUT, NOBODY, -signal.SIGKILL), self.log()
                    if process.returncode == DONE:
                        return True
                process = None
            if process is None:
                with open(self.folder / "log", "ab") as log:
                    self.alive[name] = subprocess.Popen(
                        self.command(name), stdout=log, stderr=log, start_new_session=True
                    )
        return False

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8")[-4000:]

    def kill(self, kind):
        name = random.choice([name for name in self.alive if name.startswith(kind)])
        os.killpg(self.alive[name].pid, signal.SIGKILL)
        self.alive[name].wait()

    def end(self):
        for process in self.alive.values():
            process.kill()
            process.wait()


@needs_kill
@pytest.mark.slow
def test_kills_at_random_lose_nothing(tmp_path):
    values = {path: Uniform(*given) for path, given in ARGUMENTS["values"].items()}
    arguments = {name: value for name, value in ARGUMENTS.items() if name != "values"}
    expected = saltus.sweep("pendulum", values, workers=1, save=tmp_path / "calm.zarr", **arguments)
    assert set(expected.status) == {"done"}
    random.seed(KILLS)
    kills = [kind for kind in KINDS for _ in range(KILLS)]
    random.shuffle(kills)
    processes = Processes(tmp_path / "wild.zarr", tmp_path)
    complete, due = False, time.monotonic() + 6.0
    began = time.monotonic()
    try:
        while not complete:
            complete = processes.keep_up()
            if kills and not complete and time.monotonic() > due:
                processes.kill(kills.pop())
                due = time.monotonic() + random.uniform(0.5, 3.5)
            time.sleep(0.2)
            assert time.monotonic() - began < 240.0 + 30.0 * len(KINDS) * KILLS, "it does not come to its end"
    finally:
        processes.end()
    assert not kills, f"the sweep was over before {len(kills)} kills"
    with open_dataset(tmp_path / "wild.zarr") as found, open_dataset(tmp_path / "calm.zarr") as calm:
        assert found.sizes["run"] == RUNS and set(found["status"].values) == {"done"}
        for name in calm.variables:
            np.testing.assert_array_equal(found[name].values, calm[name].values)
