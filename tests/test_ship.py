"""What `./ship` compiles: each of it is a program, of models and integrators that there are."""

import re
import runpy
from pathlib import Path

import pytest

import saltus
from saltus.lab.scene.scenes import scenes

SHIP = Path(__file__).parents[1] / "ship"


@pytest.mark.skipif(not SHIP.exists(), reason="an installation without its sources")
def test_programs_name_what_there_is():
    ship = runpy.run_path(str(SHIP))
    assert set(ship["MODELS"]) >= {"pendulum", "humanoid"} and set(ship["INTEGRATORS"]) < set(saltus.integrators())
    for code in [*ship["CODES"], *ship["ESTIMATED"]]:
        compile(code, "ship", "exec")
        (what, name), *_ = re.findall(r"(Simulation|Batch|run|scene)\(\[?'(\w+)'", code)
        assert name in (scenes() if what == "scene" else ship["MODELS"])
