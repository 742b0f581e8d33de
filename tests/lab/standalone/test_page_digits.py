"""Pages of their own compute what this machine computes.

Reference: the native engine, from the same state by the same steps. Both round each operation alike but for fused
multiply-adds: they differ by rounding errors, and by what the motion makes of these. They are compared to 1e-12 for
1000 steps, or for as many as a native twin that begins one rounding error away stays within 1e-13.
"""

import numpy as np
import pytest
from helpers.node import run_page

from saltus.errors import OptionError
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.scenes import scenes
from saltus.lab.standalone.loops import simulations
from saltus.lab.standalone.page import page, page_html

TOLERANCE, TWIN = 1e-12, 1e-13
STEPS = (1000, 500, 200, 100, 50, 20)
LARGE = ("bouncy_disc", "humanoid_trampoline")  # of which 1000 steps take too long
QUICK = ("pendularm", "cart_pole", "bouncing_ball", "muscle")
WHOLE = [name for name in scenes() if name not in QUICK and name != "trampoline"]


def natively(name, integrators=None):
    """Native simulations of a scene's page, at its start."""
    session = scenes()[name].open(Downloads(), {})
    session.builder.give_up()
    found = simulations(session.setup, session.builder.settings, integrators, None)
    session.close()
    return found


def regular_steps(sim, most):
    """For how many steps the motion is not chaotic: a twin that begins a rounding error away stays where it is."""
    start = sim.engine.checkpoint()
    for steps in (count for count in STEPS if count <= most):
        sim.engine.go_to(start)
        sim.step(steps)
        there = sim.qpos.copy()
        sim.engine.go_to(start)
        sim.qpos[:] = np.nextafter(sim.qpos, np.inf)
        sim.step(steps)
        if np.abs(sim.qpos - there).max() <= TWIN * max(1.0, np.abs(there).max()):
            break
    sim.engine.go_to(start)
    return steps


def compare(name, tmp_path, integrators=None):
    html = page_html(scenes()[name], {}, integrators)
    sims = natively(name, integrators)
    for sim in sims:
        sim.control_prm[:] = sims[0].control_prm
    counts = [regular_steps(sim, 50 if name in LARGE else 1000) for sim in sims]
    runs = [(s.integrator.name, s.contact, steps) for s, steps in zip(sims, counts, strict=True)]
    for sim, run, got in zip(sims, runs, run_page(html, runs, tmp_path), strict=True):
        what = f"{name}: {run}"
        earlier = len(sim.events)
        sim.step(run[2])
        assert got["status"] == "OK", what
        assert got["time"] == pytest.approx(sim.time, rel=1e-14), what
        for field in ("qpos", "qvel", "act"):
            mine, theirs = getattr(sim, field), np.array(got[field])[: len(getattr(sim, field))]
            scale = max(1.0, np.abs(mine).max(initial=0.0))
            assert np.abs(mine - theirs).max(initial=0.0) <= TOLERANCE * scale, f"{what}: {field}"
        assert np.abs(sim.energy() - got["energy"]).max() <= 10 * TOLERANCE * max(1.0, np.abs(sim.energy()).max()), what
        assert got["events"] == len(sim.events) - earlier, what


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
