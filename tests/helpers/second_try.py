"""A second try, alone, for tests that failed beside others: `python -m helpers.second_try CACHE [pytest's arguments]`.

CACHE is pytest's `cache_dir` of the runs before, which names the tests that failed. They run once more in one process.
Those that pass now are unsteady: a busy machine held them up, or another test did. They do not fail the run; they are
listed by name in the last lines, and in the file that the environment variable SALTUS_UNSTEADY names. A defect that
shows twice fails the run as before, and so do more failures than a busy machine explains.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

MOST = 20  # failures that are tried again; more of them have a cause of their own


def failed(cache):
    """Node ids of the tests that failed in the last runs with this cache."""
    path = Path(cache) / "v" / "cache" / "lastfailed"
    return sorted(json.loads(path.read_text())) if path.exists() else []


def second_try(cache, arguments):
    """Run what failed again: 0 if all of it passes."""
    before = failed(cache)
    if not before:
        return 0
    if others := [name for name in before if "::" not in name]:
        print(f"not collected: {', '.join(others)}")  # whole files, or what a worker of pytest-xdist found
        return 1
    if len(before) > MOST:
        print(f"{len(before)} tests failed, more than the {MOST} that are tried again")
        return 1
    print(f"second try, alone, of {len(before)} that failed", flush=True)
    again = ["--last-failed", "--last-failed-no-failures=none", "-o", f"cache_dir={cache}", *arguments]
    status = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:xdist", *again]).returncode
    unsteady = sorted({*before} - {*failed(cache)}) if status in (0, 1) else []
    lines = [f"unsteady: {name}" for name in unsteady]
    if lines:
        print("\n".join(lines))
        if path := os.environ.get("SALTUS_UNSTEADY"):
            with open(path, "a") as file:
                file.writelines(f"{line}\n" for line in lines)
    return status


if __name__ == "__main__":
    sys.exit(second_try(sys.argv[1], sys.argv[2:]))
