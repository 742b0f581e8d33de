"""The benchmark of orientations moves the n-link pendulum rightly in all its ways, and says what it measured.

Reference angles: 25 digits of semi-implicit Euler by mpmath, from independently written equations in absolute angles.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from saltus.bench.harness.fresh import Outcome, run_fresh
from saltus.bench.orientations import command as orientations
from saltus.bench.orientations import engine_run, equations_run, naive, plot, report
from saltus.bench.orientations.case import Case, inputs
from saltus.bench.orientations.command import judged, planned
from saltus.bench.orientations.equations_loop import python_loop, solve_symmetric
from saltus.bench.orientations.plan import Found, Plan, Row
from saltus.errors import OptionError, SaltusError
from saltus.model.load import n_link
from saltus.symbolic import derive

# by number of links and option, after 100 steps of 0.01 s
ANGLES = {
    (1, "A"): [-0.101355489466139],
    (2, "A"): [-0.01393061200271415, 0.1141395879641071],
    (3, "A"): [0.03571540741921724, 0.05559588450347966, -0.0633590754752446],
    (4, "A"): [0.05325083635382396, 0.0338994484057665, -0.03834705510822934, 0.0007984448829697091],
    (2, "B"): [-0.02711825783209075, 0.07303740753427433],
}
RATES = {(2, "A"): [-0.1696021367149584, -0.5943819466443383]}
KINDS = ("relative", "absolute", "maximal")


def tell(**facts):
    json.dumps(facts)  # what is told must be JSON


def measured(method, orientation, links, option="A", steps=100):
    module = {"naive": naive, "equations": equations_run, "engine": engine_run}[method]
    return module.measure(Case(method, orientation, links, option, steps), tell)


# ------------------------------------------------------------ motion


def test_inputs_are_sampled_at_the_start_of_each_step():
    assert inputs(3) == [0.0, 5 * math.sin(8 * math.pi * 0.01), 5 * math.sin(8 * math.pi * 0.02)]


@pytest.mark.slow
@pytest.mark.parametrize(("links", "option"), ANGLES)
def test_the_engine_moves_as_the_reference(links, option):
    answer = measured("engine", "relative", links, option)
    (way,) = answer.ways
    np.testing.assert_allclose(way.angles, ANGLES[links, option], rtol=0, atol=1e-13)
    if (links, option) in RATES:
        np.testing.assert_allclose(way.rates, RATES[links, option], rtol=0, atol=1e-12)
    assert way.simulation < 1 and set(answer.modelling) == {"model", "kernels"}


@pytest.mark.slow
@pytest.mark.parametrize("orientation", KINDS)
@pytest.mark.parametrize(("links", "option"), ANGLES)
def test_derived_equations_move_as_the_reference(links, option, orientation):
    case = Case("equations", orientation, links, option, 100)
    equations = derive(n_link(links), orientation, applied=[equations_run.pushed(case)])
    advance = python_loop(equations_run.as_routine(equations))
    rest = equations.from_joint(np.zeros(links), np.zeros(links))
    q, _ = equations_run.moved(advance, rest, np.array(inputs(100)), 0.0)
    np.testing.assert_allclose(equations_run.in_world(case, q), ANGLES[links, option], rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("orientation", KINDS)
def test_all_code_of_derived_equations_moves_alike(orientation):
    answer = measured("equations", orientation, 2, "B")
    assert [way.name for way in answer.ways] == ["Python", "Numba"]
    for way in answer.ways:
        np.testing.assert_allclose(way.angles, ANGLES[2, "B"], rtol=0, atol=1e-13)
        assert 0 < way.simulation < 1 and way.modelling["code"] > 0
    assert set(answer.modelling) == {"model", "derivation", "program"}
    assert answer.operations["all"] >= answer.operations["bias"] >= 0
    if orientation != "maximal":
        assert answer.operations["M"] > 0 and all(way.stabilised is None for way in answer.ways)
        return
    # a mass matrix that is constant, and joints that stabilisation keeps together
    assert answer.operations["M"] == 0
    for way in answer.ways:
        assert 0 < way.stabilised["violation"] < 0.5 * way.stabilised["violation_without"]
        assert 0 < max(abs(np.subtract(way.stabilised["angles"], way.angles))) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("orientation", ["relative", "absolute"])
@pytest.mark.parametrize(("links", "option"), [(1, "A"), (1, "B"), (2, "A"), (2, "B")])
def test_the_naive_way_moves_as_the_engine(links, option, orientation):
    answer, truth = (measured(m, o, links, option, 4) for m, o in (("naive", orientation), ("engine", "relative")))
    assert max(map(abs, truth.ways[0].angles)) > 1e-4
    np.testing.assert_allclose(answer.ways[0].angles, truth.ways[0].angles, rtol=0, atol=1e-14)
    np.testing.assert_allclose(answer.ways[0].rates, truth.ways[0].rates, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("links", "option", "orientation"),
    [(1, "A", "relative"), pytest.param(2, "B", "absolute", marks=pytest.mark.slow)],
)
def test_the_naive_way_moves_as_the_reference(links, option, orientation):
    answer = measured("naive", orientation, links, option)
    np.testing.assert_allclose(answer.ways[0].angles, ANGLES[links, option], rtol=0, atol=1e-13)


def test_symmetric_systems_are_solved_without_pivots():
    random = np.random.default_rng(1)
    X, J = random.normal(size=(5, 5)), random.normal(size=(3, 5))
    A = np.block([[X @ X.T + np.eye(5), J.T], [J, np.zeros((3, 3))]])
    b = random.normal(size=8)
    expected = np.linalg.solve(A, b)
    solve_symmetric(np.tril(A), b)
    np.testing.assert_allclose(b, expected, rtol=0, atol=1e-12)


# ------------------------------------------------------------ processes of their own

CASE = {"method": "naive", "orientation": "relative", "links": 1, "option": "A", "steps": 2}


def test_a_process_tells_and_answers():
    heard = []
    outcome = run_fresh("saltus.bench.orientations.case", CASE, limit=100, hear=heard.append)
    assert outcome.error is None and not outcome.late
    assert [facts["steps"] for facts in heard if "steps" in facts] == [1, 2]
    assert outcome.facts["answer"]["ways"][0]["name"] == "SymPy"


@pytest.mark.slow
def test_a_process_is_ended_at_the_limit():
    outcome = run_fresh("saltus.bench.orientations.case", {**CASE, "steps": 100_000}, limit=4)
    assert outcome.late and outcome.error is None
    assert "answer" not in outcome.facts


def test_a_process_that_fails_says_why():
    outcome = run_fresh("saltus.bench.orientations.case", {**CASE, "method": "guess"}, limit=100)
    assert outcome.error == "KeyError: 'guess'" and not outcome.late


# ------------------------------------------------------------ what is measured, and in what order


def answer_of(case, angles=None, seconds=1.0):
    way = {"name": "code", "modelling": {}, "simulation": seconds, "repeats": 1, "rates": [0.0] * case["links"]}
    ways = [way | {"name": name, "angles": angles or [0.1] * case["links"]} for name in WAYS[case["method"]]]
    operations = {"M": 1, "bias": 2, "all": 3} if case["method"] == "equations" else None
    return {"answer": {"modelling": {"model": seconds}, "ways": ways, "operations": operations}}


WAYS = {"naive": ["SymPy"], "equations": ["Python", "Numba"], "engine": ["kernels"]}
for _way in ("Python", "Numba"):
    assert _way in plot.STYLES


class Silent:
    """An activity that shows nothing."""

    def progress(self, what):
        return lambda fraction: None

    def end(self, what):
        pass


def measure_with(monkeypatch, plan, outcome_of):
    """What a plan finds, and the cases in their order, if processes answered at once."""
    seen = []

    def run(module, case, **options):
        seen.append(case)
        return outcome_of(case) or Outcome(answer_of(case), "")

    monkeypatch.setattr(orientations, "run_fresh", run)
    return orientations.measure(plan, Silent()), seen


def plan_of(links=3, **changes):
    plan = {"links": links, "steps": 5, "option": "A", "naive_links": links, "engine_links": (), "limit": 9.0}
    return Plan(**{**plan, "seed": 0, "processes": 1, "cold": False, **changes})


def test_the_order_is_random_within_each_number_of_links(monkeypatch):
    found, seen = measure_with(monkeypatch, plan_of(2, engine_links=(7,), processes=2), lambda case: None)
    assert [case["links"] for case in seen] == [1] * 10 + [2] * 10 + [7] * 2
    assert [(r.links, r.method, r.orientation, r.way) for r in found.rows][:9] == [
        (1, "naive", "relative", "SymPy"),
        (1, "naive", "absolute", "SymPy"),
        *((1, "equations", o, w) for o in KINDS for w in ("Python", "Numba")),
        (1, "engine", "relative", "kernels"),
    ]
    assert found.rows[-1].links == 7 and found.rows[-1].processes == 2
    again = measure_with(monkeypatch, plan_of(2, engine_links=(7,), processes=2), lambda case: None)[1]
    other = measure_with(monkeypatch, plan_of(2, engine_links=(7,), processes=2, seed=1), lambda case: None)[1]
    assert seen == again and seen != other


def test_what_exceeds_the_limit_grows_no_more(monkeypatch):
    def late(case):
        if case["method"] == "naive" and case["orientation"] == "relative" and case["links"] == 2:
            return Outcome({"modelling": 0.5, "steps": 3}, "", late=True)
        return None

    found, seen = measure_with(monkeypatch, plan_of(4), late)
    naive_relative = [c["links"] for c in seen if (c["method"], c["orientation"]) == ("naive", "relative")]
    assert naive_relative == [1, 2]
    assert [c["links"] for c in seen if (c["method"], c["orientation"]) == ("naive", "absolute")] == [1, 2, 3, 4]
    (note,) = found.notes
    assert note.startswith(
        "naive, relative, 2 links: not finished within the limit of 9 s (after 0.5 s of modelling, 3 "
    )
    assert not [r for r in found.rows if r.method == "naive" and r.orientation == "relative" and r.links > 1]


def test_failures_and_warnings_are_told(monkeypatch):
    def fails(case):
        if case["orientation"] == "maximal":
            return Outcome({}, "trace\nModelError: no", error="ModelError: no")
        return Outcome(answer_of(case), "UserWarning: slow\n") if case["method"] == "engine" else None

    found, _ = measure_with(monkeypatch, plan_of(1), fails)
    assert found.notes == ["equations, maximal, 1 link: failed, ModelError: no"]
    assert found.warnings == ["the numeric engine, 1 link: UserWarning: slow"]


def test_without_the_engine_nothing_is_reported(monkeypatch):
    gone = lambda case: Outcome({}, "", late=True) if case["method"] == "engine" else None  # noqa: E731
    with pytest.raises(SaltusError, match=r"nothing was measured: .*the numeric engine, 1 link: not finished"):
        measure_with(monkeypatch, plan_of(2), gone)


def test_plans_must_make_sense():
    usual = {"links": None, "steps": None, "option": "A", "naive_links": None, "limit": 9.0, "seed": 0, "quick": False}
    plan = planned(**usual)
    assert (plan.links, plan.steps, plan.naive_links, plan.engine_links) == (10, 100, 10, (20, 50, 100)) and plan.cold
    assert planned(**usual | {"quick": True}).links == 2
    assert planned(**usual | {"links": 60}).engine_links == (100,)
    for wrong, said in (
        ({"links": 0}, "links must be at least 1, got 0"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"naive_links": -1}, "naive-links must be at least 0"),
        ({"links": 3, "naive_links": 4}, "naive-links must be at most links, 3, got 4"),
        ({"option": "C"}, "option must be A .* or B .*, got 'C'"),
        ({"limit": math.nan}, "limit must be a positive number of seconds"),
        ({"limit": 0.0}, "limit must be a positive number of seconds"),
    ):
        with pytest.raises(OptionError, match=said):
            planned(**usual | wrong)


# ------------------------------------------------------------ what is said


def row(method, orientation, links, way, modelling, simulation, operations=0, angle=0.1):
    counts = {"M": 0, "bias": 0, "all": operations} if operations else None
    values = [angle] * links
    parts = {"model": 0.0, "code": modelling}
    return Row(method, orientation, links, way, parts, simulation, counts, values, values, math.nan, False, 1)


def some_rows():
    out = []
    for n in (1, 2, 3):
        rows = [row("engine", "relative", n, "kernels", 0.3, 0.001)]
        for kind, modelling, simulation in (("relative", 1.0, 10.0 * n), ("absolute", 1.0, 8.0 * n)):
            rows.append(row("naive", kind, n, "SymPy", modelling, simulation))
        # absolute: fewer operations from 2 links on, the same modelling; maximal: fewer operations, slower
        for kind, operations, seconds in (
            ("relative", 10 * n**2, 1e-3),
            ("absolute", 10 * n, 2e-3),
            ("maximal", 5, 5e-3),
        ):
            rows.append(row("equations", kind, n, "Python", 0.01, seconds, operations))
        out += judged(rows, [])
    return out


def test_conclusions_follow_from_the_figures():
    said = "\n".join(report.conclusions(some_rows()))
    assert (
        "relative angles, 3 links: naive 31 s, derived 11 ms in all, 2 800 x; simulation 30 s and 1 ms, 30 000 x"
        in said
    )
    assert (
        "absolute angles against relative ones, with 3 links: less in operations, simulation naive; "
        "more in simulation Python; alike in modelling Python, modelling naive" in said
    )
    assert "  operations: less at 2 and 3 links, alike at 1 link; at 3 links 30 and 90, 3 x less" in said
    assert "  simulation Python: more at 1 to 3 links; at 3 links 2 ms and 1 ms, 2 x more" in said
    assert (
        "joint coordinates, in the better angles, against maximal ones, with 3 links: less in simulation Python; "
        "more in operations; alike in modelling Python" in said
    )


def test_what_moves_otherwise_is_wrong_and_not_timed():
    rows = judged(
        [
            row("engine", "relative", 2, "kernels", 0.3, 0.001),
            row("equations", "relative", 2, "Python", 0.01, 0.001, 10),
            row("equations", "absolute", 2, "Python", 0.01, 0.001, 10, angle=0.1 + 1e-5),
        ],
        [],
    )
    assert [r.right for r in rows] == [True, True, False]
    assert rows[2].difference == pytest.approx(1e-5)
    assert "absolute" not in "\n".join(report.conclusions(rows))
    cells = [report._cells(group, rows) for group in report.grouped(rows)]
    assert "wrong" in cells[2] and "1 ms" not in cells[2] and "1 ms" in cells[1]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([1], "1 link"),
        ([2], "2 links"),
        ([1, 4], "1 and 4 links"),
        ([2, *range(5, 11)], "2 and 5 to 10 links"),
        ([1, 2, 3, 5, 7, 8], "1 to 3, 5, 7 and 8 links"),
    ],
)
def test_places(numbers, text):
    assert report.places(numbers) == text


def test_the_figure_has_the_lectures_labels_and_colours():
    from matplotlib.colors import same_color

    figure = plot.draw(plan_of(3), Found(some_rows()))
    lecture, modelling, simulation = figure.axes
    assert lecture.get_title().startswith("Time Taken to Simulate for Different Numbers of Links")
    assert (lecture.get_xlabel(), lecture.get_ylabel()) == ("Number of Links", "Simulation Time (s)")
    assert lecture.get_xlim() == (0, 4)
    lines = {line.get_label(): line for line in lecture.lines}
    assert same_color(lines["Absolute"].get_color(), "xkcd:green") and same_color(
        lines["Relative"].get_color(), "xkcd:red"
    )
    assert lines["Relative"].get_ydata().tolist() == [11.0, 21.0, 31.0]
    assert modelling.get_yscale() == simulation.get_yscale() == "log"
    assert {line.get_label() for line in simulation.lines} >= {"Maximal, Python", "Numeric engine", "Relative, naive"}
    without = plot.draw(plan_of(3), Found([r for r in some_rows() if r.method != "naive"]))
    assert len(without.axes) == 2


# ------------------------------------------------------------ the command


@pytest.mark.slow
def test_the_command_measures_and_writes(saltus_command, tmp_path):
    figures, picture = tmp_path / "b.json", tmp_path / "b.png"
    arguments = ("--quick", "--links", "1", "--steps", "3", "--option", "B", "--json", figures, "--plot", picture)
    code, out, err = saltus_command("bench", "orientations", *arguments)
    assert code == 0, err
    assert "a torque of 5 sin(8 pi t) N m between the last two links" in out and "numeric engine" in out
    content = json.loads(figures.read_text())
    assert content["plan"]["option"] == "B" and content["machine"]["cores"] >= 1
    ways = {(r["method"], r["orientation"], r["way"]) for r in content["rows"]}
    assert ways == {
        *(("naive", o, "SymPy") for o in ("relative", "absolute")),
        *(("equations", o, w) for o in KINDS for w in ("Python", "Numba")),
        ("engine", "relative", "kernels"),
    }
    for r in content["rows"]:
        assert r["right"] and r["total"] == pytest.approx(r["modelling_time"] + r["simulation"])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_finds_what_is_wrong_first(saltus_command, tmp_path):
    for arguments, said in (
        (("--option", "C"), "option must be A"),
        (("--limit", "-1"), "limit must be a positive number"),
        (("--json", tmp_path), "directory"),
        (("--plot", Path("figure.txt")), "the suffix of a figure must be one of .png, .svg, .pdf"),
    ):
        code, _, err = saltus_command("bench", "orientations", *arguments)
        assert code == 1 and said in err
    assert saltus_command("bench", "orientations", "--links", "0")[0] == 2
