"""Types of the public interface: every signature is annotated, and none has `Any`.

Walked are `saltus.__all__`, the functions and classes of `saltus.lab`, `saltus.symbolic` and `saltus.study`, and every
class of Saltus that their annotations name. Annotations are resolved as type checkers resolve them, with the imports
that stand under `if TYPE_CHECKING`.
"""

import ast
import functools
import inspect
import sys
import typing
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike

import saltus

#: Modules whose `__all__` is public, and what else is.
MODULES = ("saltus", "saltus.algorithms", "saltus.env", "saltus.lab", "saltus.symbolic")
OTHERS = {"saltus.simulate.function": "simulate", "saltus.study.studies": "study"}
#: Where the walk ends: kernels, which are compiled for several kinds of number and carry no types, the engine below
#: simulations, and what the lab's page and server say to each other.
NOT_WALKED = ("number", "dynamics", "contact", "solve", "integrate", "sense", "simulate.engine", "lab.messages")
SPECIAL = ("__init__", "__call__", "__getitem__", "__setitem__", "__len__", "__iter__", "__enter__", "__exit__")
NUMPYS_OWN = typing.get_args(ArrayLike)  # in which NumPy has Any


def public_objects():
    """Functions and classes that users import, by name."""
    found = {}
    places = [(import_module(module), name) for module in MODULES for name in import_module(module).__all__]
    places += [(import_module(module), name) for module, name in OTHERS.items()]
    for module, name in places:
        value = getattr(module, name)
        if (inspect.isroutine(value) or inspect.isclass(value)) and of_saltus(value):
            found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def of_saltus(value):
    return str(getattr(value, "__module__", "")).partition(".")[0] == "saltus"


def is_walked(kind):
    return of_saltus(kind) and not kind.__module__.startswith(tuple(f"saltus.{room}" for room in NOT_WALKED))


@functools.cache
def namespace(module):
    """What the annotations of a module refer to."""
    names = dict(vars(sys.modules[module]))
    for statement in syntax(module).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            imports = [part for part in statement.body if isinstance(part, ast.ImportFrom | ast.Import)]
            for part in imports:
                try:
                    exec(compile(ast.Module([part], []), module, "exec"), names)
                except ModuleNotFoundError:  # of an extra that is not installed
                    names |= {alias.asname or alias.name: object for alias in part.names}
    return names


@functools.cache
def syntax(module):
    return ast.parse(inspect.getsource(sys.modules[module]))


def resolved(annotation, module):
    """An annotation as a type."""
    if isinstance(annotation, typing.ForwardRef):
        annotation, module = annotation.__forward_arg__, annotation.__forward_module__ or module
    return eval(annotation, namespace(module)) if isinstance(annotation, str) else annotation


def parts(hint, module, within=()):
    """A type and everything inside it, but for what NumPy writes itself."""
    if isinstance(hint, str):
        if hint in within:
            return  # a type that names itself
        within = (*within, hint)
    hint = resolved(hint, module)
    yield hint
    if hint in NUMPYS_OWN or typing.get_origin(hint) is typing.Literal:
        return
    inside = typing.get_args(hint)
    if typing.get_origin(hint) is np.ndarray:
        inside = inside[1:]  # the shape is any
    for part in inside:
        for one in part if isinstance(part, list) else [part]:
            yield from parts(one, module, within)


def signatures(function):
    """A function, or its overloads where it has them."""
    function = inspect.unwrap(function)
    return typing.get_overloads(function) or [function]


def annotations_of_function(function):
    """(what, annotation) of parameters and the result; `inspect.Parameter.empty` where there is none."""
    for one in signatures(function):
        signature = inspect.signature(one)
        for k, parameter in enumerate(signature.parameters.values()):
            if k == 0 and parameter.name in ("self", "cls"):
                continue
            if not (one.__name__ == "__init__" and parameter.name.startswith("_")):
                yield parameter.name, parameter.annotation
        if one.__name__ != "__init__":
            yield "return", signature.return_annotation


def annotations_of_class(kind):
    """(module, what, annotation) of public methods, properties and attributes, inherited ones too."""
    for base in kind.__mro__:
        if not of_saltus(base):
            continue
        module = base.__module__
        declared = vars(base).get("__annotations__", {})
        for name, value in vars(base).items():
            if (name.startswith("_") and name not in SPECIAL) or name in declared:
                continue
            for function in functions_of(value):
                if of_saltus(inspect.unwrap(function)):
                    for what, annotation in annotations_of_function(function):
                        yield inspect.unwrap(function).__module__, f"{name}: {what}", annotation
        for name, annotation in declared.items():
            if not name.startswith("_"):
                yield module, name, annotation
        for name, annotation in attributes(base):
            yield module, name, annotation


def functions_of(value):
    """The functions of a member of a class."""
    if isinstance(value, property):
        return [f for f in (value.fget, value.fset) if f is not None]
    if isinstance(value, functools.cached_property):
        return [value.func]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    return [value] if inspect.isfunction(value) else []


def attributes(kind):
    """(name, annotation) of attributes that methods declare: `self.name: annotation = ...`."""
    module = kind.__module__
    for statement in ast.walk(syntax(module)):
        if isinstance(statement, ast.ClassDef) and statement.name == kind.__name__:
            for part in ast.walk(statement):
                target = part.target if isinstance(part, ast.AnnAssign) else None
                if isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
                    yield target.attr, ast.unparse(part.annotation)


def annotations_of(value):
    if inspect.isclass(value):
        yield from annotations_of_class(value)
    else:
        for what, annotation in annotations_of_function(value):
            yield inspect.unwrap(value).__module__, what, annotation


def walk():
    """(place, module, annotation) of all that is public, and of the classes that it names."""
    todo, seen = public_objects(), set()
    while todo:
        place, value = todo.popitem()
        seen.add(place)
        for module, what, annotation in annotations_of(value):
            yield f"{place} {what}", module, annotation
            if annotation is inspect.Parameter.empty:
                continue
            for part in parts(annotation, module):
                if inspect.isclass(part) and is_walked(part):
                    name = f"{part.__module__}.{part.__qualname__}"
                    if name not in seen:
                        todo[name] = part


def faults():
    for place, module, annotation in walk():
        if annotation is inspect.Parameter.empty:
            yield f"{place} has no annotation"
        elif any(part is typing.Any or part is np.ndarray for part in parts(annotation, module)):
            yield f"{place} has Any: {annotation}"


def test_public_signatures_are_annotated_without_any():
    assert sorted(faults()) == []


def test_all_names_are_written_out_for_type_checkers():
    assert {*saltus.__all__} == {*saltus._HOME, "simulate", "__version__"}
