"""Mutants, which are faults planted where they mean something, are told found, survived, invalid or hanging.

Reference: kernels of one line with tests that see some of their faults, known beforehand. Run `helpers.mutants` for
those of the package.
"""

import contextlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import mutants
from helpers.changed_copies import Copy
from helpers.mutant_faults import KINDS, fault, places_in
from helpers.mutant_tests import PACKAGE, TESTS, also_plain, function_tests, likely_tests
from helpers.mutant_verdicts import NOT_RUN

KERNELS = '''
def kernel(function):
    return function


@kernel
def half(x):
    """Half of x."""
    return x / 2.0


@kernel
def clipped(x):
    while x < 0.0:
        x = 0.0
    return x


def plain(x):
    return x + 1
'''
TEST = """
from saltus.kernels import clipped, half


def test_half():
    assert half(3.0) == 1.5


def test_clipped():
    assert clipped(-1.0) == 0.0 and clipped(1.0) == 1.0
"""


def faults_of(path):
    """{(kind, statement after): fault} of a file."""
    found = [fault(path, k) for k in range(len(places_in(path)))]
    return {(made.kind, made.after): made for made in found if made}


@pytest.fixture
def planted(tmp_path):
    """A package of two kernels, and a trial with its test, which lets a test run for two seconds."""
    package = tmp_path / "package"
    package.mkdir()
    for name, text in (("__init__", ""), ("kernels", KERNELS)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "test_kernels.py").write_text(TEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long", encoding="utf-8")
    with contextlib.closing(Copy(tmp_path / "copy", package, ahead=("pytest",))) as copy:
        yield package / "kernels.py", mutants.Trial(copy, tmp_path, mutants.Limits(2.0, 3600.0))


def test_verdicts(planted):
    """A fault is found by a test, a loop without end by its time; what cannot be imported is no fault."""
    path, trial = planted
    ends = {
        ("swapped operands", "return 2.0 / x"): (mutants.FOUND, "test_kernels.py::test_half", 1),
        ("missing statement", "pass"): (mutants.FOUND, "test_kernels.py::test_clipped (hang)", 2),
        ("constant", "x = 1.0"): (mutants.FOUND, "test_kernels.py::test_clipped", 2),
    }
    made = faults_of(path)
    tests = [[path.parents[1] / "test_kernels.py"]]
    found = {name: trial.verdict(Path("kernels.py"), made[name], tests) for name in ends}
    assert found == {name: mutants.Verdict(*end) for name, end in ends.items()}
    broken = made["constant", "while x < 1.0:"]._replace(text="from saltus import nothing")
    assert trial.verdict(Path("kernels.py"), broken, tests).kind == mutants.INVALID
    unseen = trial.verdict(Path("kernels.py"), made["swapped operands", "return 2.0 / x"], [])
    assert unseen == mutants.Verdict(mutants.SURVIVED, "", 0)


def test_a_test_that_fails_without_a_fault_is_told(planted):
    path, trial = planted
    bad = path.parents[1] / "test_bad.py"
    bad.write_text("def test_bad():\n    assert False", encoding="utf-8")
    with pytest.raises(RuntimeError, match="test_bad fails without a fault"):
        trial.verdict(Path("kernels.py"), faults_of(path)["constant", "while x < 1.0:"], [[bad]])


PLAIN_KERNELS = (
    KERNELS
    + """

@kernel
def unused(x):
    return x - 2.0


@kernel
def branched(x):
    if x > 0.0:
        return 2.0 * x
    return x - 1.0


def doubling(factor):
    @kernel
    def doubled(x):
        return factor * x + 1.0

    return doubled


double = doubling(2.0)
"""
)
PLAIN_TEST = """
from kernels import branched, clipped, double


def test_clipped():
    assert clipped(-1.0) == 0.0


def test_others():
    assert branched(1.0) == 2.0 and double(2.0) == 5.0
"""
ALSO_TEST = """
from kernels import half


def test_half():
    assert half(3.0) == 1.5


def test_that_needs_more():
    raise NotImplementedError


def test_without_end():
    while True:
        half(1.0)
"""
JUDGED = """
import sys
from pathlib import Path
from helpers.mutant_faults import fault, places_in
from helpers.mutant_verdicts import Limits
from helpers.plain_mutants import judge

def tell(file, made, verdict, seconds):
    print("told", made.kernel, made.after, verdict.kind, verdict.told, verdict.tests, sep="|")

if __name__ == "__main__":
    folder, path = Path.cwd(), Path("kernels.py")
    made = [fault(folder / path, k) for k in range(len(places_in(folder / path)))]
    faults, also = [(path, x) for x in made if x], (folder / "test_also.py",)
    judge(folder, [folder / "test_kernels.py"], faults, Limits(0.5, 60.0), tell, 1, also)
"""
TOLD = {
    ("half", "return 2.0 / x"): ("found", "test_also.py::test_half", 1),
    ("unused", "return x + 2.0"): ("not run", "no test runs this kernel", 0),
    ("branched", "return x + 1.0"): ("not run", "no test runs this statement", 0),
    ("branched", "return 4.0 * x"): ("found", "test_kernels.py::test_others", 1),
    ("branched", "if x >= 0.0:"): ("survived", "", 1),
    ("branched", "if x > 1.0:"): ("found", "test_kernels.py::test_others", 1),
    ("doubled", "return factor * x - 1.0"): ("found", "test_kernels.py::test_others", 1),
    ("doubled", "return 1.0 + 0"): ("found", "test_kernels.py::test_others", 1),
    ("clipped", "pass"): ("found", "test_kernels.py::test_clipped (hang)", 1),
    ("clipped", "while x <= 0.0:"): ("found", "test_kernels.py::test_clipped (hang)", 1),
}


def judged_in_plain_python(folder):
    """What a process of its own says of all faults of the kernels: {(kernel, after): (kind, told, tests)}."""
    (folder / "kernels.py").write_text(PLAIN_KERNELS, encoding="utf-8")
    (folder / "test_also.py").write_text(ALSO_TEST, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .", encoding="utf-8")
    paths = [str(TESTS), str(TESTS.parent)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = {paths}\n{JUDGED}"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("told|")]
    return {(kernel, after): (kind, why, int(n)) for _, kernel, after, kind, why, n in lines}, done.stderr


def test_faults_judged_in_plain_python(tmp_path):
    """Each statement is judged by the tests that run it alone; what none runs is told, and a loop without end is found.

    A weakened condition survives where no test is at its boundary. Of tests that are compiled elsewhere those that fail
    without a fault, or take long, are left out.
    """
    (tmp_path / "test_kernels.py").write_text(PLAIN_TEST, encoding="utf-8")
    found, error = judged_in_plain_python(tmp_path)
    assert {name: found.get(name) for name in TOLD} == TOLD, error


def test_a_test_that_fails_without_a_fault_ends_the_judgement(tmp_path):
    (tmp_path / "test_kernels.py").write_text(PLAIN_TEST + "    assert double(1.0) == 4.0", encoding="utf-8")
    found, error = judged_in_plain_python(tmp_path)
    assert not found and "test_others fails without a fault" in error


def test_what_plain_python_misses_is_judged_once_more(monkeypatch, capsys):
    """By compiled tests, those in plain Python left out; what is found at once is not."""
    kinds = {0: mutants.FOUND, 1: mutants.SURVIVED, 2: NOT_RUN}

    def judge(package, tests, asked, limits, tell, processes, also):
        for k, (file, made) in enumerate(asked):
            tell(file, made, mutants.Verdict(kinds[k], f"plain {k}", 1), 0.0)

    def verdict(self, file, made, tests, slow):
        assert not slow and not any(test.name.startswith("test_plain_") for stage in tests for test in stage)
        return mutants.Verdict(mutants.SURVIVED, "compiled", 1)

    for name, value in {"judge": judge, "explained": list, "linked_cache": lambda place: None}.items():
        monkeypatch.setattr(mutants, name, value)
    monkeypatch.setattr(mutants, "Copy", lambda place: SimpleNamespace(close=lambda: None))
    monkeypatch.setattr(mutants.Trial, "verdict", verdict)
    assert mutants.main(["sense/subtree.py", "--plain", "--then-compiled", "--count", "3"]) == 1
    told = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("    ")]
    assert [line.partition(";")[0] for line in told] == ["plain 0", "compiled", "compiled"]
    with pytest.raises(SystemExit):
        mutants.parsed(["sense", "--then-compiled"])


EACH = '''
@kernel
def kernel_of_all(m, d, a, b):
    """Not changed: 1.0 here, has, the zero of 0.0 * a."""
    zero = 0.0 * a
    d.x[0] = a - b / 2.0
    if has(m, "word"):
        d.x[a + 1] += 1
    while a > 1e-9:
        a = minimum(a, -b)
    for k in range(3):
        if a and b:
            break
    return where(a <= b, a, zero)
'''
EXPECTED = {
    ("missing statement", "pass"),
    ("sign", "d.x[0] = a + b / 2.0"),
    ("sign", "d.x[a - 1] += 1"),
    ("sign", "d.x[a + 1] -= 1"),
    ("sign", "a = minimum(a, +b)"),
    ("missing term", "d.x[0] = a + 0"),
    ("missing term", "d.x[a + 0] += 1"),
    ("missing term", "d.x[1 + 0] += 1"),
    ("swapped operands", "d.x[0] = b / 2.0 - a"),
    ("swapped operands", "d.x[0] = a - 2.0 / b"),
    ("index", "d.x[1] = a - b / 2.0"),
    ("index", "d.x[a + 1 + 1] += 1"),
    ("index", "d.x[a + 1 - 1] += 1"),
    ("constant", "d.x[0] = a - b / 4.0"),
    ("constant", "d.x[a + 1] += 2"),
    ("constant", "d.x[a + 2] += 1"),
    ("constant", "for k in range(4):"),
    ("weakened condition", "while a >= 1e-09:"),
    ("weakened condition", "return where(a < b, a, zero)"),
    ("negated condition", "while not a > 1e-09:"),
    ("negated condition", "if not (a and b):"),
    ("negated condition", "return where(a <= b, zero, a)"),
    ("other condition", "if a or b:"),
    ("min and max", "a = maximum(a, -b)"),
}


def test_all_faults_of_a_kernel(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(EACH, encoding="utf-8")
    found = faults_of(path)
    assert found.keys() == EXPECTED
    for made in found.values():
        compile(made.text, "text", "exec")
    assert found["sign", "d.x[0] = a + b / 2.0"][:4] == ("kernel_of_all", 6, "sign", "d.x[0] = a - b / 2.0")


NO_KERNELS = """
def kernel(function):
    return function


@kernel
def half(x):
    return x - 1.0


class Number:
    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __sub__(self, other):
        def difference(x, y):
            return x - y
        return Number(difference(self.value, other.value), self.slope - other.slope)


def lowered(builder, x, y):
    return builder.fadd(builder.fneg(x), y)


SLOPES = {"cos": lambda x: -sin(x)}
"""
SIGNS = {
    ("__sub__", "return Number(difference(self.value, other.value), self.slope + other.slope)"),
    ("difference", "return x + y"),
    ("lowered", "return builder.fsub(builder.fneg(x), y)"),
    ("lowered", "return builder.fadd(builder.fneg(builder.fneg(x)), y)"),
    ("<table>", "SLOPES = {'cos': lambda x: +sin(x)}"),
}


def test_faults_of_what_is_no_kernel(tmp_path):
    """In methods, functions inside others and tables of functions, and in what writes intermediate code; no kernels."""
    path = tmp_path / "numbers.py"
    path.write_text(NO_KERNELS, encoding="utf-8")
    made = [fault(path, k, functions=True) for k, (kind, _) in enumerate(places_in(path, True)) if kind == "sign"]
    assert {(x.kernel, x.after) for x in made} == SIGNS
    assert len({x.text for x in made}) == len(SIGNS)


NUMBER_TEST = """
from numbers_of_test import SLOPES, Number


def test_slope():
    assert (Number(1.0, 5.0) - Number(2.0, 3.0)).slope == 2.0


def test_difference():
    assert (Number(1.0, 5.0) - Number(0.0, 3.0)).value == 1.0


def test_table():
    assert SLOPES["cos"](1.0) < 0.0
"""


def test_faults_of_functions_are_judged_by_tests_that_run_them(tmp_path):
    """A difference from zero shows no sign; the slope and the table have tests that do, and no test writes code."""
    text = NO_KERNELS.replace("def kernel", "from math import sin\n\n\ndef kernel", 1)
    (tmp_path / "numbers_of_test.py").write_text(text, encoding="utf-8")
    (tmp_path / "test_numbers_of_test.py").write_text(NUMBER_TEST, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .", encoding="utf-8")
    program = JUDGED.replace("kernels.py", "numbers_of_test.py")
    program = program.replace("fault(folder / path, k)", "fault(folder / path, k, True)")
    program = program.replace("places_in(folder / path)", "places_in(folder / path, True)")
    program = program.replace("tell, 1, also)", "tell, 1, (), True)")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = {[str(TESTS), str(TESTS.parent)]}\n{program}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("told|")]
    found = {(kernel, after): (kind, why.partition("::")[2]) for _, kernel, after, kind, why, _ in lines}
    assert {name: found.get(name) for name in SIGNS} == {
        ("__sub__", "return Number(difference(self.value, other.value), self.slope + other.slope)"): (
            "found",
            "test_slope",
        ),
        ("difference", "return x + y"): ("survived", ""),
        ("lowered", "return builder.fsub(builder.fneg(x), y)"): ("not run", ""),
        ("lowered", "return builder.fadd(builder.fneg(builder.fneg(x)), y)"): ("not run", ""),
        ("<table>", "SLOPES = {'cos': lambda x: +sin(x)}"): ("found", "test_table"),
    }, done.stderr


def test_kinds_of_faults_are_chosen_by_name():
    files = mutants.sources(["sense/subtree.py"])
    of_kind = [made for _, made in mutants.sample(files, 10_000, 1, ("sign", "index"))]
    assert {made.kind for made in of_kind} == {"sign", "index"}
    assert {made.kind for made in faults_in("sense/subtree.py")} <= {*KINDS}
    assert mutants.parsed(["sense", "--kinds", "sign,missing term"]).kinds == ("sign", "missing term")
    for wrong in (["sense", "--kinds", "signs"], ["simulate", "--functions", "--plain"]):
        with pytest.raises(SystemExit):
            mutants.parsed(wrong)


def test_tests_of_functions_are_near():
    found = function_tests(Path("simulate/gradients/reverse_number.py"))
    assert TESTS / "simulate/gradients/test_reverse_number.py" in found
    assert TESTS / "simulate/gradients/test_run_gradient.py" in found
    users = function_tests(Path("simulate/gradients/differentiated_number.py"))
    assert TESTS / "control/trajectory/test_quadratic_number.py" in users


def test_a_seed_gives_the_same_faults_again():
    files = mutants.sources(["sense/subtree.py"])
    first, again, other = (list(mutants.sample(files, 5, seed)) for seed in (1, 1, 2))
    assert first == again != other and len(first) == 5
    line = first[0][1].line
    assert {made.line for _, made in mutants.sample(mutants.sources([f"sense/subtree.py:{line}"]), 99, 1)} == {line}
    assert len(list(mutants.sample(files, 10_000, 1))) == len(faults_in("sense/subtree.py"))


def faults_in(name):
    path = PACKAGE / name
    return [made for made in (fault(path, k) for k in range(len(places_in(path)))) if made]


def test_near_tests_come_first():
    stages = likely_tests(Path("dynamics/tree/rnea.py"))
    assert {test.name for test in stages[0]} >= {"test_plain_python.py", "test_plain_hard_contact.py"}
    assert all(test.name.startswith("test_plain_") for test in stages[0])
    assert stages[1][0] == TESTS / "dynamics/tree/test_rnea.py"
    assert stages[-1] == [TESTS / "test_truth_table.py"]
    every = [test for stage in stages for test in stage]
    assert len(every) == len({*every}) and {*every} >= {*(TESTS / "dynamics").rglob("test_*.py")}
    assert likely_tests(Path("dynamics/tree/rnea.py"), with_all=True)[-1][-1] == TESTS / "test_bits.py"


def test_files_that_are_also_tried_in_plain_python_exist():
    assert [path for path in also_plain() if not path.is_file()] == []


def test_files_that_extend_the_compiler_are_left_out():
    assert mutants.sources(["dynamics/control.py"]) == {}
    with pytest.raises(SystemExit, match="no room or file"):
        mutants.sources(["dynamics/nowhere"])


def test_explained_survivors_are_in_the_sources():
    """Each names a fault that can be planted today, and says why no test sees it."""
    for entry in mutants.explained():
        path, before = PACKAGE / entry["file"], entry["before"].replace("(", "")  # tuples have none in the sources
        lines = [line.replace("(", "").strip() for line in path.read_text(encoding="utf-8").splitlines()]
        begun = (before[:12] in line or (line == "return" and before.startswith(line)) for line in lines)
        near = {k + n for k, begins in enumerate(begun, 1) if begins for n in range(5)}
        made = (fault(path, k) for k, (_, line) in enumerate(places_in(path)) if line in near)
        same = any(x and mutants.is_explained(Path(entry["file"]), x, [entry]) for x in made)
        assert same, f"no such fault any more: {entry}"
        assert len(entry["reason"]) > 20


def test_the_summary_counts_by_room():
    """Wilson's interval for 3 of 4, z = 1.96: (0.75 + z²/8 ± z sqrt(0.75 · 0.25 / 4 + z²/64)) / (1 + z²/4)."""
    ends = [("solve", mutants.FOUND)] * 3 + [("solve", NOT_RUN), ("sense", mutants.INVALID)]
    lines = mutants.summary(ends).splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["sense", "1", "0", "0", "0", "0", "1", "0", "-"],
        ["solve", "4", "3", "0", "1", "0", "0", "0", "75", "%", "(30", "to", "95", "%)"],
    ]
    assert lines[3].split()[:2] == ["all", "5"]
