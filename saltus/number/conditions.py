"""Conditions that are known when a kernel is compiled: of their branches only the one that is taken is compiled.

A kernel asks `if has(m, "event"):`. `live_code` tells what is left of its source where the condition is decided.
"""

import __future__

import ast
import copy
import dis
import inspect
import re
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from saltus.number.kinds import LaneType, dual

Features = frozenset[str]


def has(m: Any, *features: str) -> bool:
    """Whether a struct's layout has any of these features; one that ends with "_" means any word that begins so."""
    return bool(met(m.layout.features, features))


def has_tangents(d: Any) -> bool:
    """Whether a struct's numbers are duals."""
    return d.real is dual


def has_lanes(d: Any) -> bool:
    """Whether a struct's numbers are lanes."""
    return isinstance(d.real, LaneType)


CONDITIONS: tuple[Callable[..., bool], ...] = (has, has_tangents, has_lanes)


def met(present: Features, features: tuple[str, ...]) -> Features:
    """Features of a layout, `present`, that `has` finds."""
    begun = tuple(word for word in features if word.endswith("_"))
    return frozenset(word for word in present if word in features or word.startswith(begun))


class LiveCode(NamedTuple):
    """Part of a function that is compiled for a struct: its global names, and the features by which it was chosen."""

    names: frozenset[str]
    met: Features


def live_code(function: FunctionType, features: Features) -> LiveCode:
    """Part of a function that is compiled for structs with these features; all of it where its source is missing."""
    names = frozenset(name for name in function.__code__.co_names if name in function.__globals__)
    if not any(function.__globals__[name] is has for name in names):
        return LiveCode(names, frozenset())
    tree = syntax_tree(function)
    if tree is None:
        return LiveCode(names, features)
    walk = _Walk(function.__globals__, features)
    walk.statements(tree.body)
    return LiveCode(names & walk.names, frozenset(walk.met))


def syntax_tree(function: FunctionType) -> Any:
    """The function's source as a tree; None where it is not at hand, or a file holds another one by now."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, SyntaxError, TypeError, IndexError):
        return None
    if not _is_source_of(tree, function):
        return None
    return ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)


def _is_source_of(tree: ast.stmt, function: FunctionType) -> bool:
    """Whether a definition compiles to the function: files change while Python runs what it has read."""
    own = function.__code__
    if not isinstance(tree, ast.FunctionDef):
        return False
    # where it may stand: inside a function with variables of its own, in a class that gives private names a prefix
    names = function.__qualname__.split(".")
    inside = names[-2] if len(names) > 1 and names[-2].isidentifier() else "_"
    outer = ast.parse(f"def outer({', '.join(own.co_freevars)}):\n class {inside}: pass")
    definition = copy.copy(tree)
    definition.decorator_list = []
    outer.body[0].body[0].body = [definition]  # pyright: ignore[reportAttributeAccessIssue]
    flags = own.co_flags & __future__.annotations.compiler_flag
    try:
        codes = [compile(ast.fix_missing_locations(outer), "", "exec", flags, dont_inherit=True)]
    except SyntaxError:
        return False
    while codes:
        code = codes.pop()
        if code.co_name == own.co_name and _operations(code) == _operations(own):
            return True
        codes += [x for x in code.co_consts if inspect.iscode(x)]
    return False


def _operations(code: CodeType) -> tuple:
    """Bytecode, names and constants, and of functions inside, but for how what a module imports is called."""
    # lines of docstrings stand where their function does
    inner = [_operations(x) if inspect.iscode(x) else re.sub(r"\\n *", "", repr(x)) for x in code.co_consts]
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    bytecode = [(_METHOD.get(op, op), 0 if op in _ELSEWHERE else k) for op, k in pairs if op not in _OF_CALLS]
    return bytecode, code.co_names, code.co_varnames, code.co_freevars, *inner


_OF_CALLS = {dis.opmap.get(name) for name in ("CACHE", "PRECALL", "PUSH_NULL", "NOP")} | {dis.EXTENDED_ARG}
_METHOD = {dis.opmap.get("LOAD_METHOD"): dis.opmap["LOAD_ATTR"]}
_ELSEWHERE = {*dis.hasname, *dis.hasjrel, *dis.hasjabs}  # whose arguments are told by the names, or are distances


class _Walk(ast.NodeVisitor):
    """Visits what is not left out by a condition."""

    def __init__(self, variables: dict[str, Any], features: Features):
        self.names: set[str] = set()
        self.met: set[str] = set()
        self._variables, self._features = variables, features

    def statements(self, body: list[ast.stmt]) -> bool:
        """Visit statements up to one after which none is reached; whether there is one."""
        return any(self._ends(statement) for statement in body)

    def _ends(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.If):
            known = self._known(statement.test)
            if known is not None:
                return self.statements(statement.body if known else statement.orelse)
            self.visit(statement.test)
            return all([self.statements(statement.body), self.statements(statement.orelse)])
        if isinstance(statement, ast.For | ast.While):
            self.visit(statement.iter if isinstance(statement, ast.For) else statement.test)
            self.statements(statement.body)
            return self.statements(statement.orelse) and False
        self.visit(statement)
        return isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break)

    def visit_Name(self, node: ast.Name) -> None:
        self.names.add(node.id)

    def visit_Call(self, node: ast.Call) -> None:
        if self._known(node) is None:
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        known = self._known(node.test)
        for part in (node.test, node.body, node.orelse) if known is None else (node.body if known else node.orelse,):
            self.visit(part)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for value in node.values:
            known = self._known(value)
            if known is None:
                self.visit(value)
            elif known == isinstance(node.op, ast.Or):
                return  # decided: what follows is not evaluated

    def _known(self, test: ast.expr) -> bool | None:
        """The value of a condition on features; None if it is on something else."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            known = self._known(test.operand)
            return None if known is None else not known
        if isinstance(test, ast.BoolOp):
            decisive = isinstance(test.op, ast.Or)
            values = [self._known(value) for value in test.values]
            return decisive if values[0] is decisive else None if None in values else values[-1]
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name)):
            return None
        if self._variables.get(test.func.id) is not has:
            return None
        words = [eval(compile(ast.Expression(x), "", "eval"), self._variables) for x in test.args[1:]]
        found = met(self._features, tuple(words))
        self.met |= found
        return bool(found)
