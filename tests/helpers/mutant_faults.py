"""Faults that can be planted in kernels, or in what is no kernel, one at a time, by their syntax trees.

Left alone are features (`has`), which choose between whole algorithms; numbers below 1e-6, which are tolerances; the
zero of `0.0 * x`, which is a way to write a zero of x's kind, and such a term or one named `zero`, which gives another
that kind; and statements without which a name is undefined.
"""

import ast
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from helpers.source_changes import decorated, is_entry, made_in, number

TOLERANCE = 1e-6  # floats below this are not changed
WEAKENED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
EXCHANGED = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min"}
OPPOSITE = {ast.Add: ast.Sub, ast.Sub: ast.Add}
OPPOSITE_CALL = {"fadd": "fsub", "fsub": "fadd"}  # instructions of numbers in intermediate code
TABLE = "<table>"  # name of what stands for a table of functions
#: Names of the kinds of faults.
KINDS = ("sign", "missing term", "swapped operands", "index", "constant", "negated condition", "weakened condition")
KINDS += ("other condition", "min and max", "missing statement")
COMPOUND = (ast.If, ast.While, ast.For)


class Fault(NamedTuple):
    """A fault in a kernel: its line, the statement's first line before and after, and the file's text with it.

    `statement`: number of the statement's first line; `kernel_lines`: of the kernel's first and last.
    """

    kernel: str
    line: int
    kind: str
    before: str
    after: str
    text: str
    statement: int
    kernel_lines: tuple[int, int]


class Place(NamedTuple):
    """Place of a possible fault: its kind, the kernel or function, the statement and node in it, and the change."""

    kernel: ast.FunctionDef
    statement: ast.stmt
    node: ast.AST
    kind: str
    make: Callable[[], object]


def places_in(path: Path, functions: bool = False) -> list[tuple[str, int]]:
    """(kind, line) of all faults that the kernels of a file allow, in the order of their numbers.

    `functions`: that what is no kernel in it allows.
    """
    return [(place.kind, _line(place)) for place in _places(ast.parse(path.read_text(encoding="utf-8")), functions)]


def _line(place: Place) -> int:
    return getattr(place.node, "lineno", place.statement.lineno)


def fault(path: Path, number: int, functions: bool = False) -> Fault | None:
    """The fault of this number in a file, as `places_in` counts; None where the code means the same afterwards."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    place = _places(tree, functions)[number]
    before, block, line = _head(place.statement), _block(tree, place.statement), _line(place)
    begins, lines = place.statement.lineno, (place.kernel.lineno, place.kernel.end_lineno or 0)
    at = block.index(place.statement)
    place.make()
    ast.fix_missing_locations(tree)
    after = _head(block[at])
    if before == after:
        return None
    return Fault(place.kernel.name, line, place.kind, before, after, ast.unparse(tree), begins, lines)


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The kernels that a module defines, or that its functions make."""
    for node in tree.body:
        if decorated(node) and isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.FunctionDef) and not is_entry(node):
            yield from made_in(node)


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of a module that are no kernels, also methods and those inside others; tables of functions as one."""
    compiled = [*kernels(tree), *(x for x in tree.body if is_entry(x))]
    of_kernels = {id(x) for kernel in compiled for x in ast.walk(kernel)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and id(node) not in of_kernels:
            yield node
    tables = [x for x in tree.body if isinstance(x, ast.Assign | ast.AnnAssign) and _has_functions(x)]
    for table in tables:
        whole = ast.FunctionDef(TABLE, ast.arguments([], [], None, [], [], None, []), [table], [])
        yield ast.copy_location(whole, table)


def _has_functions(node: ast.AST) -> bool:
    return any(isinstance(x, ast.Lambda) for x in ast.walk(node))


def _places(tree: ast.Module, functions: bool = False) -> list[Place]:
    found = []
    for kernel in functions_of(tree) if functions else kernels(tree):
        for statement in statements(kernel.body):
            made = [(statement, "missing statement", make) for make in _without(kernel, statement)]
            for node in _expressions(statement):
                made += [(node, kind, make) for kind, make in _of_expression(node)]
            found += [Place(kernel, statement, *one) for one in made]
    return found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, those inside others too, but for docstrings and functions inside."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            continue
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            yield statement
        for inner in ("body", "orelse"):
            yield from statements(getattr(statement, inner, []))


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement's own expressions, and itself; not the statements inside, nor what asks for features."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        for inner in ast.iter_child_nodes(node):
            if not (isinstance(inner, ast.stmt) or _asks_for_feature(inner) or _left_alone(node, inner)):
                waiting.append(inner)


def _left_alone(node: ast.AST, inner: ast.AST) -> bool:
    """Whether a part is the zero of `0.0 * x`, or an index that is a number, which is changed as an index."""
    if isinstance(inner, ast.Constant) and isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and inner.value == 0.0
    if isinstance(inner, ast.Tuple) and isinstance(node, ast.Subscript):
        return all(isinstance(x, ast.Constant) for x in inner.elts)
    return isinstance(inner, ast.Constant) and isinstance(node, ast.Subscript)


def _asks_for_feature(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("has", "has_tangents", "has_lanes")


def _head(statement: ast.stmt) -> str:
    """A statement as text, without the statements inside."""
    text = ast.unparse(statement)
    return text.partition("\n")[0] if isinstance(statement, COMPOUND) else text


def _block(tree: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds one."""
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and statement in block:
                return block
    raise ValueError(f"not in the tree: {ast.unparse(statement)}")


# ---------------------------------------------------------------- statements


def _without(kernel: ast.FunctionDef, statement: ast.stmt) -> Iterator[Callable[[], object]]:
    """Change that leaves a statement out; none if a name were undefined then."""
    targets = []
    if isinstance(statement, ast.Assign):
        targets = [x for target in statement.targets for x in ast.walk(target) if isinstance(x, ast.Name)]
        targets = [x.id for x in targets if isinstance(x.ctx, ast.Store)]
    elif not isinstance(statement, ast.AugAssign | ast.Expr | ast.Break | ast.Continue):
        return
    earlier = {argument.arg for argument in kernel.args.args} | {
        x.id
        for other in statements(kernel.body)
        if other.lineno < statement.lineno
        for x in ast.walk(other)
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store) and x.lineno < statement.lineno
    }
    if earlier.issuperset(targets):
        yield functools.partial(_leave_out, kernel, statement)


def _leave_out(kernel: ast.FunctionDef, statement: ast.stmt) -> None:
    block = _block(kernel, statement)
    block[block.index(statement)] = ast.copy_location(ast.Pass(), statement)


# ---------------------------------------------------------------- expressions


def _of_expression(node: ast.AST) -> Iterator[tuple[str, Callable[[], object]]]:
    """(kind, how to make it) of the faults of one node."""
    if isinstance(node, ast.BinOp):
        yield from _of_operation(node)
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPPOSITE:
        yield "sign", functools.partial(setattr, node, "op", OPPOSITE[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", functools.partial(setattr, node, "op", ast.UAdd())
    elif isinstance(node, ast.Subscript):
        yield from _of_index(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in WEAKENED:
        yield "weakened condition", functools.partial(node.ops.__setitem__, 0, WEAKENED[type(node.ops[0])]())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        if not any(_asks_for_feature(x) for value in node.values for x in ast.walk(value)):
            yield "other condition", functools.partial(setattr, node, "op", other)
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Constant) and number(node):
        yield from _of_constant(node)
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not _asks(node.test):
        yield "negated condition", functools.partial(_negate, node, "test")


def _asks(test: ast.AST) -> bool:
    return any(_asks_for_feature(x) for x in ast.walk(test))


def _negate(node: ast.AST, name: str) -> None:
    setattr(node, name, ast.UnaryOp(ast.Not(), getattr(node, name)))


def _of_operation(node: ast.BinOp) -> Iterator[tuple[str, Callable[[], object]]]:
    if type(node.op) in OPPOSITE:
        if not _is_zero(node.right):
            yield "sign", functools.partial(setattr, node, "op", OPPOSITE[type(node.op)]())
            if ast.unparse(node.right) != "zero":
                yield "missing term", functools.partial(_become, node, node.left)
        if isinstance(node.op, ast.Add) and ast.unparse(node.left) != "zero" and not _is_zero(node.left):
            yield "missing term", functools.partial(_become, node, node.right)
    if isinstance(node.op, ast.Sub | ast.Div):
        yield "swapped operands", functools.partial(_exchange, node)


def _is_zero(node: ast.expr) -> bool:
    """Whether a term is `0.0 * x`, a zero of x's kind, which gives a sum this kind."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    return any(isinstance(x, ast.Constant) and x.value == 0.0 for x in (node.left, node.right))


def _exchange(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _become(node: ast.BinOp, part: ast.expr) -> None:
    """Only one operand is left, as part + 0, which keeps its kind."""
    node.left, node.op, node.right = part, ast.Add(), ast.Constant(0)


def _of_index(node: ast.Subscript) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each index one more, and one less where that is no index from the end."""
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for k, index in enumerate(indices):
        if isinstance(index, ast.Slice):
            continue
        known = index.value if isinstance(index, ast.Constant) else None
        for step in (1, -1):
            if known != 0 or step > 0:
                yield "index", functools.partial(_shift, node, k, step)


def _shift(node: ast.Subscript, k: int, step: int) -> None:
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    old = indices[k]
    if isinstance(old, ast.Constant) and isinstance(old.value, int):
        new: ast.expr = ast.Constant(old.value + step)
    else:
        new = ast.BinOp(old, ast.Add() if step > 0 else ast.Sub(), ast.Constant(1))
    if isinstance(node.slice, ast.Tuple):
        node.slice.elts[k] = new
    else:
        node.slice = new


def _of_call(node: ast.Call) -> Iterator[tuple[str, Callable[[], object]]]:
    name = ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute) and node.func.attr in OPPOSITE_CALL:
        yield "sign", functools.partial(setattr, node.func, "attr", OPPOSITE_CALL[node.func.attr])
    if isinstance(node.func, ast.Attribute) and node.func.attr == "fneg":
        # x in place of -x: -(-x)
        yield "sign", functools.partial(node.args.__setitem__, slice(None), [_negative(node)])
    if name in EXCHANGED:
        yield "min and max", functools.partial(setattr, node, "func", ast.Name(EXCHANGED[name], ast.Load()))
    if name in ("where", "where3") and len(node.args) == 3:
        yield "negated condition", functools.partial(_exchange_choices, node)


def _negative(node: ast.Call) -> ast.Call:
    """A call of the function of another one, of what that one takes."""
    return ast.Call(node.func, list(node.args), [])


def _exchange_choices(node: ast.Call) -> None:
    node.args[1], node.args[2] = node.args[2], node.args[1]


def _of_constant(node: ast.Constant) -> Iterator[tuple[str, Callable[[], object]]]:
    value = node.value
    assert isinstance(value, int | float)
    if isinstance(value, int):
        yield "constant", functools.partial(setattr, node, "value", value + 1)
    elif value == 0.0 or abs(value) >= TOLERANCE:
        yield "constant", functools.partial(setattr, node, "value", 2.0 * value or 1.0)
