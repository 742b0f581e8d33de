"""The derivation page: from energies to equations to plots, on one HTML page that needs no network and no script."""

from __future__ import annotations

import base64
import html
import io
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from saltus.errors import OptionError
from saltus.record.files.atomic_write import write_whole
from saltus.record.report.page import framed
from saltus.simulate.simulation import Simulation
from saltus.symbolic.show.math_html import MATH_STYLE, font_style, formula, inline, table_html
from saltus.symbolic.show.notation import WIDTH, Notation
from saltus.symbolic.show.page.motion import Motion, motion, plots
from saltus.symbolic.show.step import Step, step_html
from saltus.symbolic.show.steps import found, steps
from saltus.symbolic.twin import TOLERANCE, Twin, compare_with_engine

if TYPE_CHECKING:
    from saltus.symbolic.numeric import NumericEquations

SUFFIXES = (".html", ".htm")
LINES = 60  # lines of code that the page shows
ROUNDING = " The formulas above show long numbers rounded to 10 digits; the derivation and its code have them all."
STATES = 20  # states at which equations and engine are compared
PICTURE: dict[str, Any] = {"width": 720, "height": 540}

STYLE = """
body { max-width: 58rem; }
h3 { margin: 2rem 0 .4rem; font-size: 1.02rem; }
p { margin: .4rem 0 .6rem; max-width: 44rem; }
.scroll { overflow-x: auto; }
nav ol { margin: 0; padding-left: 1.2rem; columns: 2 16rem; }
nav a { color: inherit; }
.top { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem 2rem;
  align-items: center; }
.top > :only-child { max-width: 32rem; }
.top img, .top svg { display: block; width: 100%; height: auto; border-radius: .5rem; }
.top svg { color: var(--ink); fill: currentColor; }
.scroll td { overflow-wrap: normal; }
.result { padding: .5rem 1rem; border-left: .25rem solid var(--accent); background: var(--card);
  border-radius: 0 .5rem .5rem 0; }
.remark { color: var(--soft); font-size: .92rem; }
@media print { details { display: none; } h2, h3 { break-after: avoid; } .formula { break-inside: avoid; } }
"""

CHAPTERS = (
    ("The mechanism", ("coordinates", "frames", "parameters", "bodies")),
    ("Positions and velocities", ("positions", "velocities", "angular velocities")),
    ("Energies", ("kinetic energy", "potential energy")),
    ("Lagrange's equation", ("lagrange", "term 1", "term 2", "term 3", "term 4", "term 5")),
    ("Forces", ("forces",)),
    ("Equations of motion", ("equations of motion", "matrices", "constraints", "multipliers")),
)


@dataclass(frozen=True)
class Sheet:
    """Contents of a derivation page, for HTML and LaTeX; computed when asked for."""

    equations: NumericEquations
    duration: float = 10.0
    integrator: str | None = None
    width: float = WIDTH  # characters of a line of formulas

    @property
    def title(self) -> str:
        """The model's name in words."""
        return self.equations.model.name.replace("_", " ").capitalize()

    @property
    def subtitle(self) -> str:
        """Line below the title: the method and the coordinates."""
        count = len(self.equations.v)
        freedom = f"{count} coordinate{'s' if count > 1 else ''}"
        return f"Equations of motion by Lagrange's method, {self.equations.orientation} coordinates, {freedom}"

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The derivation."""
        return steps(self.equations, self.width)

    @property
    def notation(self) -> Notation:
        """The notation of its formulas."""
        return self.steps[0].notation

    @cached_property
    def motion(self) -> Motion:
        """A motion by the equations."""
        return motion(self.equations, self.duration, self.integrator)

    @cached_property
    def twin(self) -> Twin:
        """The equations beside the engine."""
        return compare_with_engine(self.equations, STATES)

    def chapters(self) -> list[tuple[str, list[Step]]]:
        """Steps under their headings."""
        out = [(title, [s for s in self.steps if s.name in names]) for title, names in CHAPTERS]
        return [(title, chapter) for title, chapter in out if chapter]

    def check_text(self) -> str:
        """Text on the comparison with the engine."""
        worst = max(d.largest for d in self.twin.differences)
        verdict = "agree" if self.twin.agrees() else "DO NOT AGREE"
        return (
            "The numeric engine knows nothing of these formulas: it computes the same quantities by recursion over the "
            f"bodies. At {self.twin.states} random states both {verdict}; the largest relative difference is "
            f"{power(worst)} (tolerance {power(TOLERANCE)})."
        )

    def motion_text(self) -> str:
        """Text on the plotted motion."""
        m, kind = self.motion, "rest" if not self.motion.v[0].any() else "its first state"
        text = f"The equations solved by {m.method}, over {self.duration:g} s from {kind}, with all inputs zero."
        damped = any(x != 0 for x in self.equations.derivation.forces["passive"])
        if damped:
            why = "as dampers, and springs that are not part of it, exchange energy with it"
            return f"{text} The total energy changes by {m.drift:.2g} J, {why}."
        size = power(m.drift)
        return f"{text} Nothing takes energy away, and the total stays the same to {size} J: a check of the equations."

    def cost_text(self) -> str:
        """Text on the numbers of operations and the time of the derivation."""
        c, seconds = self.equations.count_ops(), self.equations.timings
        return (
            f"{c.total} operations for M and bias with common subexpressions computed once ({c.additions} additions, "
            f"{c.multiplications} multiplications, {c.divisions} divisions, {c.functions} functions). Derived in "
            f"{sum(seconds.values()):.2g} s.{ROUNDING if self.notation.rounded else ''}"
        )


def power(number: float) -> str:
    """A number as a formula with a power of ten: 2.6e-7."""
    digits, exponent = f"{number:.1e}".split("e")
    return rf"${digits} \cdot 10^{{{int(exponent)}}}$" if number else "0"


def write_page(
    equations: NumericEquations, path: str | os.PathLike[str], *, duration: float = 10.0, integrator: str | None = None
) -> None:
    """Write the derivation page to an .html file.

    `duration` (s) and `integrator` of the plotted motion; without an integrator, SciPy's DOP853.

    Raises:
        OptionError: the file's suffix, the duration or the integrator is none.
        RecordError: the file cannot be written.
    """
    check_suffix(path)
    write_whole(path, page(Sheet(equations, duration, integrator)).encode(), what="derivation")


def check_suffix(path: str | os.PathLike[str]) -> None:
    """OptionError unless the path is that of an HTML page."""
    if os.path.splitext(os.fspath(path))[1].lower() not in SUFFIXES:
        raise OptionError(f"the suffix of a derivation page must be .html, got '{os.fspath(path)}'")


def page(sheet: Sheet) -> str:
    """HTML of the page."""
    title, e = html.escape(sheet.title), sheet.equations
    final = found(sheet.steps, "equations of motion")
    parts = [f"<h1>{title}</h1>", f'<p class="subtitle">{html.escape(sheet.subtitle)}</p>']
    parts.append(f'<div class="top">{_picture(sheet)}{_drawing(sheet)}</div>')
    parts.append(f'<h2>The result</h2><div class="result">{formula(final.latex())}</div>')
    if e.left_out:
        text = "; ".join(e.left_out)
        parts.append(f'<ul class="notes"><li class="warning">Not in these equations: {html.escape(text)}.</li></ul>')
    for chapter, chapter_steps in sheet.chapters():
        parts.append(f"<h2>{html.escape(chapter)}</h2>")
        for step in chapter_steps:
            alone = len(chapter_steps) == 1 or step.title == chapter
            parts.append(step_html(step, "" if alone else "h3"))
    parts.append(f"<h2>Motion</h2><p>{inline(sheet.motion_text())}</p>")
    parts += [f"<figure><figcaption>{inline(name)}</figcaption>{svg}</figure>" for name, svg in _plots(sheet)]
    parts.append(f"<h2>Check against the numeric engine</h2><p>{inline(sheet.check_text())}</p>{_check(sheet)}")
    parts.append(f"<h2>Code</h2><p>{html.escape(sheet.cost_text())}</p>{_code(e)}")
    parts.append("<footer>Written by Saltus. The page is self-contained.</footer>")
    return framed(f"{sheet.title}: derivation", parts, font_style() + MATH_STYLE + STYLE)


def _picture(sheet: Sheet) -> str:
    buffer = io.BytesIO()
    Simulation(sheet.equations.model).picture(**PICTURE).save(buffer, format="PNG")
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="The mechanism at its first state" src="data:image/png;base64,{data}">'


def _drawing(sheet: Sheet) -> str:
    from saltus.symbolic.show.page.drawing import drawing

    return drawing(sheet.equations, sheet.notation) or ""


def _plots(sheet: Sheet) -> list[tuple[str, str]]:
    return list(plots(sheet.equations, sheet.notation, sheet.motion))


def _check(sheet: Sheet) -> str:
    rows = tuple((quantity, largest, verdict) for quantity, largest, _, verdict in sheet.twin.rows())
    return table_html((("quantity", "largest relative difference", ""), rows))


def _code(equations: NumericEquations) -> str:
    out = []
    for language, text in (("Python", equations.python()), ("C", equations.c())):
        lines = text.splitlines()
        shown = lines[:LINES]
        if len(lines) > LINES:
            shown.append(f"... and {len(lines) - LINES} more lines")
        code = html.escape("\n".join(shown), quote=False)
        out.append(
            f"<details><summary>{language}, {len(lines)} lines</summary><pre><code>{code}</code></pre></details>"
        )
    return "".join(out)
