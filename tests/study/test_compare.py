"""Comparison of integrators: errors against closed forms, honest references, rows for what fails, the figure.

Law: m x'' = -k x has x(t) = x0 cos(ω t), so every error in the table can be known exactly. Tolerance: the reference's
own stated error, 1e-9 of the amplitude and better.
"""

import math

import numpy as np
import pytest

import saltus
from saltus.errors import OptionError, RecordError
from saltus.record.comparison import Comparison
from saltus.record.table.comparison_table import ComparisonRow, Reference
from saltus.study import compare as module
from saltus.study.comparing import runs

OSCILLATOR = """<mujoco model="oscillator"><option timestep="{h}"/>
<worldbody><body><joint name="x" type="slide" axis="1 0 0" stiffness="{k}" ref="0"/>
<geom size="0.1" mass="1" contype="0" conaffinity="0"/></body></worldbody>
<keyframe><key qpos="1"/></keyframe></mujoco>"""
K, H = 4.0, 0.02
OMEGA = math.sqrt(K)


def oscillator(k=K, h=H):
    """Released at rest at x = 1."""
    return saltus.model.model.Model(
        saltus.load(OSCILLATOR.format(k=k, h=h)).mujoco, name="oscillator", xml=None, initial_key=0
    )


@pytest.fixture(scope="module")
def compared():
    return saltus.compare(oscillator(), ["explicit_euler", "euler", "velocity_verlet", "rk4"], duration=5.0)


def test_errors_are_those_of_the_closed_form(compared):
    for label, trajectory in compared.trajectories.items():
        exact = np.cos(OMEGA * trajectory.time)
        np.testing.assert_allclose(compared.errors[label], abs(trajectory.qpos[:, 0] - exact), atol=1e-9)
        assert compared[label].error == pytest.approx(abs(trajectory.qpos[:, 0] - exact).max(), abs=1e-9)


def test_the_reference_knows_its_own_error(compared):
    reference = compared.references["soft"]
    exact = np.cos(OMEGA * reference.trajectory.time)
    true_error = abs(reference.trajectory.qpos[:, 0] - exact)
    assert true_error.max() < 1e-10
    assert (true_error <= reference.error + 1e-12).all()
    assert reference.horizon == 5.0
    assert "differ by at most" in reference.text


def test_the_ranking(compared):
    assert [row.name for row in compared.rows] == ["rk4", "velocity_verlet", "euler", "explicit_euler"]
    assert compared.best.name == "rk4"
    assert [row.order for row in compared.rows] == [4, 2, 1, 1]
    drifts = {row.name: row.energy_drift for row in compared.rows}
    # |1 + i ω h|^2 growth of explicit Euler's energy
    growth = (1 + (OMEGA * H) ** 2) ** round(5.0 / H) - 1
    assert drifts["explicit_euler"] == pytest.approx(growth, rel=1e-3)
    assert drifts["rk4"] < 1e-6


def test_costs_are_measured(compared):
    for row in compared.rows:
        assert 0 < row.cost < 0.01  # a second of 50 small steps takes microseconds
        assert row.steps_per_second == pytest.approx(1 / (H * row.cost), rel=1e-6)
    assert compared["rk4"].cost > compared["explicit_euler"].cost


def test_precision_holds_finer_steps(compared):
    """A fourth of the step, 4^p of the error."""
    for name, order in (("euler", 1), ("velocity_verlet", 2), ("rk4", 4)):
        table = compared.precision[name]
        np.testing.assert_allclose(table[:, 0], [H, H / 2, H / 4, H / 8])
        assert math.log2(table[0, 1] / table[2, 1]) / 2 == pytest.approx(order, abs=0.2)
        assert (table[:, 2] > 0.0).all()  # times, which a busy machine changes


def test_adaptive_ones_have_tolerances(compared):
    result = saltus.compare(oscillator(), ["dopri5"], duration=2.0)
    np.testing.assert_array_equal(result.precision["dopri5"][:, 0], [1e-4, 1e-6, 1e-8, 1e-10])
    assert (np.diff(result.precision["dopri5"][:, 1]) < 0).all()
    assert result["dopri5"].steps_per_second > 0


def test_all_run_from_the_same_start(compared):
    starts = {tuple(t.qpos[0]) + tuple(t.qvel[0]) for t in compared.trajectories.values()}
    assert starts == {(1.0, 0.0)}


def test_samples_are_at_steps_ends(compared):
    steps = compared.trajectories["euler"].time / H
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    long = saltus.compare(oscillator(), ["euler"], duration=50.0)
    assert len(long.trajectories["euler"]) <= module.SAMPLES + 1


@pytest.mark.slow
def test_every_integrator_by_default():
    result = saltus.compare("pendulum", duration=1.0)
    assert {row.name for row in result.rows} == set(saltus.integrators())
    assert all(math.isfinite(row.error) for row in result.rows)


def test_what_diverges_is_a_row():
    """ω h = 4: beyond 2 the symplectic methods grow without bound; implicit midpoint does not."""
    result = saltus.compare(oscillator(k=1.6e5, h=0.01), ["euler", "implicit_midpoint"], duration=5.0)
    assert [row.name for row in result.rows] == ["implicit_midpoint", "euler"]
    lost = result["euler"]
    assert math.isinf(lost.error) and math.isinf(lost.energy_drift) and math.isnan(lost.cost)
    assert "diverged at t =" in lost.note
    assert 0 < len(result.trajectories["euler"]) < len(result.trajectories["implicit_midpoint"])
    assert "diverged" in result.table()


def test_what_is_refused_is_a_row():
    result = saltus.compare(oscillator(), ["rk4", "euler"], contacts=("sticky", "soft"), duration=1.0)
    assert [(row.name, row.contact) for row in result.rows[:2]] == [("rk4", "soft"), ("euler", "soft")]
    refused = result["rk4, sticky"]
    assert math.isnan(refused.error) and "refused: unknown contact law 'sticky'" in refused.note
    assert set(result.trajectories) == {"rk4, soft", "euler, soft"}
    assert result.best.contact == "soft"


def test_only_refused_rows():
    result = saltus.compare(oscillator(), ["rk4"], contacts="sticky", duration=1.0)
    assert result.best is None and len(result) == 1
    assert "refused" in repr(result)
    assert result.plot() is not None


class Named:
    """A law by a name of its own."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


@pytest.fixture
def two_laws(monkeypatch):
    """What "contact" does here is another spring, so that two laws have closed forms; rk4 does not know the second."""

    def simulation(model, integrator, law, timestep):
        if law.name != "soft" and integrator.name == "rk4":
            raise OptionError("rk4 cannot find events")
        return saltus.Simulation(oscillator(4 * K) if law.name != "soft" else model, integrator, "soft", timestep)

    monkeypatch.setattr(runs, "Simulation", simulation)


@pytest.mark.slow
def test_each_contact_law_has_a_reference_of_its_own(two_laws, tmp_path):
    """|cos ωt - cos 2ωt| apart, as exactly as the references are: 1e-9."""
    result = saltus.compare(oscillator(), ["rk4", "euler", "midpoint"], ["soft", Named("stiff")], 3.0)
    assert result.contacts == ("soft", "stiff")
    for law, omega in (("soft", OMEGA), ("stiff", 2 * OMEGA)):
        time = result.references[law].trajectory.time
        np.testing.assert_allclose(result.references[law].trajectory.qpos[:, 0], np.cos(omega * time), atol=1e-9)
        trajectory = result.trajectories[f"euler, {law}"]
        exact = np.cos(omega * trajectory.time)
        np.testing.assert_allclose(result.errors[f"euler, {law}"], abs(trajectory.qpos[:, 0] - exact), atol=1e-9)
    apart = abs(np.cos(OMEGA * time) - np.cos(2 * OMEGA * time))
    np.testing.assert_allclose(result.differences["soft and stiff"], apart, atol=1e-9)
    assert f"soft and stiff: positions differ by up to {apart.max():.3g} (rad, m), by {apart[-1]:.3g}" in repr(result)
    # an integrator that one law refuses is no reason to refuse the law
    assert result["rk4, stiff"].note == "refused: rk4 cannot find events"
    assert math.isfinite(result["rk4, soft"].error) and math.isfinite(result["midpoint, stiff"].error)
    every = {(row.name, row.contact) for row in saltus.compare(oscillator(), None, ["soft", Named("stiff")], 0.1).rows}
    assert ("rk4", "soft") in every and ("rk4", "stiff") not in every and ("euler", "stiff") in every  # nobody asked
    figure = result.plot(tmp_path / "laws.png")
    lines = {label: line for label, line in zip(result.trajectories, figure.axes[1].lines, strict=False)}
    assert len(figure.axes) == 4 and len(lines) == 5
    drawn = dict(
        zip([t.get_text() for t in figure.legends[0].get_texts()], figure.legends[0].legend_handles, strict=True)
    )
    assert drawn["euler, soft"].get_color() == drawn["euler, stiff"].get_color() != drawn["midpoint, soft"].get_color()
    assert drawn["euler, soft"].get_linestyle() != drawn["euler, stiff"].get_linestyle()
    np.testing.assert_array_equal(figure.axes[3].lines[0].get_ydata(), result.differences["soft and stiff"][1:])


def test_chaos_is_said():
    """Two runs of a double pendulum part however small the tolerance; errors count while they agree."""
    result = saltus.compare("double_pendulum", ["rk4"], duration=150.0, timestep=0.05)
    reference = result.references["soft"]
    assert 0 < reference.horizon < 150.0
    assert "no reference converges beyond" in reference.text and "no reference converges" in result.table()
    trajectory = result.trajectories["rk4"]
    counted = trajectory.time <= reference.horizon
    assert result["rk4"].error == result.errors["rk4"][counted].max()
    assert (reference.error[counted] <= runs.TRUSTED).all()
    assert reference.error.max() > runs.TRUSTED


def test_a_tableau_and_a_given_reference():
    ralston = saltus.ButcherTableau([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], name="ralston", order=2)
    result = saltus.compare(oscillator(), [ralston, "midpoint"], duration=2.0)
    assert result["ralston"].error < 1e-2 and result["ralston"].order == 2
    exact = result.references["soft"].trajectory
    again = saltus.compare(oscillator(), [ralston], duration=2.0, reference=exact)
    assert again["ralston"].error == pytest.approx(result["ralston"].error, rel=1e-12)
    assert "as given" in again.references["soft"].text


def test_a_reference_of_other_samples_is_refused():
    exact = saltus.Simulation(oscillator(), "dopri5").run(1.0, sample=0.1)
    with pytest.raises(OptionError, match="reference: expected"):
        saltus.compare(oscillator(), ["euler"], duration=2.0, reference=exact)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"integrators": ["rk44"]}, "did you mean 'rk4'"),
        ({"integrators": []}, "no integrators"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"timestep": 0.0}, "timestep must be positive"),
        ({"sample": -0.1}, "sample must be positive"),
    ],
)
def test_bad_arguments(arguments, said):
    with pytest.raises(OptionError, match=said):
        saltus.compare("pendulum", **arguments)


def test_two_of_one_name_are_refused():
    twins = [saltus.ButcherTableau([[0]], [1], name="twin", order=1) for _ in range(2)]
    with pytest.raises(OptionError, match="two integrators have the name 'twin'"):
        saltus.compare("pendulum", twins, duration=1.0)
    assert len(saltus.compare("pendulum", ["euler", "euler"], duration=1.0)) == 1


@pytest.mark.slow
def test_processes_give_the_same_numbers():
    """All but the times are equal to the bit."""
    names = ["euler", "rk4", "implicitfast"]
    here, there = (saltus.compare("pendulum", names, ["soft", "hard"], duration=1.0, workers=k) for k in (1, 2))
    assert {(r.name, r.contact, r.error, r.energy_drift) for r in there.rows} == {
        (r.name, r.contact, r.error, r.energy_drift) for r in here.rows
    }
    for label, trajectory in here.trajectories.items():
        np.testing.assert_array_equal(there.trajectories[label].qpos, trajectory.qpos)
        np.testing.assert_array_equal(there.errors[label], here.errors[label])


def test_progress_is_reported():
    seen = []
    saltus.compare("pendulum", ["euler", "rk4"], duration=1.0, progress=lambda what, done: seen.append((what, done)))
    assert seen == [("reference", 0.0), ("euler", pytest.approx(1 / 3)), ("rk4", pytest.approx(2 / 3))]


def test_ctrl_c_is_not_swallowed(monkeypatch):
    from saltus.simulate.engine.engine import Engine

    def interrupted(self, n, h):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        saltus.compare("pendulum", ["euler"], duration=1.0)


# ------------------------------------------------------------ how it looks


def test_table_and_html(compared):
    text = repr(compared)
    assert text.splitlines()[0] == "oscillator, timestep 0.02 s, 5 s"
    assert text.splitlines()[2].startswith("rk4 ")
    html = compared._repr_html_()
    assert html.count("<tr>") == 1 + 4 + 2  # head, rows, what they mean and the reference
    assert "velocity_verlet" in html


def test_unknown_label(compared):
    with pytest.raises(KeyError, match="'rk5' was not compared"):
        compared["rk5"]


def row(name, error, drift=0.0, cost=1.0):
    return ComparisonRow(name, "soft", 1, "explicit", error, drift, cost)


def test_figure(compared, tmp_path):
    path = tmp_path / "c.svg"
    figure = compared.plot(path)
    errors, energies, precision = figure.axes
    assert len(energies.lines) == len(precision.lines) == 4
    np.testing.assert_array_equal(errors.lines[0].get_ydata(), compared.errors["rk4"][1:])
    assert errors.get_yscale() == precision.get_yscale() == precision.get_xscale() == "log"
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [r.name for r in compared.rows]
    assert path.read_text().rstrip().endswith("</svg>")


def test_figure_that_cannot_be_written(compared, tmp_path):
    with pytest.raises(RecordError, match="cannot write figure"):
        compared.plot(tmp_path / "no" / "c.png")
    with pytest.raises(OptionError, match="suffix"):
        compared.plot(tmp_path / "c.txt")
    assert not list(tmp_path.iterdir())


def test_figure_without_anything():
    empty = Comparison("m", ("soft",), 0.1, 1.0, 0.1, references={"soft": Reference(None, np.empty(0), 0.0, "none")})
    assert len(empty.plot().axes) == 3
