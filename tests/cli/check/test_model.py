"""The command that looks at a model before it runs. Reference: stability limits of an oscillator in closed form."""

import re

import pytest
from helpers.command_line import OSCILLATOR, REFUSED

import saltus


def test_check_names_everything_that_is_refused(saltus_command, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text(REFUSED)
    code, out, _ = saltus_command("check", model)
    assert code == 1
    refused = [line for line in out.splitlines() if line.startswith("REFUSED")]
    assert len(refused) == 2
    assert "actuator drive" in refused[0] and "plasticity" in refused[1]
    assert re.search(r"simulated +sensors", out)
    assert "--ignore actuator --ignore plasticity" in out


def test_check_with_all_ignored_is_ready(saltus_command, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text(REFUSED)
    code, out, _ = saltus_command("check", model, "--ignore", "actuator", "--ignore", "plasticity")
    assert code == 0 and "REFUSED" not in out and "ready to run" in out
    assert sum(line.startswith("ignored") for line in out.splitlines()) == 2


def limits(text):
    """Largest stable step by integrator."""
    rows = [line.replace(" (the model's)", "").split() for line in text.splitlines()]
    return {row[0]: row[1] for row in rows if row and row[0] in saltus.integrators() and len(row) > 2}


def test_check_knows_the_stability_limits(saltus_command, tmp_path):
    """ω = 10 /s, ζ = 0.1: explicit Euler to 2 ζ/ω; undamped verlet to 2/ω; implicit midpoint at any step."""
    model = tmp_path / "o.xml"
    model.write_text(OSCILLATOR.format(step=0.01, integrator="Euler", stiffness=100, damping=2))
    code, out, _ = saltus_command("check", model)
    assert code == 0
    assert float(limits(out)["explicit_euler"]) == pytest.approx(2 * 0.1 / 10, rel=1e-3)
    assert limits(out)["implicit_midpoint"] == "any"
    model.write_text(OSCILLATOR.format(step=0.01, integrator="Euler", stiffness=100, damping=0))
    _, out, _ = saltus_command("check", model)
    assert float(limits(out)["verlet"]) == pytest.approx(2 / 10, rel=1e-3)
    assert limits(out)["explicit_euler"] == "none:"


def test_check_finds_the_faster_of_two_decays(saltus_command, tmp_path):
    """m = 1, b = 1000, k = 1: λ = -1000 and -0.001; explicit Euler is stable to 2/1000 s, as is verlet."""
    model = tmp_path / "o.xml"
    model.write_text(OSCILLATOR.format(step=0.001, integrator="Euler", stiffness=1, damping=1000))
    _, out, _ = saltus_command("check", model)
    assert float(limits(out)["explicit_euler"]) == pytest.approx(0.002, rel=1e-2)
    assert float(limits(out)["verlet"]) == pytest.approx(0.002, rel=1e-2)


def test_check_tells_growth_from_decay(saltus_command, tmp_path):
    """λ = -b/m without a spring; ω √(1 - ζ²) with one, ω = 10 /s, ζ = b/(2 m ω); ±10 /s with one that pushes."""
    model = tmp_path / "o.xml"
    for stiffness, damping, said in (
        (0, 5, "a decay with time constant 0.2 s"),
        (0, -5, "a growth with time constant 0.2 s"),
        (100, -2, "1.58 Hz, damping ratio -0.1"),
        (-100, 0, "a growth with time constant 0.1 s"),
        (100, 2, "1.58 Hz, damping ratio 0.1"),
    ):
        model.write_text(OSCILLATOR.format(step=0.01, integrator="Euler", stiffness=stiffness, damping=damping))
        code, out, err = saltus_command("check", model)
        assert code == 0 and said in out
        assert ("which grows by itself" in out + err) == (stiffness < 0 or damping < 0)


def test_check_warns_of_a_step_beyond_the_limit(saltus_command, tmp_path):
    model = tmp_path / "o.xml"
    model.write_text(OSCILLATOR.format(step=0.3, integrator="RK4", stiffness=100, damping=2))
    code, out, err = saltus_command("check", model)
    assert code == 0 and "UNSTABLE" in out
    assert "warning: the timestep 0.3 s exceeds the limit 0.295 s of" in err


def test_check_of_a_model_without_motion(saltus_command, tmp_path):
    model = tmp_path / "still.xml"
    model.write_text('<mujoco model="still"><worldbody><geom size="1"/></worldbody></mujoco>')
    code, out, _ = saltus_command("check", model)
    assert code == 0 and "0 degrees of freedom" in out


def test_check_refuses_a_bad_name(saltus_command):
    code, _, err = saltus_command("check", "pendulum", "--ignore", "gravity")
    assert code == 1 and "unknown feature" in err and "'gravity'" in err


def test_check_lists_geoms_and_pairs_that_stick(saltus_command, tmp_path):
    file = tmp_path / "sticky.xml"
    file.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" adhesion="3"/></body>
      <body pos="1 0 .1"><freejoint/><geom name="other" size=".1"/></body></worldbody>
      <contact><pair name="own" geom1="floor" geom2="other" adhesion="2"/></contact></mujoco>""")
    _, out, _ = saltus_command("check", file)
    (line,) = [line for line in out.splitlines() if " adhesion " in line]
    assert line.split() == ["simulated", "adhesion", "ball,", "pair", "own"]


SHEET = """<mujoco model="sheet"><option timestep="{step}"/><worldbody>
  <flexcomp name="sheet" type="grid" count="5 5 1" spacing=".1 .1 .1" radius=".001" mass="1" dim="2">
    <contact contype="0" conaffinity="0" selfcollide="none"/>
    <elasticity young="75000" poisson="0" thickness="0.01" elastic2d="stretch"/><pin id="0 4 20 24"/>
  </flexcomp></worldbody></mujoco>"""


@pytest.mark.slow
def test_check_judges_deformable_bodies_by_their_motion(saltus_command, tmp_path):
    """The limit that it names is where runs begin to diverge: 0.9 of it stays small, 1.2 of it does not."""
    model = tmp_path / "sheet.xml"
    model.write_text(SHEET.format(step=0.02))
    code, out, errors = saltus_command("check", model)
    limit = float(re.search(r"timestep: ([\d.]+) s is the largest that is stable for deformable", out)[1])
    assert code == 0 and f"exceeds the limit {limit:.3g} s of euler for deformable bodies" in out + errors
    with pytest.raises(saltus.DivergenceError, match="stability limit"):
        saltus.Simulation(SHEET.format(step=1.2 * limit)).step(2000)
    sim = saltus.Simulation(SHEET.format(step=0.9 * limit))
    sim.step(2000)
    assert abs(sim.qvel).max() < 10.0
    model.write_text(SHEET.format(step=0.9 * limit))
    assert "is stable for deformable bodies" in saltus_command("check", model)[1]
