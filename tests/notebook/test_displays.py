"""What notebooks show of models, simulations, batches, events, laws, integrators and steps of derivations.

Reference: MuJoCo's compiler for bodies and joints, `Simulation.picture` for pixels, Python's HTML parser for what a
browser makes of it; names are the user's and must stay text.
"""

import re

import mujoco
import numpy as np
import pytest
from helpers.displayed import Displayed
from helpers.recordings import certificate, recorded

import saltus
from saltus.notebook import displays, model, trajectory
from saltus.notebook.html import ROWS
from saltus.notebook.picture import HEIGHT, WIDTH
from saltus.record.table.events import EVENT_DTYPE, event_table

MOST = 1_000_000  # bytes of a display

ODD = """<mujoco model="&lt;b&gt;odd"><worldbody>
  <body name="&lt;script&gt;alert(1)&lt;/script&gt;" pos="0 0 1"><joint name="a&amp;b" axis="0 1 0" range="-30 30"
    limited="true" damping="0.5"/><geom size="0.1" mass="2"/>
    <body pos="0 0 0.5"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="3"/></body></body>
</worldbody></mujoco>"""
NAME = "<script>alert(1)</script>"


def shown(thing):
    """The display of an object, which is well-formed, harmless, of limited size, and complete without a network."""
    text = thing._repr_html_()
    page = Displayed(text)
    assert "script" not in page.tags and "b" not in page.tags and len(text) < MOST
    assert "display failed" not in page.text, page.text
    assert all(address.startswith("data:") for address in page.addresses)
    assert not re.search(r"url\((?!data:)|@import|https?://(?!www.w3.org/)", text)
    return page


def test_texts_have_their_plurals():
    assert repr(saltus.load("pendulum")) == "Model('pendulum': 1 body, 1 joint, nq 1, nv 1, nu 1)"
    assert "2 bodies, 2 joints" in repr(saltus.load("double_pendulum"))
    assert ", 1 thread, " in repr(saltus.Batch("pendulum", 2, threads=1))


def test_a_model_shows_its_bodies_and_joints():
    model, reference = saltus.load(ODD), mujoco.MjModel.from_xml_string(ODD)
    page = shown(model)
    assert "<b>odd" in page.text
    rows = [page.row(name) for name in (NAME, "body 2")]
    assert [float(row[3]) for row in rows] == list(reference.body_mass[1:])
    assert [row[1] for row in rows] == ["world", NAME] and rows[0][2] == "hinge a&b"
    hinge, slide = page.row("a&b"), page.row("joint 1")
    assert hinge[1:3] == ["hinge", NAME] and slide[1:3] == ["slide", "body 2"]
    low, high = (float(word) for word in hinge[4].split()[:3:2])
    np.testing.assert_allclose([low, high], reference.jnt_range[0], rtol=1e-3)
    assert hinge[-1] == f"{reference.dof_damping[0]:g} N m s/rad"


ACTUATORS = """<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0"/><geom size="0.1" mass="2"/></body>
  <body name="sled"><joint name="s" type="slide"/><geom size="0.1"/></body></worldbody><actuator>
  <motor name="m" joint="j" gear="7" ctrlrange="-1 1" forcerange="-3 4"/> <position name="p" joint="j" kp="5"
  ctrlrange="-2 2"/> <velocity name="v" joint="s" kv="3" ctrlrange="0 2"/> <intvelocity name="i" joint="j" kp="5"
  actrange="-1 1"/> <damper name="d" joint="j" kv="1" ctrlrange="0 1"/> <general name="g" joint="j" gainprm="2"
  biastype="affine" biasprm="1 0 0"/></actuator></mujoco>"""


def test_actuators_by_their_elements_in_the_file():
    page = shown(saltus.load(ACTUATORS))
    kinds = {"m": "motor", "p": "position", "v": "velocity", "i": "integrated velocity", "d": "damper", "g": "general"}
    assert {name: page.row(name)[1] for name in kinds} == kinds
    assert page.row("m")[2:] == ["joint j", "-1 to 1", "-3 to 4 N m", "7"]
    assert page.row("p")[3] == "-2 to 2 rad" and page.row("v")[2:4] == ["joint s", "0 to 2 m/s"]


def test_what_is_left_out_is_said():
    model = saltus.load("pendulum").changed({"body_mass[pendulum]": 3.0})
    assert shown(model).row("changed")[1] == "body_mass[pendulum] = 3.0"
    ignoring = recorded(attrs={"ignored": ["plugin: <b>x"]})
    assert shown(ignoring).row("not simulated")[1] == "plugin: <b>x"


def test_a_simulation_shows_where_it_is():
    sim = saltus.Simulation(ODD)
    sim.qpos[:] = 0.4, -0.3
    before = sim.snapshot()
    page = shown(sim)
    np.testing.assert_array_equal(sim.snapshot(), before)
    (picture,) = page.pictures
    np.testing.assert_array_equal(picture, np.asarray(sim.picture(width=WIDTH, height=HEIGHT)))
    (start,) = shown(sim.model).pictures
    assert (picture != start).any()
    assert [row[1] for row in page.rows if row[0] == "a&b"] == ["0.4 rad", "0 rad/s"]
    assert sim.integrator.name in page.row("integrator")[1]
    potential, kinetic = sim.data.energy
    assert page.row("energy")[1].startswith(f"{potential + kinetic:.6g} J: potential {potential:.6g} J")


def test_nothing_to_draw_is_no_picture():
    bare = ODD.replace('<geom size="0.1" mass="2"/>', '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>')
    bare = bare.replace('<geom size="0.1" mass="3"/>', '<inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>')
    page = shown(saltus.load(bare))
    assert not page.pictures and page.row(NAME)[3] == "2"
    sim = saltus.Simulation(ODD)
    sim.qpos[0] = np.nan
    page = shown(sim)
    assert ["a&b", "nan rad"] in page.rows and "no picture: a position is not finite" in page.text


def test_a_batch_shows_how_its_states_are_distributed():
    batch = saltus.Batch(ODD, 5, threads=1)
    batch.qpos = np.array([[0.1, 0.0], [0.2, 0.0], [0.4, 0.0], [-0.1, 0.0], [0.1, 0.0]])
    page = shown(batch)
    assert page.row("size")[1] == "5 simulations, float64, 1 thread" and page.row("diverged")[1] == "none"
    assert "<b>odd: 2 bodies, 2 joints" in page.row("model")[1]
    first = next(row for row in page.rows if row[0] == "a&b")
    column = batch.qpos[:, 0]
    numbers = [column.min(), column.mean(), column.max(), column.std()]
    assert first[1] == "rad" and [float(x) for x in first[2:6]] == pytest.approx(numbers, rel=1e-3)
    assert "svg" in page.tags


def test_diverged_simulations_of_a_batch_are_named():
    batch = saltus.Batch(ODD, 4, threads=1)
    velocities = np.zeros((4, 2))
    velocities[2] = np.nan
    batch.qvel = velocities
    with pytest.raises(saltus.DivergenceError):
        batch.step()
    assert shown(batch).row("diverged")[1] == "1 of 4: 2"


def test_a_recording_shows_its_run_film_and_plots():
    t = saltus.Simulation("pendulum", "rk4").run(0.5, certify=True)
    page = shown(t)
    assert "video" in page.tags and len(page.pictures) == 1
    assert page.row("duration")[1] == f"0.5 s, {len(t)} samples" and page.row("sizes")[1].startswith("nq = 1, nv = 1")
    assert page.row("order")[1] == f"{t.certificate.observed_order:.2f} observed, 4 declared"
    assert page.row("order")[1] == shown(t.certificate).row("order")[1]
    assert "at 0.167 times its speed" in page.text  # half a second in three


def test_a_recording_without_a_model_has_no_film():
    attrs = {"model_name": NAME, "integrator": "rk4", "timestep": 0.1}
    page = shown(recorded(certificate=certificate(50), attrs=attrs))
    assert "video" not in page.tags and f"Trajectory of {NAME}" in page.text
    assert page.row("integrator")[1] == "rk4, timestep 0.1 s" and page.row("duration")[1].endswith("50 samples")
    assert page.row("sizes")[1].startswith("nq = 7, nv = 6") and page.row("position error")[1].startswith("0.3")


def test_large_recordings_are_not_plotted_unasked(monkeypatch):
    monkeypatch.setattr(trajectory, "PLOTTED", 10)
    page = shown(recorded())
    assert not page.pictures and "only when asked for: trajectory.plot()" in page.text


def test_of_many_coordinates_the_energies_are_plotted():
    time, states = np.linspace(0.0, 1.0, 5), np.random.default_rng(2).normal(size=(5, 40))
    energy = np.ones((5, 2))
    few, many = (saltus.Trajectory(time, states[:, :n], states[:, :n], energy=energy) for n in (2, 40))
    page = shown(many)
    assert len(page.pictures) == 1 and "40 positions and 40 velocities are plotted by trajectory.plot()" in page.text
    assert page.pictures[0].shape[0] < shown(few).pictures[0].shape[0]


def test_a_large_film_gets_fewer_frames(monkeypatch):
    t = saltus.Simulation("pendulum", "rk4").run(0.2)
    whole = len(trajectory.film(t))
    monkeypatch.setattr(trajectory, "LARGEST", 100)
    assert len(trajectory.film(t)) < whole


def test_events_are_a_table():
    events = np.zeros(ROWS + 3, EVENT_DTYPE)
    events["kind"], events["name"], events["time"] = "impact", NAME, np.arange(len(events))
    table = event_table(events)
    page = shown(table)
    assert f"{len(events)} events{len(events)} impact" in page.text and page.rows[1][2] == NAME
    assert page.rows[-1] == ["and 3 more"] and len(page.rows) == 1 + ROWS + 1
    assert type(table["time"]) is np.ndarray and table["time"].dtype == float
    assert "1 event1 impact" in shown(table[:1]).text
    assert shown(np.concatenate([table, events])).rows[-1] == [f"and {len(events) + 3} more"]
    assert "No events" in shown(table[:0]).text
    assert hasattr(saltus.Trajectory([0.0], [[0.0]], [[0.0]], events=events).events, "_repr_html_")
    assert hasattr(saltus.Simulation("pendulum").events, "_repr_html_")


def test_contact_laws():
    law = saltus.contact_law((0.01, 1.0), mass=2.0)
    assert shown(law).row("penetration")[1] == f"{law.rest_penetration:.4g} m"
    page = shown(saltus.Hard(0.5, pairs={(NAME, "floor"): 0.25}))
    assert page.row("restitution")[1] == "0.5" and page.row("pairs")[1] == f"{NAME} and floor: 0.25"
    assert "soft" in shown(saltus.Soft()).text
    assert shown(saltus.HillMuscle(624.3, 0.1157, 0.2723)).row("max isometric force")[1] == "624.3 N"


def test_integrators():
    found = saltus.integrators()
    assert [row[0] for row in shown(found).rows[1:]] == list(found)
    assert shown(found["rk4"]).row("order")[1] == "4"
    tableau = saltus.ButcherTableau([[0, 0], ["2/3", 0]], ["1/4", "3/4"], name=NAME)
    assert shown(tableau).rows[1:] == [["0", "0", "0"], ["2/3", "2/3", "0"], ["b", "1/4", "3/4"]]


def test_comparisons_and_sweeps_are_tables_with_figures():
    compared = saltus.compare("pendulum", ["rk4", "explicit_euler"], duration=0.5)
    page = shown(compared)
    assert [page.rows[k] for k in (1, 2)] == compared.cells() and len(page.pictures) == 1
    swept = saltus.sweep("pendulum", {"body_mass[pendulum]": [1.0, 2.0]}, duration=0.2, workers=1)
    page = shown(swept)
    assert [page.rows[k] for k in (1, 2)] == swept.cells() and len(page.pictures) == 1


def test_an_energy_balance():
    balance = saltus.Simulation("pendulum", "rk4").run(0.5, ledger=True).energy_report()
    page = shown(balance)
    kinetic = balance["kinetic"]
    assert [float(x) for x in page.row("kinetic")[1:]] == pytest.approx([*kinetic[[0, -1]], np.ptp(kinetic)], rel=1e-4)
    assert float(page.row("residual")[1]) == pytest.approx(balance.residual[-1], rel=1e-3)
    assert len(page.pictures) == 1


def test_impacts_frictional_contacts_and_solutions():
    found = saltus.friction_contact(np.eye(3), [-1.0, 0.3, 0.4], [0.2])
    # sliding: the normal force 1 stops the approach, friction is 0.2 of it
    assert shown(found).rows[1][1:3] == ["1", "0.2"]
    solution = saltus.integrate_ode(lambda t, y: -y, [1.0], 1.0, "dopri5")
    row = shown(solution).row("y[0]")
    assert row[1] == "1" and float(row[2]) == pytest.approx(np.exp(-1.0), abs=1e-6)
    sim = saltus.Simulation("bouncing_ball", "dopri5", contact="hard")
    report = sim.impact_report()
    rows = shown(report).rows[1:]
    assert [tuple(row[:2]) for row in rows] == list(report.outcomes)
    assert float(rows[0][3]) == pytest.approx(report.before[0], rel=1e-4)


def test_equations_in_matrix_form():
    equations = saltus.derive("double_pendulum", parameters="symbols")
    page = shown(equations)
    assert page.tags.count("math") > 3 and len([row for row in page.rows if row[1:2] == ["parameter"]]) == len(
        equations.parameters
    )
    assert [row[2] for row in page.rows if row[1:2] == ["parameter"]] == [
        f"{value:.6g}" for value in equations.parameters.values()
    ]
    assert r"M \ddot{q} + h &= Q" in equations._repr_latex_()
    single = saltus.derive("pendulum", parameters="symbols")
    assert r"\ddot{\theta}" in single._repr_latex_() and "math" in shown(single).tags
    bodies = saltus.derive("pendulum", "maximal")
    assert r"J^{\mathsf{T}} \lambda" in bodies._repr_latex_()


class Broken(saltus.Soft):
    def __repr__(self):
        return "<b>Broken"


def test_a_display_that_fails_shows_the_object(monkeypatch):
    def fail(thing):
        raise KeyError("<script>")

    monkeypatch.setattr("saltus.notebook.laws.soft_html", fail)
    page = Displayed(Broken()._repr_html_())
    assert "<b>Broken" in page.text and "The display failed. KeyError: '<script>'" in page.text
    assert "script" not in page.tags and "b" not in page.tags
    monkeypatch.setattr(model, "picture", fail)
    assert "Model('pendulum'" in Displayed(saltus.load("pendulum")._repr_html_()).text


def test_every_display_is_there():
    """Each name is that of a class which asks for it, and of a function that shows it."""
    from importlib import import_module

    for module, function in displays.DISPLAYS.values():
        assert callable(getattr(import_module(f"saltus.notebook.{module}"), function))
    assert displays.html_of(3) is None


def test_steps_of_a_derivation():
    steps = saltus.derive("pendulum").steps
    text = steps._repr_html_()
    assert text.count("<h3>") == len(steps) > 3
    assert "math" in Displayed(text).tags
