"""Results as HTML: one page of its own, or a family's part for the site.

Every benchmark has its description, source, tolerances, table of numbers, figure and the command that repeats it.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence

from saltus.notebook.html import display, table
from saltus.terminal.display import count
from saltus.verify.case import Data
from saltus.verify.registry import FAMILIES, chosen
from saltus.verify.report import numbers, summary
from saltus.verify.running import FAILED, NEEDS_DATA, PASSED, BenchmarkOutcome, run_benchmarks
from saltus.version import __version__

STYLE = """
.verification { margin: 0 0 2.2rem; }
.verification h3 { margin: 0 0 .4rem; padding: 0; font-size: 1.15rem; }
.verification .verdict { display: inline-block; margin-left: .6rem; padding: .05rem .5rem; border-radius: .6rem;
  font-size: .78rem; font-weight: 600; vertical-align: middle; color: #fff; }
.verification .verdict.passed { background: #2c7a4b; }
.verification .verdict.failed { background: #b3261e; }
.verification .verdict.needs-data { background: #8a6d1f; }
.verification dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .8rem; margin: .5rem 0;
  align-items: baseline; font-size: .9rem; }
.verification dt { font-weight: 600; margin: 0; }
.verification dd, .verification dd p { margin: 0; }
.verification .wide { overflow-x: auto; }
.verification table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0; width: 100%; }
.verification th, .verification td { padding: .2rem .7rem .2rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid rgba(127, 127, 127, .3); }
.verification th:first-child, .verification td:first-child { text-align: left; white-space: normal; }
.verification tr.failed td { color: #b3261e; font-weight: 600; background: none; }
.verification img { display: block; max-width: 100%; width: 40rem; background: #fff; border-radius: .3rem; }
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Verification of Saltus</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }}
h2 {{ margin-top: 2.5rem; border-bottom: 2px solid #ddd; }}{style}</style></head>
<body><h1>Verification of Saltus {version}</h1>
<p>{summary}</p>
{families}
</body></html>
"""
SHOWN = {PASSED: "passed", FAILED: "failed", NEEDS_DATA: "needs-data"}


def fragment(outcome: BenchmarkOutcome) -> str:
    """HTML of one benchmark."""
    own = outcome.benchmark
    facts = {"Source": html.escape(own.source), "Tolerance": html.escape(own.allowed)}
    if outcome.message:
        lacks = outcome.verdict == NEEDS_DATA
        facts["Needs" if lacks else "Error"] = html.escape(outcome.message)
    facts["Repeat"] = f"<code>{html.escape(own.command)}</code>"
    listed = "".join(f"<dt>{key}</dt><dd>{value}</dd>" for key, value in facts.items())
    return (
        f'<section class="verification" id="{html.escape(own.name)}"><h3>{html.escape(own.title)}'
        f'<span class="verdict {SHOWN[outcome.verdict]}">{outcome.verdict}</span></h3>'
        f"<p>{html.escape(own.about)}</p><dl>{listed}</dl>{_table(outcome)}{_figure(outcome)}</section>"
    )


def _table(outcome: BenchmarkOutcome) -> str:
    if not outcome.checks:
        return ""
    rows = "".join(
        f'<tr class="{"passed" if check.passed else "failed"}"><td>{html.escape(check.quantity)}</td>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in numbers(check))
        + "</tr>"
        for check in outcome.checks
    )
    head = "".join(f"<th>{name}</th>" for name in ("quantity", "reached", "reference", "error", "tolerance"))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _figure(outcome: BenchmarkOutcome) -> str:
    if outcome.figure is None:
        return ""
    from saltus.verify.drawing import image

    picture = base64.b64encode(image(outcome.figure, "svg")).decode()
    words = html.escape(f"{outcome.benchmark.title}: {outcome.figure.y} over {outcome.figure.x}")
    return f'<img alt="{words}" src="data:image/svg+xml;base64,{picture}">'


def whole_page(outcomes: Sequence[BenchmarkOutcome]) -> str:
    """HTML of a complete page."""
    parts = []
    for name, (title, *_) in FAMILIES.items():
        found = [outcome for outcome in outcomes if outcome.benchmark.family == name]
        if found:
            parts.append(f"<h2>{html.escape(title)}</h2>{''.join(map(fragment, found))}")
    return PAGE.format(
        style=STYLE, version=__version__, summary=html.escape(summary(outcomes)), families="".join(parts)
    )


class FamilyReport:
    """Results of a family's benchmarks, run here; displayed in notebooks."""

    def __init__(self, family: str, data: Data | None = None):
        self.outcomes = run_benchmarks(chosen(family=family), data)

    @property
    def failed(self) -> list[str]:
        """Names of benchmarks that failed."""
        return [outcome.benchmark.name for outcome in self.outcomes if outcome.verdict == FAILED]

    def __repr__(self) -> str:
        return summary(self.outcomes)

    def _repr_html_(self) -> str:
        total = html.escape(f"{count(len(self.outcomes), 'benchmark')}, {len(self.failed)} failed")
        return f"<style>{STYLE}</style><p>{total}</p>{''.join(map(fragment, self.outcomes))}"


class Overview:
    """Families with the number of their benchmarks that passed; displayed in notebooks."""

    def __init__(self, reports: Mapping[str, FamilyReport]):
        self.reports = reports

    def __repr__(self) -> str:
        return summary([outcome for report in self.reports.values() for outcome in report.outcomes])

    def _repr_html_(self) -> str:
        rows = []
        for name, report in self.reports.items():
            verdicts = [outcome.verdict for outcome in report.outcomes]
            counts = [str(verdicts.count(verdict)) for verdict in (PASSED, FAILED, NEEDS_DATA)]
            seconds = f"{sum(outcome.seconds for outcome in report.outcomes):.1f}"
            rows.append([FAMILIES[name][0], name, str(len(verdicts)), *counts, seconds])
        return display(table(["family", "--family", "benchmarks", PASSED, FAILED, NEEDS_DATA, "s"], rows, [repr(self)]))
