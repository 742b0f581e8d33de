r"""LaTeX formulas as text for a terminal: \dot{\theta}_{1}^{2} is θ̇₁²."""

from __future__ import annotations

import unicodedata

from saltus.symbolic.show.mathml import FUNCTIONS, GREEK, OPERATORS, SYMBOLS, TOKEN

DOTS = {"dot": "\u0307", "ddot": "\u0308"}
BELOW = str.maketrans("0123456789xyz", "₀₁₂₃₄₅₆₇₈₉xyz")
ABOVE = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DROPPED = ("left", "right", "big", "bigl", "bigr", "Big", "Bigl", "Bigr", "mathrm", "text", "mathsf", "displaystyle")


def plain(latex: str) -> str:
    """A formula on one line of text."""
    text, at = _read([t for t in TOKEN.findall(latex) if t != "&"], 0)
    assert at >= 0
    return " ".join(text.replace(" )", ")").replace("( ", "(").split())


def _read(tokens: list[str], at: int) -> tuple[str, int]:
    """Text up to the brace that closes, and the place behind it."""
    out: list[str] = []
    while at < len(tokens) and tokens[at] != "}":
        token, at = tokens[at], at + 1
        if token == "{":
            inside, at = _read(tokens, at)
            out.append(inside)
        elif token in "_^":
            inside, at = _argument(tokens, at)
            out.append(_script(token, inside))
        elif not token.startswith("\\"):
            out.append("-" if token == "−" else token)
        else:
            shown, at = _command(token[1:], tokens, at)
            out.append(shown)
    return "".join(out), at + 1


def _argument(tokens: list[str], at: int) -> tuple[str, int]:
    while tokens[at].isspace():
        at += 1
    return _read(tokens, at + 1) if tokens[at] == "{" else _read([tokens[at]], 0)[:1] + (at + 1,)


def _command(name: str, tokens: list[str], at: int) -> tuple[str, int]:
    if name in DOTS:
        inside, at = _argument(tokens, at)
        return unicodedata.normalize("NFC", inside[:1] + DOTS[name]) + inside[1:], at
    if name in ("frac", "tfrac"):
        above, at = _argument(tokens, at)
        below, at = _argument(tokens, at)
        return f"{_held(above)}/{_held(below)} ", at
    if name == "sqrt":
        inside, at = _argument(tokens, at)
        return f"√{_held(inside)}", at
    if name in FUNCTIONS:
        return f" {name} ".removesuffix(" ") if at < len(tokens) and tokens[at] == "(" else f" {name} ", at
    shown = {**GREEK, **SYMBOLS, **OPERATORS}.get(name)
    if shown is not None:
        return shown, at
    return ("" if name in DROPPED else " " if name[:1] in ", :;!" or name == "quad" else name), at


def _held(text: str) -> str:
    return text if text.strip().isalnum() else f"({text.strip()})"


def _script(kind: str, text: str) -> str:
    if kind == "_":
        return text.translate(BELOW) if text.isdigit() else f"_{text.replace(' ', '_')}"
    return text.translate(ABOVE) if text.lstrip("-").isdigit() else f"^{_held(text)}"
