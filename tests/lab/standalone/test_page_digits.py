"""Pages of their own compute the same digits as this machine.

Reference: the native engine, from the same state by the same steps. Both round each operation alike but for fused
multiply-adds: they differ by rounding errors, and by what the motion makes of these. They are compared to 1e-12 for
1000 steps, or for as many as make of a small error less than ten times as much: 1000 rounding errors of 1e-16 then stay
below 1e-12. Where the first steps make more of it already (bodies that just touch, and a solver that stops at its
tolerance), the page may differ by what twins differ. All loops of a page run under Node, the one that it begins with
in Chromium, too, from a file.
"""

import numpy as np
import pytest
from helpers.browser import LabPage
from helpers.node import run_page

from saltus.errors import OptionError
from saltus.lab.data.recording import Downloads
from saltus.lab.scene.scenes import scenes
from saltus.lab.standalone.loops import simulations
from saltus.lab.standalone.page import page, page_html
from saltus.simulate.engine.snapshot import checkpoint, go_to

TOLERANCE = 1e-12  # relative
APART, GROWTH = 1e-14, 10.0  # how far a twin begins; how much further it may be in the end
STEPS = (1000, 500, 200, 100, 50, 20, 10, 5)
IRREGULAR = 100.0  # times the distance of two twins: where steps are relaxed over jumps, others may end as far apart
LARGE = ("bouncy_disc", "humanoid_trampoline")  # of which 1000 steps take too long
QUICK = ("pendularm", "cart_pole", "bouncing_ball", "muscle")
WHOLE = [name for name, scene in scenes().items() if scene.standalone and name not in QUICK and name != "trampoline"]


def natively(name, integrators=None):
    """Native simulations of a scene's page, at its start."""
    session = scenes()[name].open(Downloads(), {})
    session.builder.give_up()
    found = simulations(session.setup, session.builder.settings, integrators, None)
    session.close()
    return found


def regular_steps(sim, most):
    """For how many steps twins that begin 1e-14 away end within ten times that, and the tolerance of these steps."""
    start = checkpoint(sim.engine)

    def end(steps, factor):
        go_to(sim.engine, start)
        sim.qpos[:] = sim.qpos * factor + (factor - 1.0)
        sim.qvel[:] = sim.qvel * factor
        sim.step(steps)
        return np.concatenate([sim.qpos, sim.qvel])

    for steps in (count for count in STEPS if count <= most):
        there = end(steps, 1.0)
        apart = max(np.abs(end(steps, 1.0 + way * APART) - there).max() for way in (-1, 1))
        apart /= max(1.0, np.abs(there).max())
        if apart <= GROWTH * APART:
            break
    else:
        apart *= IRREGULAR
    go_to(sim.engine, start)
    return steps, max(TOLERANCE, apart)


def compare(name, integrators=None):
    """Compares all loops of a page; returns its text, and the first simulation, its steps and their tolerance."""
    html = page_html(scenes()[name], {}, integrators)
    sims = natively(name, integrators)
    for sim in sims:
        sim.control_prm[:] = sims[0].control_prm
    lengths = [regular_steps(sim, 50 if name in LARGE else 1000) for sim in sims]
    runs = [(s.integrator.name, s.contact, steps) for s, (steps, _) in zip(sims, lengths, strict=True)]
    for sim, run, (_, tolerance), got in zip(sims, runs, lengths, run_page(html, runs), strict=True):
        what = f"{name}: {run}"
        earlier = len(sim.events)
        sim.step(run[2])
        assert got["status"] == "OK", what
        assert got["time"] == pytest.approx(sim.time, rel=1e-14), what
        for field in ("qpos", "qvel", "act"):
            mine, theirs = getattr(sim, field), np.array(got[field])[: len(getattr(sim, field))]
            scale = max(1.0, np.abs(mine).max(initial=0.0))
            assert np.abs(mine - theirs).max(initial=0.0) <= tolerance * scale, f"{what}: {field}"
        assert np.abs(sim.energy() - got["energy"]).max() <= 10 * tolerance * max(1.0, np.abs(sim.energy()).max()), what
        assert got["events"] == len(sim.events) - earlier, what
    return html, sims[0], *lengths[0]


def compare_in_browser(browser, html, sim, steps, tolerance, file):
    """The page from a file, without a network: the state after its first steps, and that it asks for nothing."""
    file.write_text(html, encoding="utf-8")
    page = LabPage(browser, file.as_uri(), 820, 520).opened()
    if page.get("lab.status.playing"):
        page.pause()
    if page.get("lab.status.servo") is False:  # as it is under Node
        page.press("c")
        page.until("lab.status.servo")
    page.tab.click("#reset")
    page.until("lab.status.time === 0")
    page.steps(steps)
    found = page.state()
    for field in ("qpos", "qvel", "act"):
        mine = getattr(sim, field)
        theirs = found.get(field, mine)[: len(mine)]  # states of a scene's servo come after
        scale = max(1.0, np.abs(mine).max(initial=0.0))
        assert np.abs(mine - theirs).max(initial=0.0) <= tolerance * scale, field
    assert page.complaints == [] and page.get("lab.error") is None
    assert [url for url in page.requests if not url.startswith((file.as_uri(), "blob:", "data:"))] == []
    page.close()


@pytest.mark.parametrize("name", QUICK)
def test_the_scene_moves_as_on_this_machine(name):
    compare(name, ["euler", "rk4"])


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_every_scene_moves_as_on_this_machine(name, browser, tmp_path):
    compare_in_browser(browser, *compare(name), tmp_path / "page.html")


def test_a_model_that_needs_functions_of_mujoco_is_refused_by_name(tmp_path):
    with pytest.raises(OptionError, match="trampoline cannot run in a browser: it needs MuJoCo's functions"):
        page("trampoline", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
