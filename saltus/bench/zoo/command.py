"""`saltus bench zoo`: every model of some folders beside MuJoCo, each in a process of its own.

The integrator, solver and cone of a file are used on both sides. Simulations begin at states that MuJoCo has
reached, different ones in a batch (see `saltus.bench.zoo.warmed`), and each side makes the same number of steps from
them, on one thread, in turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from saltus.bench.harness import machine
from saltus.bench.harness.fresh import run_fresh
from saltus.bench.zoo.finding import ModelFile, find_files, parts_of_others
from saltus.bench.zoo.report import markdown, print_report
from saltus.bench.zoo.rows import FAILED, NO_MODEL, NOT_LOADED, PART, STILL, ZooRow, as_json, row_of
from saltus.errors import OptionError
from saltus.record.files.atomic_write import check_writable, write_whole
from saltus.terminal import screen

WHAT = "benchmark"
RUN = "saltus.bench.zoo.model_run"


@dataclass(frozen=True)
class ZooEffort:
    """Amount of measurement.

    `n`: simulations of a batch; `least` (s): how long a timing lasts at least; `limit` (s): for one model, compiling
    included.
    """

    n: int = 32
    repeats: int = 5
    least: float = 0.05
    limit: float = 600.0


QUICK = {"n": 8, "least": 0.005}


def bench_zoo(
    places: Sequence[Path],
    *,
    patterns: Sequence[str] = (),
    quick: bool = False,
    limit: float = ZooEffort.limit,
    json_path: Path | None = None,
    markdown_path: Path | None = None,
    resume: bool = False,
) -> None:
    """Run the benchmark: measure, print tables, write JSON and Markdown; JSON is written anew after each model."""
    if limit <= 0.0:
        raise OptionError(f"limit must be positive, got {limit:g}")
    if resume and json_path is None:
        raise OptionError("--resume needs --json, the file to go on with")
    for path in (json_path, markdown_path):
        if path is not None:
            check_writable(path, what=WHAT)
    files = find_files(places, patterns)
    effort = ZooEffort(limit=limit, **(QUICK if quick else {}))
    about = machine.description(1)
    rows = _earlier(json_path, effort, about) if resume and json_path is not None and json_path.exists() else []
    _measure(files, find_files(places), rows, effort, about, json_path)
    print_report(rows, about, asdict(effort))
    if markdown_path is not None:
        write_whole(markdown_path, markdown(rows, about, asdict(effort)).encode(), what=WHAT)
        print(f"wrote {markdown_path}")
    if json_path is not None:
        print(f"wrote {json_path}")


def _measure(
    files: Sequence[ModelFile],
    all_files: Sequence[ModelFile],
    rows: list[ZooRow],
    effort: ZooEffort,
    about: Mapping[str, Any],
    json_path: Path | None,
) -> None:
    """Add the rows that are missing, one after the other."""
    parts = parts_of_others(all_files)
    done = {row.path for row in rows}
    with screen.Activity() as activity:
        for k, file in enumerate(files):
            if str(file.path) in done:
                continue
            what = f"measuring {file.name} ({k + 1} of {len(files)})"
            activity.progress(what)(k / len(files))
            rows.append(measured(file, effort, included=file.path in parts))
            activity.end(what)
            if json_path is not None:
                content = as_json(rows, about, asdict(effort))
                write_whole(json_path, (json.dumps(content, indent=1) + "\n").encode(), what=WHAT)


def measured(file: ModelFile, effort: ZooEffort, *, included: bool) -> ZooRow:
    """The row of a file. `included`: whether other files include it, so that it need not be a model by itself."""
    path = str(file.path)
    if file.root == "mujocoinclude":
        return ZooRow(file.name, path, PART)
    if file.root not in ("mujoco", None):
        return ZooRow(file.name, path, NO_MODEL, f"its root element is <{file.root}>")
    given = {"path": path, "n": effort.n, "repeats": effort.repeats, "least": effort.least}
    row = row_of(file.name, path, run_fresh(RUN, given, limit=effort.limit), effort.limit)
    if included and row.outcome in (NOT_LOADED, STILL, FAILED) and row.least() is None:
        return ZooRow(file.name, path, PART, f"by itself: {row.reason}")
    return row


def _earlier(path: Path, effort: ZooEffort, about: Mapping[str, Any]) -> list[ZooRow]:
    """Rows of an earlier file, written with the same effort on the same machine.

    Rows of models that were late are left out if there is more time now.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = [ZooRow(**row) for row in content["rows"]]
        before, on = content["effort"], content["machine"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OptionError(f"cannot resume from {path}: {error}") from None
    now = asdict(effort)
    limit, earlier_limit = now.pop("limit"), before.pop("limit", 0.0)
    if before != now or on != about:
        raise OptionError(
            f"cannot resume from {path}: it was measured with other settings or on another machine; give another file"
        )
    return [row for row in rows if row.outcome != "late" or limit <= earlier_limit]
