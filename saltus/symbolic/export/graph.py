"""Expressions as one graph of operations, in which equal operations are there once.

A value is a rational coefficient times a node, so that x - y and 2 y - 2 x share a node. Nodes are numbered, operands
before what is made of them, and are tuples:

    ("number", Fraction)                       ("constant", "pi" or "e")
    ("symbol", SymEngine symbol)               ("call", name, (node, ...))
    ("sum", ((Fraction, node), ...))           ("product", (node, ...), (node, ...)), divided by what comes second
    ("compare", "<" "<=" "==" or "!=", a, b)   ("and" or "or", (node, ...)), ("true",), ("false",)
    ("choose", ((node, condition), ...))       the first whose condition holds

A sum of a single term is a coefficient times a node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from saltus.errors import OptionError

Value = tuple[Fraction, int]

ONE = Fraction(1)
LONG = 24  # operands of a sum or product; more of them become several
FUNCTIONS = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "log": "log",
    "Abs": "abs",
    "sign": "sign",
    "Max": "max",
    "Min": "min",
}
RELATIONS = {"StrictLessThan": "<", "LessThan": "<=", "Equality": "==", "Unequality": "!="}
CONSTANTS = {"Pi": "pi", "Exp1": "e"}


class Graph:
    """Nodes of expressions, added by `add`.

    Attributes:
        nodes: the nodes in order, operands first.
        own: nodes that stand for themselves wherever they are used, parts of what is long.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple] = []
        self.own: set[int] = set()
        self._place: dict[tuple, int] = {}
        self._values: dict[Any, Value] = {}  # keyed by SymEngine expression
        self.one = self._node("number", ONE)

    def define(self, symbol: Any, value: Value) -> None:
        """Let a symbol stand for a value in expressions added later."""
        self._values[symbol] = value

    def forget_definitions(self) -> None:
        """Let all symbols stand for themselves again in expressions added later."""
        self._values.clear()

    def add(self, expression: Any) -> Value:
        """The value of a SymEngine expression; costs as much as the expression has different parts.

        Raises:
            OptionError: it holds a function or a number that no program has.
        """
        values = self._values
        waiting = [expression]
        while waiting:
            here = waiting[-1]
            if here in values:
                waiting.pop()
                continue
            operands = here.args if not here.is_Number else ()
            missing = [x for x in operands if x not in values]
            if missing:
                waiting += reversed(missing)
            else:
                waiting.pop()
                values[here] = self._value(here, [values[x] for x in operands])
        return values[expression]

    def operands(self, node: int) -> Iterator[int]:
        """The nodes that a node is made of, as often as it takes them."""
        kind, *parts = self.nodes[node]
        if kind == "sum":
            yield from (n for _, n in parts[0])
        elif kind == "product":
            yield from parts[0]
            yield from parts[1]
        elif kind == "call":
            yield from parts[1]
        elif kind == "compare":
            yield from parts[1:]
        elif kind == "and" or kind == "or":
            yield from parts[0]
        elif kind == "choose":
            for pair in parts[0]:
                yield from pair

    def reachable(self, roots: Iterable[int]) -> list[int]:
        """The nodes that some nodes need, themselves included, operands first."""
        found = set(roots)
        waiting = list(found)
        while waiting:
            for n in self.operands(waiting.pop()):
                if n not in found:
                    found.add(n)
                    waiting.append(n)
        return sorted(found)

    # ------------------------------------------------------------ one expression whose operands are known

    def _value(self, expression: Any, operands: list[Value]) -> Value:
        name = type(expression).__name__
        if expression.is_Number:
            return _fraction(expression), self.one
        if expression.is_Symbol:
            return ONE, self._node("symbol", expression)
        if name in CONSTANTS:
            return ONE, self._node("constant", CONSTANTS[name])
        if name == "Add":
            return self._sum(operands)
        if name == "Mul":
            return self._product(map(self._factor, expression.args, operands))
        if name == "Pow":
            return self._power(*expression.args, *operands)
        if name in FUNCTIONS:
            return self._call(FUNCTIONS[name], operands)
        return ONE, self._condition(expression, name, [self._whole(x) for x in operands])

    def _condition(self, expression: Any, name: str, operands: list[int]) -> int:
        if name == "Piecewise":
            return self._node("choose", tuple(zip(operands[::2], operands[1::2], strict=True)))
        if name in RELATIONS:
            truth = [x for x in operands if self.nodes[x] != ("true",)]
            return truth[0] if len(truth) == 1 else self._node("compare", RELATIONS[name], *operands)
        if name == "And" or name == "Or":
            return self._node(name.lower(), tuple(sorted(operands)))
        if name == "BooleanTrue" or name == "BooleanFalse":
            return self._node(name.removeprefix("Boolean").lower())
        shown = getattr(expression, "get_name", lambda: name)()
        raise OptionError(
            f"'{shown}' cannot be written as code (known: + - * / powers, sqrt, exp, {', '.join(FUNCTIONS)}, Piecewise)"
        )

    def _sum(self, operands: Iterable[Value]) -> Value:
        total: dict[int, Fraction] = {}
        for coefficient, node in operands:
            total[node] = total.get(node, Fraction(0)) + coefficient
        terms = sorted((n, c) for n, c in total.items() if c)
        if len(terms) < 2:
            return (terms[0][1], terms[0][0]) if terms else (Fraction(0), self.one)
        common = terms[0][1]
        if any(abs(c) != abs(common) for _, c in terms):
            common = ONE if common > 0 else -ONE
        pairs = self._parts([(c / common, n) for n, c in terms], "sum", lambda n: (ONE, n))
        return common, self._node("sum", tuple(pairs))

    def _factor(self, expression: Any, value: Value) -> tuple[Value, int]:
        """A factor of a product and its exponent: reciprocals join the divisor."""
        if type(expression).__name__ == "Pow" and expression.args[1].is_Integer and int(expression.args[1]) < 0:
            return self._values[expression.args[0]], int(expression.args[1])
        return value, 1

    def _product(self, factors: Iterable[tuple[Value, int]]) -> Value:
        coefficient, total = ONE, {}
        for (c, node), exponent in factors:
            if not c and exponent < 0:
                raise OptionError("a division by zero cannot be written as code")
            coefficient *= c**exponent
            total[node] = total.get(node, 0) + exponent
        total.pop(self.one, None)
        above = [x for n in sorted(total) for x in self._squares(n, total[n])]
        below = [x for n in sorted(total) for x in self._squares(n, -total[n])]
        if not coefficient or not (above or below):
            return coefficient, self.one
        if len(above) == 1 and not below:
            return coefficient, above[0]
        above = self._parts(sorted(above), "product", lambda n: n, ((),))
        below = self._parts(sorted(below), "product", lambda n: n, ((),))
        return coefficient, self._node("product", tuple(above), tuple(below))

    def _squares(self, node: int, exponent: int) -> list[int]:
        """The factors of a positive power, by squares that other powers share: x**5 is (x**2)**2 x."""
        factors = []
        while exponent > 0:
            if exponent % 2:
                factors.append(node)
            exponent //= 2
            if exponent:
                node = self._node("product", (node, node), ())
        return factors

    def _parts(self, operands: list, kind: str, single: Callable[[int], Any], rest: tuple = ()) -> list:
        """Operands, those of a long operation in groups."""
        while len(operands) > LONG:
            groups = [operands[i : i + LONG] for i in range(0, len(operands), LONG)]
            nodes = [self._node(kind, tuple(group), *rest) for group in groups]
            self.own.update(nodes)
            operands = [single(n) for n in nodes]
        return operands

    def _power(self, base: Any, exponent: Any, base_value: Value, exponent_value: Value) -> Value:
        if type(base).__name__ == "Exp1":
            return self._call("exp", [exponent_value])
        if exponent.is_Number and not exponent.is_real:
            raise OptionError(f"the power {exponent} cannot be written as code")
        if exponent.is_Number:
            power = _fraction(exponent)
            if power.denominator == 1:
                return self._product([(base_value, int(power))])
            if power.denominator == 2:
                sign = 1 if power > 0 else -1
                root = self._call("sqrt", [base_value])
                return self._product([(base_value, sign * (abs(power.numerator) // 2)), (root, sign)])
        return self._call("pow", [base_value, exponent_value])

    def _call(self, name: str, operands: list[Value]) -> Value:
        sign = 1
        if operands[0][0] < 0 and name in ("sin", "cos", "tan", "abs"):
            sign = -1 if name in ("sin", "tan") else 1
            operands = [(-operands[0][0], operands[0][1])]
        return Fraction(sign), self._node("call", name, tuple(self._whole(x) for x in operands))

    def _whole(self, value: Value) -> int:
        """A value as a node."""
        coefficient, node = value
        if coefficient == 1:
            return node
        if node == self.one:
            return self._node("number", coefficient)
        return self._node("sum", ((coefficient, node),))

    def _node(self, *parts: Any) -> int:
        place = self._place.setdefault(parts, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(parts)
        return place


def _fraction(number: Any) -> Fraction:
    """The exact value of a SymEngine number."""
    name = type(number).__name__
    if hasattr(number, "p") and hasattr(number, "q"):
        return Fraction(int(number.p), int(number.q))
    if name in ("RealDouble", "RealMPFR") and math.isfinite(float(number)):
        return Fraction(float(number)) if name == "RealDouble" else Fraction(str(number))
    raise OptionError(f"the number {number} cannot be written as code: it is not finite and real")


def graph_of(expressions: Iterable[Any], *, share: bool = True) -> tuple[Graph, list[Value]]:
    """A graph that holds SymEngine expressions, and their values.

    With `share`, sums and products share what they have in common, a + b in a + b + c and a + b + d, found by
    SymEngine. Its search takes more than linear time, so that many expressions are searched in groups of at most
    `SEARCHED` operations; what is equal as a whole is shared in any case.
    """
    expressions = list(expressions)
    graph = Graph()
    if not share:
        return graph, [graph.add(expression) for expression in expressions]
    import symengine

    values: list[Value] = []
    for group in _groups(expressions):
        replaced, shorter = symengine.cse(group)
        graph.forget_definitions()  # each search names its parts x0, x1, ...
        for symbol, expression in replaced:
            graph.define(symbol, graph.add(expression))
        values += [graph.add(expression) for expression in shorter]
    return graph, values


SEARCHED = 250_000  # operations that one search for common parts takes: some ten seconds


def _groups(expressions: Sequence[Any]) -> Iterator[list[Any]]:
    """Expressions in their order, in groups of at most SEARCHED operations, or of one expression that has more."""
    if sum(len(e.args) for e in different_parts(expressions)) <= SEARCHED:
        yield list(expressions)
        return
    group: list[Any] = []
    size = 0
    for expression in expressions:
        own = sum(len(e.args) for e in different_parts([expression]))
        if group and size + own > SEARCHED:
            yield group
            group, size = [], 0
        group.append(expression)
        size += own
    yield group


def different_parts(expressions: Iterable[Any]) -> Iterator[Any]:
    """SymEngine expressions and all that they are made of, each once."""
    seen, waiting = set(), list(expressions)
    while waiting:
        here = waiting.pop()
        if here not in seen:
            seen.add(here)
            yield here
            waiting += here.args
