"""Numbers of a model as exact numbers, or as the letters that a book would give them.

A key says which number a letter is for, as in `Model.changed`: body_mass[bob], body_pos[lower][2], opt.gravity[2].
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import symengine
import sympy

from saltus.errors import OptionError
from saltus.symbolic.export import identifiers
from saltus.symbolic.expressions import ZERO, Vector, exact, parsed, to_symengine

LETTERS = {  # field -> the letter that its symbols begin with
    "body_mass": "m",
    "body_inertia": "I",
    "body_pos": "l",
    "body_ipos": "c",
    "jnt_pos": "p",
    "jnt_stiffness": "k",
    "dof_damping": "b",
    "dof_armature": "J",
}
AGREE = 1e-9  # relative tolerance between two numbers for one letter, or between a number and a letter's value


def symbol_name(name: str) -> str:
    """A name in the model as symbols and code can have it; "#3", of something nameless, becomes n3."""
    return identifiers.identifier(name.replace("#", "n"))


class Names:
    """Hands out names for symbols, no name twice."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, name: str) -> symengine.Symbol:
        """A symbol with this name, or the first like it that is free."""
        free, count = name, 2
        while free in self._taken:
            free, count = f"{name}_{count}", count + 1
        self._taken.add(free)
        return symengine.Symbol(free)


class Parameters:
    """Numbers of a model as expressions.

    `chosen`: "numbers", all are exact numbers; "symbols", masses, inertias, lengths, gravity, stiffness, damping and
    armature are symbols where they are not zero, a length named after the body that it belongs to; or a mapping of keys
    to names, expressions or numbers. A letter may stand for several numbers if they agree
    ({"body_ipos[upper][2]": "-l1", "body_pos[lower][2]": "-l1"}).
    `values`: value of each symbol in the model.
    """

    def __init__(self, chosen: str | Mapping[str, Any], names: Names):
        if isinstance(chosen, str) and chosen not in ("numbers", "symbols"):
            raise OptionError.unknown("parameters", chosen, ["numbers", "symbols", "textbook"])
        self._all = chosen == "symbols"
        self._chosen = {} if isinstance(chosen, str) else {_key(key): value for key, value in chosen.items()}
        self._unused = set(self._chosen)
        self._names = names
        self._letters: dict[str, Any] = {}
        self._said: list[tuple[str, Any, float]] = []  # "key = expression", the expression, the number in the model
        self.values: dict[Any, float] = {}

    def number(self, field: str, name: str, value: float, place: str = "") -> Any:
        """One number, of an element with a name (or of the options, without), at a place such as "[2]"."""
        key = f"{field}[{name}]{place}" if name else f"{field}{place}"
        if key in self._chosen:
            self._unused.discard(key)
            return self._given(key, float(value))
        if not self._all or value == 0 or field not in LETTERS:
            return exact(value)
        return self._new(f"{LETTERS[field]}_{symbol_name(name)}", float(value))

    def vector(self, field: str, name: str, values: Sequence[float], symbol: str = "") -> Vector:
        """Three numbers; where only one is not zero, it needs no index, and its symbol is positive.

        `symbol`: what their symbols begin with, by default the field's letter and the name.
        """
        keys = [f"{field}[{name}][{k}]" if name else f"{field}[{k}]" for k in range(3)]
        several = np.count_nonzero(values) > 1
        out = []
        for key, axis, value in zip(keys, "xyz", values, strict=True):
            letter = "g" if field == "opt.gravity" else LETTERS.get(field)
            if key in self._chosen:
                self._unused.discard(key)
                out.append(self._given(key, float(value)))
            elif not self._all or value == 0 or letter is None:
                out.append(exact(value))
            else:
                start = symbol or (f"{letter}_{symbol_name(name)}" if name else letter)
                sign = -1 if value < 0 and not several else 1
                out.append(sign * self._new(f"{start}{axis if several else ''}", sign * float(value)))
        x, y, z = out
        return x, y, z

    def place(self, name: str, values: Sequence[float], index: str = "") -> Vector:
        """Place at which a body hangs from the world (m): X0, Y0, Z0, with an `index` where several bodies do."""
        out: list[Any] = []
        for k, (axis, value) in enumerate(zip("XYZ", values, strict=True)):
            key = f"body_pos[{name}][{k}]"
            if key in self._chosen:
                self._unused.discard(key)
                out.append(self._given(key, float(value)))
            elif not self._all or value == 0:
                out.append(exact(value))
            else:
                out.append(self._new(f"{axis}0{index and f'_{symbol_name(index)}'}", float(value)))
        x, y, z = out
        return x, y, z

    def measured(self, field: str, name: str, values: Sequence[float]) -> None:
        """Three numbers that are not in the equations, but may tell the values of letters that are."""
        for k, value in enumerate(values):
            key = f"{field}[{name}][{k}]"
            if key in self._chosen:
                self._unused.discard(key)
                self._given(key, float(value))

    def inertia(self, name: str, values: Sequence[float]) -> Vector:
        """Principal inertias of a body (kg m²); equal ones share a symbol. What is as small as can be is a point's."""
        out: list[Any] = [None] * 3
        for k, value in enumerate(values):
            key = f"body_inertia[{name}][{k}]"
            same = [i for i in range(3) if values[i] == value]
            if key in self._chosen:
                self._unused.discard(key)
                out[k] = self._given(key, float(value))
            elif value <= POINT:
                out[k] = ZERO
            elif not self._all:
                out[k] = exact(value)
            elif k == same[0]:
                axes = "" if len(same) == 3 else "".join("xyz"[i] for i in same)
                out[k] = self._new(f"I_{symbol_name(name)}{axes}", float(value))
            else:
                out[k] = out[same[0]]
        x, y, z = out
        return x, y, z

    def check_used(self, fields: Sequence[str]) -> None:
        """Find the values of letters; OptionError for one without, or for a key that named no number of the model."""
        if self._unused:
            key = sorted(self._unused)[0]
            form = ", ".join(f"{field}[name]" + ("[place]" if field in _VECTORS else "") for field in fields)
            raise OptionError(
                f"parameters: {key!r} is no number in these equations; there are {form}, opt.gravity[place]"
            )
        self._find_values()

    def _new(self, name: str, value: float) -> Any:
        symbol = self._names.new(name)
        self.values[symbol] = value
        return symbol

    def _given(self, key: str, value: float) -> Any:
        """The user's expression for a number of the model."""
        said = self._chosen[key]
        try:
            expression = parsed(exact(float(said)) if isinstance(said, float | np.floating) else said)
        except OptionError as error:
            raise OptionError(f"parameters: {key}: {error}") from None
        for symbol in sorted(expression.free_symbols, key=str):
            if symbol.name not in self._letters:
                self._letters[symbol.name] = self._names.new(symbol.name)
        self._said.append((f"{key} = {said}", expression, value))
        return to_symengine(expression).subs({symengine.Symbol(n): s for n, s in self._letters.items()})

    def _find_values(self) -> None:
        """Find the letters' values, each from the first expression that has no other unknown letter."""
        waiting = self._said
        while waiting:
            left = [one for one in waiting if not self._tells(*one)]
            if len(left) == len(waiting):
                text, expression, _ = left[0]
                raise OptionError(
                    f"parameters: {text} does not tell the values of {', '.join(self._unknown(expression))}"
                )
            waiting = left

    def _unknown(self, expression: Any) -> list[str]:
        return sorted(s.name for s in expression.free_symbols if self._letters[s.name] not in self.values)

    def _tells(self, text: str, expression: Any, value: float) -> bool:
        """Find the one unknown letter of an expression by the model's value; False if several are unknown."""
        unknown = self._unknown(expression)
        if len(unknown) > 1:
            return False
        known = {s: self.values.get(self._letters[s.name], s) for s in expression.free_symbols}
        at = expression.subs(known)
        if unknown:
            found = sympy.solve(at - sympy.Float(value, 17), sympy.Symbol(unknown[0]))
            if len(found) != 1 or not found[0].is_real:
                raise OptionError(f"parameters: {text} does not tell the value of {unknown[0]}")
            self.values[self._letters[unknown[0]]] = float(found[0])
        elif abs(float(at) - value) > AGREE * max(abs(value), abs(float(at))):
            raise OptionError(f"parameters: {text} would be {float(at):.12g}, but it is {value:.12g} in the model")
        return True


POINT = 1e-15  # kg m²: MuJoCo's least inertia of a body that moves, which stands for that of a point
_VECTORS = ("body_pos", "body_ipos", "body_inertia", "jnt_pos", "site_pos")


def _key(key: str) -> str:
    return re.sub(r"\s+", "", str(key)) if str(key).startswith("opt.") else str(key).strip()
