"""A method as a plain function: compiled code holds no objects, so what it reads of its own becomes constants.

`self.gain` is a variable of the closure, whose content is that of the object now; `self.other(...)` a kernel, made of
that method in the same way. So what the function depends on is told by its fingerprint like any other's.
"""

import ast
import copy
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from saltus.errors import OptionError
from saltus.number.conditions import syntax_tree
from saltus.number.internals import Dispatcher

EXPECTED = "numbers, text, tuples and NumPy arrays can be read, and methods called"


def plain_function(
    method: MethodType,
    made: Callable[[Any], Any],
    rewritten: Callable[[Any, FunctionType], tuple[Any, dict]] | None = None,
) -> FunctionType:
    """A function that does what a bound method does, without its object.

    `made` makes a kernel of a function, or of a method that it calls. `rewritten`, if given, turns the function's tree,
    without its object, into another one, and gives the values of variables that this uses.

    Raises:
        OptionError: the method does with its object what compiled code cannot, or its source is not at hand.
    """
    function = getattr(method.__func__, "py_func", method.__func__)
    tree = _source(function)
    arguments = [*tree.args.posonlyargs, *tree.args.args]
    if not arguments or not isinstance(tree, ast.FunctionDef):
        raise OptionError(
            f"{function.__qualname__} must be an ordinary method: def {function.__name__}(self, m, d, ...)"
        )
    reads = _Reads(arguments[0].arg, function.__qualname__)
    body = [reads.visit(statement) for statement in tree.body]
    inner = copy.copy(tree)
    inner.body, inner.decorator_list, inner.returns = body, [], None
    inner.args = copy.deepcopy(tree.args)
    (inner.args.posonlyargs or inner.args.args).pop(0)
    for argument in [*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs]:
        argument.annotation = None
    values = {_variable(name): _value(method, name, made) for name in sorted(reads.names)}
    values |= _free_variables(function)
    if rewritten is not None:
        inner, more = rewritten(inner, function)
        values |= more
    return _closure(inner, function, values)


def _source(function: FunctionType) -> Any:
    tree = syntax_tree(function)
    if tree is None:
        raise OptionError(
            f"the source of the method {function.__qualname__} is not at hand, or its file has changed since it was "
            "imported; import it again, or give a function or a static method"
        )
    return tree


class _Reads(ast.NodeTransformer):
    """Puts variables in the place of attributes of `me`; `names` are those of the attributes."""

    def __init__(self, me: str, method: str):
        self.names: set[str] = set()
        self._me, self._method = me, method

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id == self._me):
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            raise OptionError(
                f"{self._method} changes {self._me}.{node.attr}, which compiled code cannot; what changes are states: "
                "d.act, d.actuation_state, d.userdata"
            )
        self.names.add(node.attr)
        return ast.copy_location(ast.Name(_variable(node.attr), ast.Load()), node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in (self._me, "super", "__class__"):
            raise OptionError(
                f"{self._method} uses {node.id} as a whole, which compiled code cannot: of an object {EXPECTED}"
            )
        return node


def _variable(name: str) -> str:
    """The name of the variable for an attribute."""
    return f"_self_{name}"


def _free_variables(function: FunctionType) -> dict[str, Any]:
    """Variables of the functions around it."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            raise OptionError(f"{function.__qualname__} refers to {name}, which is not defined") from None
    return found


def _value(method: MethodType, name: str, made: Callable[[Any], Any]) -> Any:
    """The value of an attribute as compiled code has it."""
    about = f"{method.__func__.__qualname__} reads self.{name}"
    try:
        value = getattr(method.__self__, name)
    except AttributeError as error:
        raise OptionError(f"{about}: {error}") from None
    if isinstance(value, Dispatcher):
        return value
    if isinstance(value, MethodType | FunctionType):
        try:
            return made(value)
        except RecursionError:
            raise OptionError(f"{about}, which calls itself; give a loop") from None
    if not _constant(value):
        raise OptionError(f"{about}, a {type(value).__name__}; of an object {EXPECTED}")
    return value


def _constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_constant, value))
    return isinstance(value, bool | int | float | str | np.generic | np.ndarray)


def _closure(tree: ast.FunctionDef, function: FunctionType, values: dict[str, Any]) -> FunctionType:
    """The function of a tree with these variables around it, where another one is defined."""
    outer = ast.parse(f"def made({', '.join(values)}): pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [tree, ast.Return(ast.Name(tree.name, ast.Load()))]
    for node in (outer, outer.body[1]):
        ast.copy_location(node, tree)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    names: dict[str, Any] = {}
    exec(compile(module, function.__code__.co_filename, "exec"), function.__globals__, names)
    made = names["made"](**values)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made
