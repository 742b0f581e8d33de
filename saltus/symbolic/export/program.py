"""The order in which code computes expressions (temporaries, then results), and the number of operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from saltus.symbolic.export.graph import Graph, Value, graph_of

DEPTH = 8  # largest depth of operations in one line of code
PAIRS = {"sin": "cos", "cos": "sin"}  # functions computed together where both are needed


@dataclass(frozen=True)
class Counts:
    """Numbers of operations. A subtraction counts as an addition, a change of sign as nothing, the power n as its
    products by repeated squaring, a comparison and a choice as a function each.
    """

    additions: int = 0
    multiplications: int = 0
    divisions: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        return self.additions + self.multiplications + self.divisions + self.functions

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.additions + other.additions,
            self.multiplications + other.multiplications,
            self.divisions + other.divisions,
            self.functions + other.functions,
        )


class Program:
    """Steps that compute expressions.

    Attributes:
        graph: the operations.
        steps: nodes that become temporaries, in order; (sin, cos) of one argument where both are needed.
        place: temporary's number of such nodes.
        results: value of each expression by its key, in the order given.
        symbols: the arguments' symbols that are needed, in the arguments' order.
        varies: nodes that depend on a symbol.
    """

    def __init__(
        self, keys: Sequence[Hashable], expressions: Sequence[Any], arguments: Mapping[str, Sequence[Any]]
    ) -> None:
        self.graph, values = graph_of(expressions)
        self.results: dict[Hashable, Value] = dict(zip(keys, values, strict=True))
        self._needed = self.graph.reachable(node for _, node in values)
        nodes = self.graph.nodes
        present = {nodes[n][1] for n in self._needed if nodes[n][0] == "symbol"}
        self.symbols = [s for entries in arguments.values() for s in entries if s in present]
        self.varies = _varying(self.graph, self._needed)
        self.steps: list[tuple[int, ...]] = _steps(self.graph, self._needed, [node for _, node in values])
        self.place = {node: i for i, node in enumerate(n for step in self.steps for n in step)}

    def inline(self, node: int) -> bool:
        """Whether a node is written where it is used."""
        return node not in self.place

    def counts(self) -> Counts:
        """Operations of the whole program."""
        total = sum((_cost(self.graph, n, self.inline) for n in self._needed), Counts())
        return sum((_scaling(self.graph, value, self.inline) for value in self.results.values()), total)


def tree_counts(expressions: Iterable[Any]) -> Counts:
    """Operations of expressions as they are written: repeated parts count each time, a common factor of all terms once.

    Costs as much as the expressions have different parts, however often they are repeated. Expressions are of SymPy or
    SymEngine.
    """
    import symengine

    graph, values = graph_of([symengine.sympify(e) for e in expressions], share=False)
    everywhere = lambda node: True  # noqa: E731
    whole: dict[int, Counts] = {}
    for n in graph.reachable(node for _, node in values):
        operands = list(graph.operands(n))
        if graph.nodes[n][0] == "product" and len(operands) == 2 and operands[0] == operands[1]:
            operands.pop()  # a square: its base is computed once
        whole[n] = sum((whole[x] for x in operands), _cost(graph, n, everywhere))
    return sum((whole[value[1]] + _scaling(graph, value, everywhere) for value in values), Counts())


def _cost(graph: Graph, node: int, inline: Any) -> Counts:
    """Operations of a node from its operands."""
    kind, *parts = graph.nodes[node]
    if kind == "sum":
        scalings = sum((_scaling(graph, term, inline) for term in parts[0]), Counts())
        return scalings + Counts(additions=len(parts[0]) - 1)
    if kind == "product":
        above, below = (len(p) for p in parts)
        return Counts(
            multiplications=max(above - 1, 0) + max(below - 1, 0),
            divisions=1 if below else 0,
        )
    if kind == "call" or kind == "compare":
        return Counts(functions=max(len(parts[1]) - 1, 1) if parts[0] in ("max", "min") else 1)
    if kind == "and" or kind == "or" or kind == "choose":
        return Counts(functions=len(parts[0]) - 1)
    return Counts()


def _scaling(graph: Graph, value: Value, inline: Any) -> Counts:
    """Cost of multiplying by a coefficient, where that takes an operation."""
    coefficient, node = value
    kind, *parts = graph.nodes[node]
    free = abs(coefficient) == 1 or node == graph.one or (kind == "product" and not parts[0] and inline(node))
    return Counts() if free or not coefficient else Counts(multiplications=1)


def _varying(graph: Graph, needed: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for n in needed:
        if graph.nodes[n][0] == "symbol" or any(x in found for x in graph.operands(n)):
            found.add(n)
    return found


def _steps(graph: Graph, needed: Sequence[int], roots: Sequence[int]) -> list[tuple[int, ...]]:
    """Nodes that become temporaries: those used twice, trigonometric functions, and parts of long expressions."""
    uses = dict.fromkeys(needed, 0)
    for used in [*roots, *(x for n in needed for x in graph.operands(n))]:
        uses[used] += 1
    pairs = {}
    for n in needed:
        kind, *parts = graph.nodes[n]
        if kind == "call" and parts[0] in PAIRS:
            pairs.setdefault(parts[1], {})[parts[0]] = n
    steps: list[tuple[int, ...]] = []
    done: set[int] = set()
    depth: dict[int, int] = {}
    shared = {arguments[0] for arguments, both in pairs.items() if len(both) == 2}
    for n in needed:
        kind, *parts = graph.nodes[n]
        depth[n] = 1 + max((depth[x] for x in graph.operands(n)), default=-1)
        if n in done or kind in ("number", "constant", "symbol", "true", "false"):
            depth[n] = 0
            continue
        trigonometric = kind == "call" and parts[0] in PAIRS
        condition = kind == "compare" or kind == "and" or kind == "or"
        if trigonometric:
            both = pairs[parts[1]]
            step = tuple(both[f] for f in PAIRS if f in both)
        elif condition or not (uses[n] > 1 or n in graph.own or n in shared or depth[n] > DEPTH):
            continue
        else:
            step = (n,)
        steps.append(step)
        done.update(step)
        depth[n] = 0
    return steps
