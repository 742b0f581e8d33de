"""What `saltus check` says of constraints: which there are, who finds them, and what acts otherwise than given.

Law: parameters act as MuJoCo's documentation says (Modeling: Solver parameters); what is stable stays bounded in
MuJoCo 4.0.
"""

import mujoco
import numpy as np
import pytest

import saltus
from saltus.cli.check.constraints import largest_step, simulated
from saltus.cli.check.model import check_model
from saltus.integrate.registry import find_integrator


@pytest.fixture
def check(capsys, tmp_path):
    """Lines of results, with single blanks, and warnings of `saltus check` on MJCF text."""

    def lines(text, *ignore):
        model = tmp_path / "model.xml"
        model.write_text(text)
        check_model(str(model), [*ignore])
        captured = capsys.readouterr()
        warned = [line for line in captured.err.splitlines() if line.startswith("warning")]
        return [" ".join(line.split()) for line in captured.out.splitlines()], warned

    return lines


BOUND = """<mujoco model="bound"><option timestep="0.005" cone="elliptic" solver="CG"/>
<asset><hfield name="hill" nrow="2" ncol="2" elevation="0 1 1 0" size="1 1 .1 .1"/></asset><worldbody>
  <geom name="hills" type="hfield" hfield="hill" contype="2" conaffinity="2"/>
  <body name="d" pos="0 3 1"><freejoint/>
    <geom name="crate" type="box" size="0.1 0.1 0.1" contype="2" conaffinity="2"/></body>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1" range="-1 1" limited="true" frictionloss="1"/>
    <geom name="can" type="cylinder" size="0.1 0.1"/></body>
  <body name="b" pos="0 1 1"><joint name="turn"/><geom name="tin" type="cylinder" size="0.1 0.1"/></body>
  <body name="c" pos="0 2 1"><freejoint/><geom name="ball" size="0.1"/></body>
</worldbody><equality><joint name="tied" joint1="lift" joint2="turn"/>
<connect name="loose" body1="c" anchor="0 0 0" active="false"/></equality></mujoco>"""


@pytest.mark.slow
def test_constraints_are_listed(check, monkeypatch):
    """What acts, which pairs of geoms our kernels collide and which MuJoCo's functions do, and what is inactive."""
    monkeypatch.setenv("COLUMNS", "200")
    lines, warned = check(BOUND)
    assert not warned and lines[-1] == "ready to run"
    for line in ("limits lift", "dry friction lift", "equalities joint tied"):
        assert f"simulated {line}" in lines
    assert any(line.startswith("inactive equalities connect loose not simulated") for line in lines)
    ours, foreign = (line for line in lines if line.startswith("simulated contacts"))
    assert "6 pairs of geoms: 2 plane-cylinder, 2 sphere-cylinder, 1 plane-sphere, 1 cylinder-cylinder" in ours
    assert "1 pair of geoms: 1 hfield-box" in foreign and "by MuJoCo's functions" in foreign
    solver = next(line for line in lines if line.startswith("solver"))
    assert "CG, elliptic cone, tolerance 1e-08, at most 100 iterations; Newton finds" in solver


def test_the_solver_for_many_bodies_is_named(check, monkeypatch):
    """That Newton's method works tree by tree is said, also where the file names another."""
    monkeypatch.setenv("COLUMNS", "200")
    balls = "".join(f'<body pos="{k} 0 1"><freejoint/><geom size=".1"/></body>' for k in range(60))
    world = '<mujoco><option solver="{}"/><worldbody><geom type="plane" size="1 1 1"/>{}</worldbody></mujoco>'
    of = lambda solver: next(line for line in check(world.format(solver, balls))[0] if line.startswith("solver"))  # noqa: E731
    assert "Newton tree by tree" in of("Newton")
    assert "Newton would work tree by tree" in of("CG")


def test_static_friction_of_contacts_is_listed():
    model = saltus.static_friction(BOUND, "ball", 1.5)
    rows = {kind: names for kind, names, _ in simulated(model)}
    assert rows["static friction"] == "ball 1.5"


SHEET = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom size=".1"/></body><body pos="0 0 2"><freejoint/><geom size=".1"/></body>
  <flexcomp name="sheet" type="grid" count="3 3 1" spacing=".2 .2 .2" pos="0 0 .5" dim="2" mass="1" radius=".01">
    <contact selfcollide="none"/><edge equality="false" damping="1"/></flexcomp></worldbody></mujoco>"""


def test_contacts_of_deformable_bodies_are_listed(check, monkeypatch):
    """One pair with each geom, as MuJoCo's filters let them: the floor and both balls."""
    monkeypatch.setenv("COLUMNS", "200")
    lines, _ = check(SHEET)
    contacts = [line for line in lines if line.startswith("simulated contacts")]
    assert contacts == [
        "simulated contacts 3 pairs of geoms: 2 plane-sphere, 1 sphere-sphere",
        "simulated contacts 3 pairs of deformable bodies: 2 sphere-flex, 1 plane-flex",
    ]
    assert lines[-1] == "ready to run"


def test_what_is_ignored_is_not_listed(check):
    lines, _ = check(BOUND, "constraint")
    assert not any(line.startswith(("solver", "simulated contacts")) for line in lines)
    ignored = {line.split()[1] for line in lines if line.startswith("ignored")}
    assert ignored == {"contact", "limit", "frictionloss", "equality"}


PRESSED = """<mujoco model="pressed"><option timestep="0.005"><flag refsafe="{refsafe}"/></option><worldbody>
  <geom name="floor" type="plane" size="1 1 1" {floor}/>
  <body pos="0 0 1"><joint name="knee" type="slide" axis="0 0 1" limited="true" range="-1 1" {knee}/>
    <geom name="ball" size="0.1" {ball}/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"knee": 'solreflimit="0.004 1"'},
            "limit of knee: the time constant 0.004 s is less than two timesteps and raised to 0.01 s",
        ),
        (
            {"knee": 'solreflimit="0.004 1"', "refsafe": "disable"},
            "limit of knee: the time constant 0.004 s is less than two timesteps, and refsafe is off",
        ),
        ({"knee": 'solreflimit="-100 1"'}, "limit of knee: solref -100 1 has mixed signs; the default 0.02 1 is used"),
        (
            {"knee": 'solimplimit="0.9 1 0.001 0.5 2"'},
            "limit of knee: solimp 0.9 1 0.001 0.5 2 is out of range; 0.9 0.9999 0.001 0.5 2 is used",
        ),
        ({"knee": 'margin="0.02"'}, "limit of knee: acts from 0.02 m before the end of its range (margin)"),
        ({"ball": 'margin="0.01"'}, "contact of floor-ball: acts from a distance of 0.01 m (margin)"),
        ({"ball": 'margin="0.01" gap="0.008"'}, "before MuJoCo 4.0 this meant 0.002 m"),
        (
            {"ball": 'condim="1" friction="0.2" priority="1"'},
            "contact of floor-ball: has friction 0.2 by priority, where the other geom has 1",
        ),
        ({"ball": 'solref="-250000 0"'}, "too fast for a timestep of 0.005 s: euler needs less than 0.00"),
    ],
)
def test_what_acts_otherwise_is_warned_of(check, parts, said):
    usual = {"floor": "", "knee": "", "ball": "", "refsafe": "enable"}
    _, warned = check(PRESSED.format(**usual | parts))
    assert any(said in line for line in warned), warned
    assert check(PRESSED.format(**usual))[1] == []


def test_the_older_search_for_contacts_is_warned_of(check):
    text = """<mujoco><option><flag nativeccd="{}"/></option><worldbody><geom type="plane" size="1 1 1"/>
      <body><freejoint/><geom type="{}" size=".1 .1 .1"/></body></worldbody></mujoco>"""
    said = {
        (state, kind): check(text.format(state, kind))[1]
        for state in ("enable", "disable")
        for kind in ("box", "cylinder")
    }
    (line,) = said.pop(("disable", "cylinder"))
    assert "nativeccd off" in line and not any(said.values())


SPRING = """<mujoco><option timestep="{step}" integrator="{integrator}" gravity="0 0 0"/>
<worldbody><body><joint name="x" type="slide"/><geom size="0.1"/></body></worldbody>
<equality><joint joint1="x" solref="{solref}" solimp="0.8 0.8 1 0.5 2"/></equality></mujoco>"""


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("solref", [(-1e4, 0.0), (-1e4, -50.0), (-100.0, -300.0)])
def test_stability_limits_of_constraints_are_mujocos(integrator, solref):
    """One equality with constant impedance is the linear oscillator x'' = -d B x' - d² K x, in MuJoCo as on paper.

    It stays bounded 1 % below the limit and grows by far more than rounding 1 % above it; undamped Runge-Kutta decays
    below its limit.
    """
    model = saltus.load(SPRING.format(step=0.001, integrator=integrator, solref="-1 0"))
    own = find_integrator(None, model.opt.integrator)
    limit, omega = largest_step(solref, (0.8, 0.8, 1, 0.5, 2), own)
    assert omega == pytest.approx(np.sqrt(-solref[0]))  # the file's stiffness is that at full impedance
    for factor, stable in ((0.99, True), (1.01, False)):
        text = SPRING.format(step=factor * limit, integrator=integrator, solref=f"{solref[0]} {solref[1]}")
        m = mujoco.MjModel.from_xml_string(text)
        d = mujoco.MjData(m)
        d.qvel[0] = 1e-3
        fastest = 0.0
        for _ in range(1000):
            mujoco.mj_step(m, d)
            fastest = max(fastest, abs(d.qvel[0]))
        assert (fastest < 1.0) == stable
