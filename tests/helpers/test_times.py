"""Time of the tests by kind: `PYTHONPATH=tests python -m helpers.test_times [--write] [pytest's arguments]`.

Runs pytest with them and prints, by part of the tests, how long it imported, compiled (Numba's front end, LLVM), loaded
compiled code, ran, waited, and what its sub-processes took; then the kernels whose compilation took longest, of how
many specialisations, and the slowest tests. Works with pytest-xdist (`-n 2`), whose processes are added up.

`--write`: into CONTRIBUTING.md, too, in place of the table that is there.
`--command ./check --all`: of a command that runs pytest, once or several times.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from helpers.time_plugin import COUNTED, FOLDER, FRONT, LLVM, START, part_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- times of the tests: begin -->", "<!-- times of the tests: end -->"
KINDS = (*COUNTED, "running", "children", "waiting")
HEADS = ("front end", "LLVM", "loading", "importing", "running", "sub-processes", "waiting")
KERNELS, TESTS = 20, 30  # lines of the longer tables


def measured(command):
    """Run a command that runs pytest: its status, and what the processes of pytest wrote."""
    with tempfile.TemporaryDirectory() as folder:
        own = {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")])),
            "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} -p helpers.time_plugin".strip(),
        }
        status = subprocess.run(command, env={**os.environ, **own, FOLDER: folder}).returncode
        return status, [json.loads(file.read_text()) for file in sorted(Path(folder).glob("*.json"))]


def together(found):
    """Records of several processes as one: seconds of tests [name: {kind: s}], kernels [name: {seconds, keys}]."""
    tests, kernels = defaultdict(Counter), defaultdict(lambda: {"seconds": 0.0, "keys": []})
    for one in found:
        for name, seconds in one["tests"].items():
            tests[name].update(seconds)
        for name, kernel in one["kernels"].items():
            kernels[name]["seconds"] += kernel["seconds"]
            kernels[name]["keys"] += kernel["keys"]
    return tests, kernels


def _row(name, *cells):
    return f"| {' | '.join([str(name), *map(str, cells)])} |"


def _table(head, rows):
    return [_row(*head), _row("---", *["---:"] * (len(head) - 1)), *rows]


def parts_table(tests):
    """By part of the tests: how many tests, and seconds of each kind."""
    parts, count = defaultdict(Counter), Counter()
    for name, seconds in tests.items():
        part = START if name == START else part_of(name)
        parts[part].update(seconds)
        count[part] += name != START
    total = sum(parts.values(), Counter())
    rows = [
        _row(part, count[part], *[f"{seconds[kind]:.0f}" for kind in KINDS])
        for part, seconds in sorted(parts.items(), key=lambda item: -_whole(item[1]))
    ]
    rows.append(_row("**all**", sum(count.values()), *[f"{total[kind]:.0f}" for kind in KINDS]))
    return _table(("part", "tests", *HEADS), rows)


def _whole(seconds):
    """Everything that a test takes."""
    return sum(seconds[kind] for kind in KINDS)


def kernels_table(kernels, most=KERNELS):
    """The kernels whose compilation took longest: seconds, how often they were compiled, for how many keys."""
    worst = sorted(kernels.items(), key=lambda item: -item[1]["seconds"])[:most]
    rows = [
        _row(f"`{name.removeprefix('saltus.')}`", f"{k['seconds']:.1f}", len(k["keys"]), len({*k["keys"]}))
        for name, k in worst
    ]
    return _table(("kernel", "seconds", "compiled", "specialisations"), rows)


def tests_table(tests, most=TESTS):
    """The slowest tests, by the sum of all kinds, which are given in percent."""
    slow = sorted((item for item in tests.items() if item[0] != START), key=lambda item: -_whole(item[1]))[:most]
    rows = []
    for name, seconds in slow:
        whole = max(_whole(seconds), 1e-9)
        shares = [f"{100 * seconds[kind] / whole:.0f} %" for kind in KINDS]
        rows.append(_row(f"`{name.removeprefix('tests/')}`", f"{whole:.1f}", *shares))
    return _table(("test", "seconds", *HEADS), rows)


def compiled(kernels):
    """A line on all kernels together."""
    keys = [(name, key) for name, kernel in kernels.items() for key in kernel["keys"]]
    return (
        f"{sum(bool(k['keys']) for k in kernels.values())} kernels in {len({*keys})} specialisations, "
        f"compiled {len(keys)} times: more often where several processes needed one at the same time."
    )


def written(text, lines):
    """A page's text with these lines between the marks."""
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{PAGE.name} lacks the marks {BEGIN} and {END}")
    return "\n".join([before + BEGIN, *lines, END + after])


def main(arguments):
    """Measure, print, and write where asked to: pytest's status."""
    write = arguments[:1] == ["--write"]
    rest = arguments[write:]
    status, found = measured(rest[1:] if rest[:1] == ["--command"] else [sys.executable, "-m", "pytest", *rest])
    tests, kernels = together(found)
    parts = ["Seconds, of CPU time but for waiting:", "", *parts_table(tests)]
    print("\n".join(["", *parts]))
    if any(seconds[kind] > 0 for seconds in tests.values() for kind in (FRONT, LLVM)):
        print("\n".join(["", compiled(kernels), *kernels_table(kernels)]))
    print("\n".join(["", *tests_table(tests)]))
    if write:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(text, ["", *parts, "", compiled(kernels), ""]), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
