"""The text of a program's steps in a language, and the parts that all languages share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from saltus.errors import OptionError
from saltus.symbolic.export.identifiers import names_of, prefix_of_temporaries
from saltus.symbolic.export.program import Program
from saltus.symbolic.export.routine import Routine

SUM, PRODUCT, ATOM = 1, 2, 3  # precedence of a text's operators
EXACT = 2**53  # whole numbers up to here are doubles


def number_text(number: Fraction) -> str:
    """The text of the double closest to a number that is not negative: exact if that can be written."""
    try:
        near = float(number)
    except OverflowError:
        raise OptionError(f"the number {number} is too large for code") from None
    decimal = Fraction(repr(near))
    fraction = number not in (decimal, Fraction(near)) and max(number.numerator, number.denominator) < EXACT
    return f"({number.numerator}.0/{number.denominator}.0)" if fraction else repr(near)


class Speller:
    """Texts of a program's nodes.

    Subclasses say how a language spells functions and choices. `used` collects the functions that texts call.
    """

    functions: Mapping[str, str] = {}  # our name, theirs
    constants: Mapping[str, str] = {}
    language = ""

    def __init__(self, routine: Routine, program: Program, reserved: Iterable[str] = ()) -> None:
        self.program, self.graph = program, program.graph
        arrays = [routine.name, *routine.arguments, *routine.results, *reserved]
        symbols = [s for entries in routine.arguments.values() for s in entries]
        self.names = names_of(symbols, arrays)
        self.prefix = prefix_of_temporaries([*self.names.values(), *arrays])
        backwards = [s for entries in reversed(list(routine.arguments.values())) for s in entries]
        self._order = {s: i for i, s in enumerate(backwards)}  # parameters come before the state
        self.used: set[str] = set()

    def value(self, coefficient: Fraction, node: int, holds: int = SUM) -> str:
        """A coefficient times a node, in parentheses unless it holds together as tightly as asked."""
        text, tightness = self._text(coefficient, node)
        return text if tightness >= holds else f"({text})"

    def node(self, node: int, holds: int = SUM) -> str:
        """A node as it is used: its temporary's name, or its text."""
        return self.value(Fraction(1), node, holds)

    def name(self, node: int) -> str:
        """The name of a temporary."""
        return f"{self.prefix}{self.program.place[node]}"

    def definition(self, node: int) -> str:
        """The text that a temporary stands for."""
        return self._text(Fraction(1), node, defined=node)[0]

    # ------------------------------------------------------------ overridden by each language

    def call(self, name: str, arguments: list[int]) -> str:
        """A function of nodes."""
        if name not in self.functions:
            raise OptionError(f"'{name}' cannot be written as {self.language}")
        spelled = self.functions[name]
        self.used.add(spelled)
        return f"{spelled}({', '.join(map(self.node, arguments))})"

    def choice(self, condition: str, value: str, otherwise: str) -> str:
        """One of two values by a condition."""
        raise NotImplementedError

    def joined(self, kind: str, conditions: list[str]) -> str:
        """Conditions joined by "and" or "or"."""
        raise NotImplementedError

    # ------------------------------------------------------------ nodes

    def _text(self, coefficient: Fraction, node: int, defined: int = -1) -> tuple[str, int]:
        """Text and tightness of a coefficient times a node."""
        if not coefficient or node == self.graph.one:
            return self._number(coefficient)
        terms = list(self._terms(coefficient, node, defined))
        if len(terms) == 1:
            (c, n) = terms[0]
            text, tightness = self._product(abs(c), n, defined)
            return (f"-{text}", SUM) if c < 0 else (text, tightness)
        # positive terms first, so that no sum begins with a sign if it need not
        terms.sort(key=lambda term: (term[0] < 0, self._key(term[1])))
        text = ""
        for c, n in terms:
            sign = ("-" if c < 0 else "") if not text else " - " if c < 0 else " + "
            text += sign + self._product(abs(c), n, defined)[0]
        return text, SUM

    def _number(self, number: Fraction) -> tuple[str, int]:
        text = number_text(abs(number))
        return (f"-{text}", SUM) if number < 0 else (text, ATOM)

    def _terms(self, coefficient: Fraction, node: int, defined: int) -> Iterator[tuple[Fraction, int]]:
        """The terms that a value is the sum of, where sums without a factor are written out."""
        kind, *parts = self.graph.nodes[node]
        opened = node == defined or self.program.inline(node)
        if kind == "sum" and opened and (abs(coefficient) == 1 or len(parts[0]) == 1):
            for c, n in parts[0]:
                yield from self._terms(coefficient * c, n, -1)
        else:
            yield coefficient, node

    def _product(self, coefficient: Fraction, node: int, defined: int) -> tuple[str, int]:
        """A positive coefficient times a node that is no open sum."""
        if node == self.graph.one:
            return number_text(coefficient), ATOM
        above, below = self._factors(node, defined)
        texts = [number_text(coefficient)] if coefficient != 1 or not above else []
        texts += [self._factor(n, defined) for n in sorted(above, key=self._key)]
        if not below:
            return "*".join(texts), ATOM if len(texts) == 1 else PRODUCT
        divisors = "*".join(self._factor(n, defined) for n in sorted(below, key=self._key))
        return "*".join(texts) + "/" + (divisors if len(below) == 1 else f"({divisors})"), PRODUCT

    def _factors(self, node: int, defined: int = -1) -> tuple[list[int], list[int]]:
        """Nodes that a node is the product of, and divided by."""
        kind, *parts = self.graph.nodes[node]
        if kind != "product" or not (node == defined or self.program.inline(node)):
            return [node], []
        above, below = [], []
        for n in parts[0]:
            inner = self._factors(n)
            above += inner[0]
            below += inner[1]
        for n in parts[1]:
            inner = self._factors(n)
            above += inner[1]
            below += inner[0]
        return above, below

    def _factor(self, node: int, defined: int) -> str:
        if node != defined and not self.program.inline(node):
            return self.name(node)
        kind, *parts = self.graph.nodes[node]
        if kind == "number":
            return self.value(parts[0], self.graph.one, ATOM)
        if kind == "constant":
            return self.constants[parts[0]]
        if kind == "symbol":
            return self.names[parts[0]]
        if kind == "call":
            return self.call(parts[0], list(parts[1]))
        if kind == "choose":
            return self._choose(list(parts[0]))
        if kind in ("compare", "and", "or", "true", "false"):
            return f"({self.condition(node)})"
        return f"({self._text(Fraction(1), node)[0]})"

    def condition(self, node: int) -> str:
        """The text of a condition."""
        kind, *parts = self.graph.nodes[node]
        if kind == "compare":
            relation, a, b = parts
            return f"{self.node(a)} {relation} {self.node(b)}"
        if kind == "and" or kind == "or":
            return self.joined(kind, [self.condition(n) for n in parts[0]])
        raise OptionError(f"the condition '{kind}' cannot be written as {self.language}")

    def _choose(self, cases: list[tuple[int, int]]) -> str:
        """Nested choices; the last case needs no condition, as nothing else is left."""
        kept = []
        for value, condition in cases:
            kept.append((value, condition))
            if self.graph.nodes[condition] == ("true",):
                break
        else:
            raise OptionError("a Piecewise whose last condition is not True cannot be written as code")
        text = self.node(kept[-1][0])
        for value, condition in reversed(kept[:-1]):
            text = self.choice(self.condition(condition), self.node(value), text)
        return text

    def _key(self, node: int) -> tuple:
        """Order in sums and products: symbols, temporaries, the rest."""
        kind, *parts = self.graph.nodes[node]
        if kind == "symbol":
            return 0, self._order[parts[0]]
        if not self.program.inline(node):
            return 1, self.program.place[node]
        if kind == "product":
            above, below = self._factors(node)
            first = min(map(self._key, above or below))
            return *first, len(above), node
        return 2, node


# ------------------------------------------------------------ the head of a file


def summary(routine: Routine, speller: Speller, indent: str = "    ") -> list[str]:
    """Summary of a routine: its text, its arrays, its operations."""
    lines = [line for line in routine.about.strip().splitlines()] or [f"{routine.name}: equations in code."]
    lines += ["", "Arguments"]
    for name, symbols in routine.arguments.items():
        lines += [f"{indent}{name} [{len(symbols)}]" + ("" if _plain(routine, symbols) else ":")]
        if _plain(routine, symbols):
            listed = ", ".join(speller.names[s] for s in symbols)
            lines[-1] += f": {listed}" if listed else ""
            continue
        width = max(len(speller.names[s]) for s in symbols)
        for i, s in enumerate(symbols):
            meaning = routine.meanings.get(s, "")
            lines.append(f"{indent * 2}{i}  {speller.names[s]:{width}}  {meaning}".rstrip())
    lines += ["", "Results"]
    for name, shape in routine.shapes.items():
        symmetric = ", symmetric" if name in routine.symmetric else ""
        lines.append(f"{indent}{name} [{', '.join(map(str, shape))}]{symmetric}")
    c = speller.program.counts()
    kinds = f"{c.additions} additions, {c.multiplications} multiplications, {c.divisions} divisions"
    lines += ["", f"Operations: {c.total} ({kinds}, {c.functions} functions)"]
    return [part for line in lines for part in (_wrapped(line) if len(line) > 100 else [line])]


def _plain(routine: Routine, symbols: Iterable) -> bool:
    return not any(routine.meanings.get(s) for s in symbols)


def _wrapped(line: str) -> list[str]:
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, 100, subsequent_indent=start + "    ", break_long_words=False, break_on_hyphens=False)


def broken(text: str, indent: str, width: int = 110) -> list[str]:
    """A text over lines, broken at blanks."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def quoted(lines: Iterable[str]) -> list[str]:
    """Lines that can stand in a docstring."""
    return [line.replace("\\", "\\\\").replace('"""', "'''").rstrip() for line in lines]
