"""The ledger of energy closes: what is held at the end is what was held at the start, plus work, plus a residual.

Law: the work of a force is the integral of its power; the residual is what the integrator's error makes of energy.
Reference: closed forms (a damped oscillator, friction, a constant force, an impact), the known error of semi-implicit
Euler in free fall, ½ m g² h t, and conservation: `energy_momentum` does the work of its forces exactly where the
inertia is constant, `moreau_jean` under gravity alone.

Tolerances: methods that keep the balance exactly do so to rounding, or to the 1e-10 of their iteration; others converge
with the order that they declare, seen by halving the step.
"""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import saltus
from saltus.errors import OptionError
from saltus.integrate import work
from saltus.record.table.ledger import ACCOUNTS, ENERGIES, WITHOUT_MOTIONS, WORKS

NO_CONTACT = '<default><geom contype="0" conaffinity="0"/></default>'
OSCILLATOR = f"""<mujoco><option timestep="0.01" gravity="0 0 0"/>{NO_CONTACT}<worldbody><body>
  <joint name="x" type="slide" axis="1 0 0" stiffness="40" damping="0.8"/><geom size="0.1" mass="2"/></body></worldbody>
  <actuator><motor joint="x"/></actuator></mujoco>"""
# weights, springs and dampers of joints and of a tendon, a servo, a medium, forces from outside, gravity compensation
SMOOTH = f"""<mujoco><option timestep="0.01" density="20" viscosity="0.1" wind="1 0 0"/>{NO_CONTACT}<worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.1" stiffness="2"/>
  <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/>
  <site name="s" pos="0 0 -0.5"/>
  <body pos="0 0 -1" gravcomp="0.3"><joint name="b" axis="0 1 0" damping="0.1"/>
  <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/><site name="t" pos="0 0 -0.8"/></body></body>
  <site name="o" pos="1 0 0"/></worldbody>
  <tendon><spatial stiffness="5" damping="0.5"><site site="o"/><site site="s"/><site site="t"/></spatial></tendon>
  <actuator><position joint="b" kp="3" kv="0.2"/></actuator></mujoco>"""
# all soft constraints, on bodies that only slide: constant inertia
SLIDES = """<mujoco><option timestep="0.002" cone="elliptic" impratio="1000" tolerance="1e-13"/><worldbody>
  <geom type="plane" size="0 0 1" friction="0.3"/>
  <body pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.3"/></body>
  <body pos="0 3 3"><joint name="dry" type="slide" axis="1 0 0" frictionloss="4"/><geom size="0.1" mass="1"/></body>
  <body pos="0 5 3"><joint name="limited" type="slide" axis="1 0 0" range="-0.3 0.3" limited="true"/>
  <geom size="0.1" mass="1"/></body>
  <body pos="0 7 3"><joint name="first" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  <body pos="0 8 3"><joint name="second" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <equality><joint joint1="first" joint2="second" solref="0.1 0.5"/></equality></mujoco>"""
SHEET = """<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody>
  <flexcomp name="soft" type="grid" dim="2" count="5 4 1" spacing=".1 .1 .1" mass="1.5" radius=".01">
  <contact contype="0" conaffinity="0" selfcollide="none"/><edge damping="0.2"/>
  <elasticity young="3e5" poisson="0.3" thickness="0.01" damping="1e-4" elastic2d="both"/></flexcomp>
  </worldbody></mujoco>"""
BALL = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="0 0 1" solref="0.02 0.3"/>
  <body pos="0 0 1"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2" solref="0.02 0.3"/></body>
  </worldbody></mujoco>"""


def kept(model, integrator, duration, start=None, **options):
    """The report of a run from velocities or, by a name, positions of joints."""
    sim = saltus.Simulation(model, integrator, **options)
    if isinstance(start, dict):
        for name, velocity in start.items():
            sim.qvel[sim.model.names("joint").index(name)] = velocity
    elif start is not None:
        sim.qpos[: len(start)] = start
    return sim.run(duration, sample=duration / 7.3, ledger=True).energy_report()


def slope(errors):
    """Fitted order of errors at steps that halve."""
    return np.polyfit(np.log2([1.0, 0.5, 0.25][: len(errors)]), np.log2(np.abs(errors)), 1)[0]


def test_the_names_are_those_of_the_kernels():
    places = [work.ACTUATORS, work.APPLIED, work.DAMPERS, work.ELASTIC_DAMPING, work.MEDIUM, work.COMPENSATION]
    places += [work.CONTACT, work.LIMITS, work.DRY, work.EQUALITIES]
    assert places == list(range(len(WORKS)))
    assert (*ENERGIES, *WORKS, "impacts", "equations", "motions") == ACCOUNTS


# ---------------------------------------------------------------- smooth motion


def dissipated(t, k=40.0, b=0.8, m=2.0, x0=0.5):
    """What the damper of the oscillator has taken."""
    decay = 0.5 * b / m
    w = np.sqrt(k / m - decay**2)
    x = x0 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    v = -x0 * np.exp(-decay * t) * (w + decay**2 / w) * np.sin(w * t)
    return 0.5 * k * (x0**2 - x**2) - 0.5 * m * v**2


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("energy_momentum", 2), ("rk4", 4)])
def test_a_damper_takes_what_the_closed_form_says(integrator, order):
    reports = [kept(OSCILLATOR, integrator, 2.0, [0.5], timestep=h) for h in (0.02, 0.01, 0.005)]
    assert reports[-1]["dampers"][-1] == pytest.approx(-dissipated(2.0), rel=2e-3)
    assert abs(slope([r["dampers"][-1] + dissipated(2.0) for r in reports]) - order) < 0.3
    if integrator == "energy_momentum":
        assert_allclose([r.residual for r in reports], 0.0, atol=1e-13)
    else:
        assert abs(slope([r.residual[-1] for r in reports]) - order) < 0.3
        # what the integrator has made is what the state is wrong by, beside what the damper's account is
        wrong = reports[-1].total[-1] - (5.0 - dissipated(2.0))
        there = reports[-1].residual[-1] + reports[-1]["dampers"][-1] + dissipated(2.0)
        assert wrong == pytest.approx(there, abs=1e-12)


DAMPED_BY_EQUATIONS = OSCILLATOR.replace(' damping="0.8"', "").replace(
    "<worldbody>", '<size nuserdata="1"/><worldbody>'
)


def mass(m, d):
    d.M[0] = 2.0


def damping(m, d):
    d.qfrc_bias[0] = d.userdata[0] * d.qvel[0]


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "implicit", "energy_momentum", "rk4"])
def test_damping_in_given_equations_is_their_work_and_no_error(integrator):
    """The same oscillator with its damper in the bias: what it takes is an account, and the rest of the balance is that
    without damping. The mass is constant: methods that leave their forces behind are charged to rounding, with the
    potential's error alone as a residual for euler and its like; RK4 and its quadrature have fourth order.
    """
    equations = saltus.Dynamics(mass, damping)
    residuals = {}
    for coefficient in (0.0, 0.8):
        sim = saltus.Simulation(DAMPED_BY_EQUATIONS, integrator, timestep=0.005, dynamics=equations)
        sim.qpos[0], sim.userdata[0] = 0.5, coefficient
        report = sim.run(2.0, sample=2.0, ledger=True).energy_report()
        residuals[coefficient] = np.abs(report.residual).max()
        taken = -dissipated(2.0) if coefficient else 0.0
        assert report["equations"][-1] == pytest.approx(taken, rel=2e-3 if integrator == "rk4" else 2e-2, abs=1e-13)
        assert not report["dampers"].any()
        assert ("equations" in report.used(ACCOUNTS)) == bool(coefficient)
    of_method = {"energy_momentum": 1e-13, "rk4": 5.0 * (np.sqrt(20.0) * 0.005) ** 4}  # E (ω h)⁴
    assert residuals[0.8] < of_method.get(integrator, 1.1 * residuals[0.0])


@pytest.mark.slow
def test_equations_of_another_mass_explain_their_energy():
    """M' = 3 kg where the body has 2 kg: the ledger's energies are the body's, and the equations part them."""

    def heavier(m, d):
        d.M[0] = 3.0

    sim = saltus.Simulation(DAMPED_BY_EQUATIONS, "rk4", timestep=0.005, dynamics=saltus.Dynamics(heavier, damping))
    sim.qpos[0] = 0.5
    report = sim.run(2.0, sample=0.1, ledger=True).energy_report()
    # k x²/2 + 3 v²/2 stays, so that k x²/2 + 2 v²/2 has lost v²/2
    assert_allclose(report["equations"], -0.5 * report["kinetic"], atol=1e-6)
    assert np.abs(report.residual).max() < 1e-6


def test_a_constant_force_does_force_times_way():
    sim = saltus.Simulation(OSCILLATOR, "rk4")
    sim.ctrl[0], sim.qfrc_applied[0], sim.xfrc_applied[1, 0] = 3.0, -1.0, 0.5
    report = sim.run(1.0, ledger=True).energy_report()
    way = sim.qpos[0]
    assert report["actuators"][-1] == pytest.approx(3.0 * way, rel=1e-7)  # Simpson's rule: (ω h)⁴ / 180
    assert report["applied"][-1] == pytest.approx(-0.5 * way, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("implicitfast", 1)])
def test_all_smooth_forces_close(integrator, order):
    def report(h):
        sim = saltus.Simulation(SMOOTH, integrator, timestep=h)
        sim.qpos[:], sim.ctrl[0] = [0.6, -0.3], 0.5
        sim.qfrc_applied[1], sim.xfrc_applied[2] = 0.4, [1, 0, 2, 0, 0.3, 0]
        return sim.run(1.0, sample=0.3, ledger=True).energy_report()

    reports = [report(h) for h in (0.01, 0.005, 0.0025)]
    used = {"kinetic", "gravity", "springs", "actuators", "applied", "dampers", "medium", "gravity compensation"}
    assert set(reports[0].used(ACCOUNTS)) == used
    assert abs(slope([r.residual[-1] for r in reports]) - order) < 0.3
    assert abs(reports[-1].residual[-1]) < (1e-7 if order == 4 else 2e-2) * np.ptp(reports[0]["kinetic"])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "discrete"])
def test_free_fall_loses_what_is_known(integrator):
    report = saltus.Simulation(BALL, integrator).run(0.35, sample=0.05, ledger=True).energy_report()
    assert_allclose(report.residual, -0.5 * 2.0 * 9.81**2 * 0.001 * report.time, atol=1e-10)


# ---------------------------------------------------------------- constraints


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "energy_momentum"])
def test_soft_constraints(integrator):
    """Each takes what its body loses; friction and dry friction their force times the way."""
    start = {"x": 2.0, "dry": 2.0, "limited": 3.0, "first": 1.0}
    report = kept(SLIDES, integrator, 0.25, start)
    t = 0.25
    # rigid dry friction but for a creep; gravity's 2 mm of sinking is in the contact's share
    assert report["dry friction"][-1] == pytest.approx(-4.0 * (2.0 * t - 2.0 * t * t), rel=5e-3)
    sliding = 0.3 * 2.0 * 9.81 * (2.0 * t - 0.5 * 0.3 * 9.81 * t * t)
    sinking = 2.0 * 9.81 * 1e-4
    assert report["contact"][-1] == pytest.approx(-sliding, abs=2e-2 * sliding + sinking)
    assert report["limits"][-1] < -0.1
    assert -0.25 < report["equalities"][-1] < -0.2  # all of what the mean velocity does not hold, ¼ J, decays
    assert np.abs(report.residual).max() < (1e-11 if integrator == "energy_momentum" else 2e-3)


@pytest.mark.slow
def test_a_bouncing_ball():
    """The contact's account is all that a ball loses; what Euler adds on top shrinks with the step."""
    exact = kept(BALL, "energy_momentum", 1.5)
    assert np.abs(exact.residual).max() < 1e-11
    assert exact["contact"][-1] == pytest.approx(exact.total[-1] - exact.total[0], abs=1e-11)
    for integrator in ("euler", "discrete"):
        reports = [kept(BALL, integrator, 1.5, timestep=h) for h in (0.001, 0.0005, 0.00025)]
        assert abs(slope([np.abs(r.residual).max() for r in reports]) - 1) < 0.3
        # gravity's alone, m g h/2 times the change of velocity, which is none in the end
        assert_allclose([r.residual[-1] for r in reports], 0.0, atol=1e-6)


# ---------------------------------------------------------------- deformable bodies


def sheet(integrator, h, damping=True):
    model = SHEET if damping else SHEET.replace('damping="0.2"', "").replace('damping="1e-4"', "")
    sim = saltus.Simulation(model, integrator, timestep=h)
    rng = np.random.default_rng(2)
    # a smooth field of velocities, so that euler at these steps resolves it
    place = sim.data.xpos[1:] @ rng.standard_normal((3, 3))
    sim.qvel[:] = np.sin(4.0 * place).ravel()
    return sim.run(0.1, sample=0.01, ledger=True).energy_report()


def test_a_sheet():
    for h in (0.001, 0.004):
        free, damped = sheet("energy_momentum", h, damping=False), sheet("energy_momentum", h)
        play = free.total[0]
        assert np.abs(free.residual).max() < 1e-9 * play and not free.used(WORKS)
        assert np.abs(damped.residual).max() < 1e-9 * play and damped.used(WORKS) == ["elastic damping"]
        assert damped["elastic damping"][-1] < -0.02 * play
        assert (np.diff(damped["elastic damping"]) < 0).all()
        assert damped["stretch"].max() > 0.05 * play and damped["bending"].max() > 1e-4 * play
    rough = [sheet("euler", h).residual[-1] for h in (0.0004, 0.0002, 0.0001)]
    assert abs(slope(rough) - 1) < 0.3


def test_elastic_energy_is_potential():
    sim = saltus.Simulation(SHEET, "euler")
    sim.qpos[:] = 0.02 * np.random.default_rng(0).standard_normal(sim.model.nq)
    accounts = sim.run(0.001, ledger=True).ledger[0]
    assert sim.model.nq == 60 and accounts[ACCOUNTS.index("bending")] > 0
    sim.reset()
    sim.qpos[:] = 0.02 * np.random.default_rng(0).standard_normal(sim.model.nq)
    assert sim.energy()[0] == pytest.approx(sum(accounts[1 : len(ENERGIES)]), rel=1e-14)


# ---------------------------------------------------------------- hard contact


def test_impacts(one_hard_layout):
    """A ball loses ½ m v² (1 - e²) at each; time stepping finds the same, without a log of impacts."""
    law = saltus.Hard(restitution=0.5)
    speed2 = 2 * 9.81 * 0.9
    first = -0.5 * 2.0 * speed2 * 0.75
    report = kept(BALL, "dopri5", 0.6, contact=law)  # lands at 0.43 s, again at 0.86 s
    assert report["impacts"][-1] == pytest.approx(first, rel=1e-8)
    assert np.abs(report.residual).max() < 1e-8
    stepping = kept(BALL, "moreau_jean", 0.6, contact=law)
    assert stepping["contact"][-1] == pytest.approx(first, rel=3e-3)
    assert np.abs(stepping.residual).max() < 1e-11


# ---------------------------------------------------------------- runs and recordings


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_the_motion_is_the_same_and_samples_change_nothing(integrator):
    plain, coarse, fine = (saltus.Simulation(BALL, integrator) for _ in range(3))
    a = plain.run(0.5, sample=0.1)
    b = coarse.run(0.5, sample=0.1, ledger=True)
    c = fine.run(0.5, sample=0.1 / 7.7, ledger=True)
    np.testing.assert_array_equal(a.qpos, b.qpos)
    np.testing.assert_array_equal(plain.qvel, coarse.qvel)
    assert a.ledger.shape == (6, 0) and b.ledger.shape == (6, WITHOUT_MOTIONS)
    assert c.end is not None
    np.testing.assert_array_equal(b.ledger[-1], c.end["ledger"])


def test_recordings_hold_it(tmp_path):
    pytest.importorskip("h5netcdf")
    sim = saltus.Simulation(BALL, "euler")
    run = sim.run(0.5, sample=0.07, ledger=True)
    run.save(tmp_path / "a.nc")
    loaded = saltus.Trajectory.load(tmp_path / "a.nc")
    np.testing.assert_array_equal(loaded.ledger, run.ledger)
    assert str(loaded.energy_report()) == str(run.energy_report())
    assert list(run.to_xarray()["account"].values) == list(ACCOUNTS[:WITHOUT_MOTIONS])
    figure = run.energy_report().plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10000
    assert [axes.get_ylabel() for axes in figure.axes] == ["energy (J)", "work since the start (J)"]


def test_a_run_that_goes_on_keeps_it(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    from saltus.record.io import stream

    monkeypatch.setattr(stream, "SECONDS", 0.0)

    def stop(done):
        if done > 0.5:
            raise KeyboardInterrupt

    whole = saltus.Simulation(BALL, "euler").run(0.6, sample=0.07, ledger=True)
    with pytest.warns(saltus.SaltusWarning, match="interrupted"):
        cut = saltus.Simulation(BALL, "euler").run(0.6, 0.07, progress=stop, save=tmp_path / "a.zarr", ledger=True)
    assert len(cut) < len(whole)
    resumed = saltus.resume(tmp_path / "a.zarr")
    np.testing.assert_array_equal(resumed.ledger, whole.ledger)
    assert resumed.end is not None and whole.end is not None
    np.testing.assert_array_equal(resumed.end["ledger"], whole.end["ledger"])


def test_what_is_refused():
    run = saltus.Simulation(BALL, "euler").run(0.01)
    with pytest.raises(OptionError, match="ledger=True"):
        run.energy_report()
    with pytest.raises(OptionError, match="account"):
        kept(BALL, "euler", 0.01)["contacts"]
    with pytest.raises(OptionError, match="ledger must have shape"):
        saltus.Trajectory([0.0], [[0.0]], [[0.0]], ledger=[[1.0, 2.0]])


@pytest.mark.slow
def test_the_command_prints_the_balance(tmp_path):
    (tmp_path / "ball.xml").write_text(BALL)
    command = [sys.executable, "-m", "saltus", "run", str(tmp_path / "ball.xml"), "--integrator", "energy_momentum"]
    command += ["--duration", "1.5", "--no-certify", "--energy"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = {line[:26].strip(): line[26:].split() for line in text.splitlines()}
    assert rows["contact"] == ["-17.659"] and rows["gravity"] == ["19.62", "1.9612", "-17.659"]
    assert abs(float(rows["residual (J)"][0])) < 1e-11
