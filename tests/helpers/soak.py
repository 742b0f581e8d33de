"""A soak: mutants of all that Saltus takes, for as long as one likes; each is accepted, or refused by name.

    PYTHONPATH=tests:. python -m helpers.soak --minutes 60 [--soak-seed N] [--kinds mjcf,urdf]
    PYTHONPATH=tests:. python -m helpers.soak KIND SEED

The first, which `./check --soak MINUTES` calls, tries mutants in one process a core and prints counts by kind. Faults
are errors that are not of Saltus (raw), processes that end by themselves (crash), and what takes longer than 20 s of
the processor without compiling, twice (hang); each is printed with the command that repeats it, and then the exit
status is 1. The second tries one mutant in this process, prints its outcome, and leaves its files in a folder.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from helpers.soaking.kinds import KINDS, PLANTED, kind_of
from helpers.soaking.outcomes import outcome
from helpers.soaking.workers import Task, attempts

LIMIT = 20.0  # s
FAULTS = ("raw", "crash", "hang")
RESULTS = ("accepted", "refused", *FAULTS)
SHOWN = 5  # faults of a kind that are printed with all that is known of them


def repeating(task: Task) -> str:
    """The command that tries a mutant again."""
    return f"PYTHONPATH=tests:. python -m helpers.soak {task[0]} {task[1]}"


def soak(tasks: Iterable[Task], workers: int, limit: float, seconds: float) -> Counter[tuple[str, str]]:
    """Number of mutants by kind and end, {(kind, result): count}; faults are printed as they are found."""
    found: Counter[tuple[str, str]] = Counter()
    for task, ended in attempts(iter(tasks), workers, limit, time.monotonic() + seconds):
        found[task[0], ended.result] += 1
        if ended.result in FAULTS:
            known = ended.text.strip() if found[task[0], ended.result] <= SHOWN else ended.text.strip()[-200:]
            print(f"{ended.result}: {repeating(task)}\n{known}\n", flush=True)
    return found


def table(found: Counter[tuple[str, str]]) -> str:
    """The counts as text, a line a kind."""
    kinds = sorted({kind for kind, _ in found})
    lines = [f"{'kind':16}{'tried':>10}" + "".join(f"{result:>10}" for result in RESULTS)]
    for kind in [*kinds, "all"]:
        counts = [sum(n for (k, r), n in found.items() if r == result and kind in (k, "all")) for result in RESULTS]
        lines.append(f"{kind:16}{sum(counts):>10}" + "".join(f"{n:>10}" for n in counts))
    return "\n".join(lines)


def repeat(kind: str, seed: int) -> int:
    """Try one mutant here: 1 if it is a fault."""
    folder = Path(tempfile.mkdtemp(prefix=f"saltus-soak-{kind}-"))
    kind_of(kind).prepare()
    ended = outcome(kind_of(kind), seed, folder)
    print(f"{ended.result}: {ended.text}" if ended.text else ended.result)
    print(f"its files: {folder}") if any(folder.iterdir()) else folder.rmdir()
    return int(ended.result in FAULTS)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m helpers.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kind", nargs="?", choices=[*KINDS, *PLANTED], metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("seed", nargs="?", type=int, metavar="SEED", default=0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--soak-seed", type=int, metavar="N", default=0, help="seed of the first mutant")
    parser.add_argument("--kinds", default=",".join(KINDS), help="only these, with commas")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="longer than this is a hang")
    given = parser.parse_args(arguments)
    if given.kind:
        return repeat(given.kind, given.seed)
    names = given.kinds.split(",")
    if unknown := {*names} - {*KINDS, *PLANTED}:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    tasks = zip(itertools.cycle(names), itertools.count(given.soak_seed), strict=False)
    found = soak(tasks, given.workers, given.limit, 60.0 * given.minutes)
    print(table(found))
    return int(any(result in FAULTS for _, result in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
