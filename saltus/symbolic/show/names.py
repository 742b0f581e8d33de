r"""Symbols as written on paper: theta1 is \theta_{1}, its rate \dot{\theta}_{1}, m_upper m_{\mathrm{upper}}."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from saltus.symbolic.parameters import symbol_name
from saltus.symbolic.show.mathml import GREEK

if TYPE_CHECKING:
    from saltus.symbolic.derivation.mechanism import Mechanism
    from saltus.symbolic.derived import DerivedEquations

AXES = ("x", "y", "z", "xy", "xz", "yz")
DOTS = ("", r"\dot", r"\ddot")

Written = tuple[str, str]  # a letter and its index, both LaTeX


def latex_name(name: str) -> str:
    r"""A symbol's name alone as LaTeX; d and dd before a Greek or single letter are dots.

    >>> latex_name("ddtheta1"), latex_name("m_upper")
    ('\\ddot{\\theta}_{1}', 'm_{\\mathrm{upper}}')
    """
    found = re.fullmatch(r"(d{1,2})([A-Za-z]+?)(\d*|_.*)", name)
    if found and (found[2] in GREEK or len(found[2]) == 1):
        return _joined(_parts(found[2] + found[3]), len(found[1]))
    return _joined(_parts(name))


def latex_names(equations: DerivedEquations) -> dict[Any, str]:
    """LaTeX of each symbol of the equations, no two alike: {SymPy symbol: LaTeX}.

    Their order is that of factors in a product: masses and inertias, gravity, other parameters, inputs, coordinates,
    velocities, accelerations.
    """
    tree = equations.mechanism
    written = {**_coordinates(equations), **_of_parameters(equations)}
    written |= {str(s): _joined(_parts(str(s))) for s in equations.inputs}
    taken: set[str] = set()
    out = {}
    for symbol in [*_in_order(equations, tree), *equations.inputs, *equations.q, *equations.v, *equations.a]:
        out[symbol] = _free(written.get(str(symbol), _joined(_parts(str(symbol)))), taken)
        taken.add(out[symbol])
    return out


def element_name(name: str) -> str:
    """The name of a body or joint as an index: roman if it is a word."""
    return _index(identifier_text(name))


def identifier_text(name: str) -> str:
    """A name in letters that formulas can have: ASCII, words apart."""
    return re.sub(r"[^A-Za-z0-9]+", "_", "".join(map(_plain, name))).strip("_") or "x"


def _plain(letter: str) -> str:
    found = re.match(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(letter, ""))
    if found:
        word = found[2].lower().replace("lamda", "lambda")
        return word if found[1] == "SMALL" else word.capitalize()
    return "".join(c for c in unicodedata.normalize("NFKD", letter) if c.isascii())


# ---------------------------------------------------------------- coordinates


def _coordinates(equations: DerivedEquations) -> dict[str, str]:
    """LaTeX of coordinates, velocities and accelerations by the symbols' names."""
    names: dict[str, str] = {}
    c = equations.choice.own
    several = len(c.quaternions) > 1
    kinds = _kinds(equations)
    for symbol in c.q:
        names[str(symbol)] = _joined(_coordinate(str(symbol), kinds.get(str(symbol), ""), several))
    rate_of = {str(v): str(q) for q, v in zip(c.q, c.qdot, strict=True) if str(v) in {str(x) for x in c.v}}
    for v, a in zip(map(str, c.v), map(str, c.a), strict=True):
        if v in rate_of:
            parts = _coordinate(rate_of[v], kinds.get(rate_of[v], ""), several)
            names[v], names[a] = _joined(parts, 1), _joined(parts, 2)
        else:
            parts = _part_of_turn(v, several)
            names[v], names[a] = _joined(parts), _joined(parts, 1)
    return names


def _kinds(equations: DerivedEquations) -> dict[str, str]:
    """Kind of joint by the name of its coordinate; none where bodies have coordinates of their own."""
    c = equations.choice.own
    if c.constraints or c.orientation == "maximal":
        return {}
    return {str(s): joint.kind for joint in equations.mechanism.joints for s in c.q[joint.qposadr :][: joint.nq]}


def _coordinate(name: str, kind: str, several: bool) -> Written:
    """Letter and index of a coordinate."""
    if kind in ("free", "ball") or re.match(r"q[wxyz]_", name):
        return _part_of_turn(name, several)
    letter, index = _parts(name)
    if letter.startswith(r"\mathrm") and kind:  # a joint named by a word
        return (r"\theta" if kind == "hinge" else "x"), _index(name)
    return letter, index


def _part_of_turn(name: str, several: bool) -> Written:
    """root_x, root_qw, root_wx of a joint, or qw_link, wx_link of a body."""
    found = re.fullmatch(r"(.*)_([qw]?[wxyz])", name) or re.fullmatch(r"([qw][wxyz])_(.*)", name)
    if found is None:
        return _parts(name)
    part, of = (found[2], found[1]) if name.endswith(found[2]) and len(found[2]) < 3 else (found[1], found[2])
    index = _index(of)
    if len(part) == 1:
        return part, index if several else ""
    letter = "q" if part[0] == "q" else r"\omega"
    return letter, f"{index},{part[1]}" if several else part[1]


# ---------------------------------------------------------------- parameters


def _in_order(equations: DerivedEquations, tree: Mechanism) -> list[Any]:
    """Parameters as they stand in a product: masses and inertias, gravity, the rest."""
    heavy = {str(s) for s in mass_symbols(tree)}
    weight = {str(s) for g in tree.gravity for s in getattr(g, "free_symbols", ())}
    return sorted(equations.parameters, key=lambda s: 0 if s.name in heavy else 1 if s.name in weight else 2)


def mass_symbols(tree: Mechanism) -> set[Any]:
    """Symbols of masses and inertias, in which energies are linear (SymEngine)."""
    values = [x for body in tree.bodies for x in (body.mass, *body.inertia)]
    values += [x for joint in tree.joints for x in joint.armature]
    lengths = {s for body in tree.bodies for x in (*body.pos, *body.ipos) for s in getattr(x, "free_symbols", ())}
    return {s for value in values for s in getattr(value, "free_symbols", ())} - lengths


def _of_parameters(equations: DerivedEquations) -> dict[str, str]:
    """LaTeX of parameters: of I_polexy, I_{\\mathrm{pole},xy}."""
    tree = equations.mechanism
    elements = sorted({symbol_name(x.name) for x in (*tree.bodies, *tree.joints)}, key=len, reverse=True)
    out = {}
    for symbol in equations.parameters:
        letter, _, rest = symbol.name.partition("_")
        for element in elements:
            axes = rest.removeprefix(element)
            if rest.startswith(element) and axes in AXES:
                out[symbol.name] = _joined((_parts(letter)[0], f"{_index(element)},{axes}"))
                break
        else:
            out[symbol.name] = _joined(_parts(symbol.name))
    return out


# ---------------------------------------------------------------- letters and indices


def _parts(name: str) -> Written:
    """theta1 -> (\\theta, 1), m_upper -> (m, upper), speed -> (speed, none)."""
    head, _, rest = identifier_text(name).partition("_")
    found = re.fullmatch(r"([A-Za-z]+)(\d*)", head)
    if found is None:
        return rf"\mathrm{{{head}}}", _index(rest)
    word, digits = found[1], found[2]
    index = ",".join(filter(None, (digits, _index(rest))))
    if word in GREEK:
        return rf"\{word}", index
    return (word if len(word) == 1 else rf"\mathrm{{{word}}}"), index


def _index(text: str) -> str:
    """Index below a letter: one letter or a number as it is, words roman."""
    text = identifier_text(text) if text else ""
    if len(text) <= 1 or text.isdigit():
        return text
    if text in GREEK:
        return rf"\{text}"
    return rf"\mathrm{{{text.replace('_', chr(92) + ' ')}}}"


def _joined(parts: Written, dots: int = 0) -> str:
    letter, index = parts
    if dots:
        letter = rf"{DOTS[dots]}{{{letter}}}"
    return f"{letter}_{{{index}}}" if index else letter


def _free(text: str, taken: Iterable[str]) -> str:
    """The text, with primes added where it stands for another symbol already."""
    while text in taken:
        text = f"{text[:-1]}'}}" if text.endswith("}") and "_{" in text else f"{text}_{{'}}"
    return text


def joint_angle(name: str, kind: str = "hinge", dots: int = 0) -> str:
    r"""A joint's own coordinate: \theta_{2} of joint theta2, \theta_{\mathrm{elbow}} of joint elbow."""
    return _joined(_coordinate(symbol_name(name), kind, False), dots)
