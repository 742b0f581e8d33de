"""Texts, tables and formulas of a derivation as HTML, formulas as MathML."""

from __future__ import annotations

import base64
import functools
import html
import re

from saltus.symbolic.show.mathml import mathml

Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]  # head and rows
MATH_STYLE = """
math { font-family: "Saltus Math", "STIX Two Math", "Latin Modern Math", "Cambria Math", math; font-size: 1.12em; }
.formula { overflow-x: auto; overflow-y: hidden; margin: .75rem 0; padding: .15rem 0; }
.formula mtable.aligned { width: max-content; margin: 0 auto; }
.formula mtable.aligned > mtr > mtd { padding: .35em 0; text-align: left; text-align: -webkit-left; }
.formula mtable.aligned > mtr > mtd:first-child { text-align: right; text-align: -webkit-right; }
math mover > mo:last-child { padding-bottom: .15em; }
.formula mtable.pmatrix mtd { padding: .25em .6em; text-align: center; text-align: -webkit-center; }
"""
FONT = "font/math.woff2"  # subset of STIX Two Math used by the formulas: browsers set indices by its measures


@functools.cache
def font_style() -> str:
    """CSS that carries the font for formulas, which few systems have one for."""
    from importlib.resources import files

    data = base64.b64encode(files("saltus.symbolic.show").joinpath(FONT).read_bytes()).decode("ascii")
    source = f"url(data:font/woff2;base64,{data}) format('woff2')"
    return f'@font-face {{ font-family: "Saltus Math"; src: {source}; }}'


def inline(text: str) -> str:
    """A text with formulas between dollar signs."""
    parts = re.split(r"(\$\$.+?\$\$|\$.+?\$)", text, flags=re.DOTALL)
    return "".join(_part(part) for part in parts)


def _part(part: str) -> str:
    if part.startswith("$$"):
        return formula(part[2:-2])
    if part.startswith("$"):
        return _safe(part[1:-1], display=False)
    return html.escape(part, quote=False)


def paragraphs(text: str) -> str:
    """Paragraphs of a text, which blank lines divide."""
    out = []
    for paragraph in filter(None, text.split("\n\n")):
        shown = inline(paragraph.strip())
        out.append(shown if paragraph.strip().startswith("$$") else f"<p>{shown}</p>")
    return "".join(out)


def formula(latex: str) -> str:
    """A formula on lines of its own, which scrolls where it is too wide."""
    return f'<div class="formula">{_safe(latex, display=True)}</div>' if latex else ""


def _safe(latex: str, display: bool) -> str:
    try:
        return mathml(latex, display)
    except ValueError:  # formulas with commands unknown to MathML are shown as LaTeX
        return f"<code>{html.escape(latex, quote=False)}</code>"


def table_html(table: Table) -> str:
    """A table whose cells may hold formulas."""
    head, rows = table
    top = "".join(f"<th>{inline(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(f"<td>{inline(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def in_notebook(body: str) -> str:
    """HTML with the style and the font of formulas, for a notebook."""
    return f"<style>{font_style()}{MATH_STYLE}</style><div>{body}</div>"
