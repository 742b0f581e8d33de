"""The page of a report: its frame and style. It loads nothing from elsewhere."""

from __future__ import annotations

import html

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c1e21; --soft: #5c6470; --faint: #9aa1ab; --grid: #e4e7eb; --card: #f6f7f9;
  --line: #dde1e6; --accent: #0072b2; --warn: #8a4b00; --warn-paper: #fff4e2; --note-paper: #eef4fa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --ink: #e6e8eb; --soft: #a2a9b3; --faint: #6d747e; --grid: #2c3036; --card: #1e2125;
    --line: #33383f; --accent: #56b4e9; --warn: #ffc46b; --warn-paper: #33260f; --note-paper: #17242f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 66rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { margin: 0; font-size: 2rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.15rem; }
.subtitle { margin: .25rem 0 1.5rem; color: var(--soft); }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 1.5rem; padding: 0; list-style: none; }
.figures li { flex: 1 1 9rem; padding: .8rem 1rem; border-radius: .5rem; background: var(--card); }
.figures .name, .figures .remark { display: block; font-size: .82rem; color: var(--soft); }
.figures .value { display: block; font-size: 1.5rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.notes { margin: 0 0 1.5rem; padding: 0; list-style: none; }
.notes li { margin: .4rem 0; padding: .6rem 1rem; border-radius: .5rem; background: var(--note-paper); }
.notes li.warning { background: var(--warn-paper); color: var(--warn); }
.film { margin: 0 0 1rem; text-align: center; }
.film video, .film img { max-width: 100%; height: auto; border-radius: .5rem; background: #000; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 2.5rem; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th[scope=row] { width: 9.5rem; font-weight: 400; color: var(--soft); }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
thead th { font-weight: 600; }
.wide { overflow-x: auto; }
figure { margin: 0 0 1.5rem; }
figcaption { margin: 0 0 .25rem; font-weight: 600; }
figure svg { display: block; width: 100%; height: auto; color: var(--ink); fill: currentColor; }
details { margin: .5rem 0; border: 1px solid var(--line); border-radius: .5rem; }
summary { padding: .6rem 1rem; cursor: pointer; font-weight: 600; }
details > :not(summary) { margin: 0 1rem 1rem; width: calc(100% - 2rem); }
pre { overflow: auto; max-height: 32rem; padding: .75rem; border-radius: .5rem; background: var(--card);
  font: .82rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
footer { margin-top: 3rem; color: var(--faint); font-size: .85rem; }
@media print { body { max-width: none; padding: 0; } .film { display: none; } figure { break-inside: avoid; } }
"""

# the page's permissions: show its own contents, and nothing else
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; font-src data:"


def page(
    *,
    title: str,
    subtitle: str,
    key_figures: list[tuple[str, str, str]],
    notes: list[tuple[str, str]],
    film: str,
    sections: list[tuple[str, str]],
    plots: list[tuple[str, str]],
    tables: list[tuple[str, str]],
    details: list[tuple[str, str]],
) -> str:
    """HTML of the whole page.

    `film` and the second of each pair in sections, plots, tables and details are HTML; all else is text.
    """
    text = html.escape
    figures = "".join(
        f'<li><span class="name">{text(name)}</span><span class="value">{text(value)}</span>'
        f'<span class="remark">{text(remark)}</span></li>'
        for name, value, remark in key_figures
    )
    listed = "".join(f'<li class="{text(kind)}">{text(note)}</li>' for kind, note in notes)
    columns = "".join(f"<section><h2>{text(name)}</h2>{body}</section>" for name, body in sections)
    drawn = "".join(f"<figure><figcaption>{text(name)}</figcaption>{svg}</figure>" for name, svg in plots)
    more = "".join(f"<h2>{text(name)}</h2>{body}" for name, body in tables)
    folded = "".join(f"<details><summary>{text(name)}</summary>{body}</details>" for name, body in details)
    parts = [
        f"<h1>{text(title)}</h1>",
        f'<p class="subtitle">{text(subtitle)}</p>',
        f'<ul class="figures">{figures}</ul>',
        f'<ul class="notes">{listed}</ul>' if notes else "",
        f'<div class="film">{film}</div>' if film else "",
        f'<div class="columns">{columns}</div>',
        f"<h2>Over time</h2>{drawn}",
        more,
        f"<h2>Details</h2>{folded}" if details else "",
        "<footer>Written by Saltus. The page is self-contained.</footer>",
    ]
    return framed(f"{title}: report of a run", parts)


def framed(title: str, parts: list[str], style: str = "") -> str:
    """HTML of a self-contained page: `title` is text, `parts` HTML, `style` CSS in addition to that of all pages."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}{style}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )
