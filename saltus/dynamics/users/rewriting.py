"""Users' functions as Python that means the same on floats, lanes and duals.

A function that a user writes chooses branches by its numbers, takes powers and smaller ones, ends early. In a kernel a
number may be many simulations side by side, of which each goes its own way. So the syntax tree of such a function is
rewritten: expressions as in `saltus.dynamics.users.expressions`, statements as in `saltus.dynamics.users.statements`.
Functions of the package are kernels as they stand.

What is rewritten keeps its globals and its closure, so that its key follows them (see
`saltus.number.cache.fingerprint`). What operators and functions become is in `saltus.number.python`.
"""

import ast
import builtins
import copy
from types import CellType, FunctionType
from typing import Any, NamedTuple

from saltus.dynamics.users.expressions import HELPERS, Expressions
from saltus.dynamics.users.signature import arguments_of
from saltus.dynamics.users.source import definition
from saltus.dynamics.users.statements import Statements
from saltus.model.layout import DATA, MODEL
from saltus.number.cache.fingerprint import is_ours

FIELDS = {"m": MODEL.fields, "d": DATA.fields}  # of the structs, by their names in forms


class Role(NamedTuple):
    """Arguments of a user's function: names of its arguments, by which structs are known."""

    arguments: tuple[str, ...]
    rewritten: bool

    @classmethod
    def of(cls, form: str) -> "Role":
        """The role of a function that must be of a form, such as "law(m, d, z)"."""
        arguments = tuple(arguments_of(form))
        return cls(arguments, "d" in arguments)

    @property
    def inner(self) -> "Role":
        """The role of a function that one in this role calls."""
        return Role((), self.rewritten)


def rewritten(role: Role, function: FunctionType) -> FunctionType:
    """A user's function, rewritten; as it is where it is the package's, or its source is not at hand.

    OptionError for what cannot be compiled.
    """
    if not role.rewritten or is_ours(function):
        return function
    tree = definition(function)
    if tree is None:
        return function
    made, values = rewrite(role, tree, function)
    return _function(made, function, values)


def rewrite(role: Role, tree: Any, function: FunctionType) -> tuple[ast.FunctionDef, dict[str, Any]]:
    """The rewritten tree of a function, and the values of the variables that it refers to beside the function's own."""
    whole = _as_function(tree, function)
    if not role.rewritten:
        return whole, {}
    arguments = [a.arg for a in [*whole.args.posonlyargs, *whole.args.args]]
    stored = {x.id for x in ast.walk(whole) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    pairs = zip(arguments, role.arguments, strict=False)
    fields = {own: FIELDS[name] for own, name in pairs if name in FIELDS and own not in stored}
    expressions = Expressions(function, _names(function), stored | set(arguments), fields)
    whole.body = Statements(function, expressions, arguments).function(whole.body)
    values = {name: HELPERS[name] for name in sorted(expressions.used)}
    return ast.fix_missing_locations(whole), values


def _as_function(tree: Any, function: FunctionType) -> ast.FunctionDef:
    """A copy of a definition without decorators and annotations; a lambda returns its expression."""
    if isinstance(tree, ast.Lambda):
        whole = _statement("def law(): pass", tree)
        whole.args = copy.deepcopy(tree.args)
        whole.body = [ast.copy_location(ast.Return(copy.deepcopy(tree.body)), tree.body)]
        whole.name = "law"
    else:
        whole = copy.deepcopy(tree)
    whole.decorator_list, whole.returns = [], None
    for argument in ast.walk(whole.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return whole


def _statement(text: str, at: Any) -> Any:
    return ast.copy_location(ast.parse(text).body[0], at)


def _names(function: FunctionType) -> dict[str, Any]:
    """Values of the function's names outside of it."""
    return {**vars(builtins), **function.__globals__, **dict(_cells(function))}


def _cells(function: FunctionType) -> list[tuple[str, Any]]:
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found.append((name, cell.cell_contents))
        except ValueError:  # defined later
            continue
    return found


def _function(tree: ast.FunctionDef, function: FunctionType, values: dict[str, Any]) -> FunctionType:
    """The function of a tree with the globals, closure and defaults of the one that was rewritten."""
    around = [*function.__code__.co_freevars, *values]
    outer = _statement(f"def made({', '.join(around)}): pass", tree)
    outer.body = [tree, ast.copy_location(ast.Return(ast.Name(tree.name, ast.Load())), tree)]
    tree.args.defaults = [ast.copy_location(ast.Constant(None), tree) for _ in tree.args.defaults]
    tree.args.kw_defaults = [x and ast.copy_location(ast.Constant(None), tree) for x in tree.args.kw_defaults]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    names: dict[str, Any] = {"__name__": function.__module__}
    exec(compile(module, function.__code__.co_filename, "exec", dont_inherit=True), names)
    code = names["made"](*[None] * len(around)).__code__
    code = code.replace(co_name=function.__name__, co_qualname=function.__qualname__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells |= {name: CellType(value) for name, value in values.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made
