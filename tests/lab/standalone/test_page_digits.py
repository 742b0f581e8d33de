"""Pages of their own compute what this machine computes.

Reference: the native engine, from the same state by the same steps. Both round each operation alike but for fused
multiply-adds: they differ by rounding errors, and by what the motion makes of these; by 1e-12 of the largest number
before chaos.
"""

import numpy as np
import pytest
from helpers.node import run_page

from saltus.errors import OptionError
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.scenes import scenes
from saltus.lab.standalone.loops import simulations
from saltus.lab.standalone.page import page, page_html

TOLERANCE = 1e-12
#: steps that are compared where 1000 would be chaos, or too many to wait for
FEWER = {
    "double_pendulum_ghosts": 100,
    "pendularm2": 100,
    "double_pendulum": 100,
    "bouncy_disc": 20,
    "humanoid_trampoline": 10,
}
QUICK = ("pendularm", "cart_pole", "bouncing_ball", "muscle")
WHOLE = [name for name in scenes() if name not in QUICK and name != "trampoline"]


def natively(name, integrators=None):
    """Native simulations of a scene's page, at its start."""
    session = scenes()[name].open(Downloads(), {})
    session.builder.give_up()
    found = simulations(session.setup, session.builder.settings, integrators, None)
    session.close()
    return found


def compare(name, tmp_path, integrators=None):
    html = page_html(scenes()[name], {}, integrators)
    sims = natively(name, integrators)
    steps = FEWER.get(name, 1000)
    found = run_page(html, [(s.integrator.name, s.contact, steps) for s in sims], tmp_path)
    for sim, got in zip(sims, found, strict=True):
        what = f"{name}, {sim.integrator.name}, {sim.contact}"
        sim.control_prm[:] = sims[0].control_prm
        sim.step(steps)
        assert got["status"] == "OK", what
        assert got["time"] == pytest.approx(sim.time, rel=1e-14), what
        for field in ("qpos", "qvel", "act"):
            mine, theirs = getattr(sim, field), np.array(got[field])[: len(getattr(sim, field))]
            scale = max(1.0, np.abs(mine).max(initial=0.0))
            assert np.abs(mine - theirs).max(initial=0.0) <= TOLERANCE * scale, f"{what}: {field}"
        assert np.abs(sim.energy() - got["energy"]).max() <= 10 * TOLERANCE * max(1.0, np.abs(sim.energy()).max()), what
        assert got["events"] == len(sim.events), what


@pytest.mark.parametrize("name", QUICK)
def test_the_scene_moves_as_on_this_machine(name, tmp_path):
    compare(name, tmp_path, ["euler", "rk4"])


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_every_scene_moves_as_on_this_machine(name, tmp_path):
    compare(name, tmp_path)


def test_a_model_that_needs_functions_of_mujoco_is_refused_by_name(tmp_path):
    with pytest.raises(OptionError, match="trampoline cannot run in a browser: it needs MuJoCo's functions"):
        page("trampoline", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
