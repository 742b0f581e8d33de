"""The source of a user's function as a syntax tree, with the lines of its file, and places in it for messages."""

import __future__

import ast
import functools
import inspect
import linecache
import os
import sys
from types import CodeType, FunctionType
from typing import Any

from saltus.errors import OptionError
from saltus.number.conditions import syntax_tree

Definition = ast.FunctionDef | ast.Lambda


def definition(function: FunctionType) -> Definition | None:
    """The definition of a function or lambda; None where its source is not at hand, or a file has changed since."""
    own = function.__code__
    text = "".join(linecache.getlines(own.co_filename, function.__globals__)) or _program_of(own.co_filename)
    try:
        tree, codes = _compiled(text, own.co_filename, own.co_flags & __future__.annotations.compiler_flag)
    except (SyntaxError, ValueError):
        tree, codes = None, ()
    if tree is not None and own in codes:
        found = [node for node in ast.walk(tree) if _defines(node, own)]
        if len(found) == 1:
            return found[0]
    return syntax_tree(function)


def _program_of(file: str) -> str:
    """The text of the program that runs as `python -c TEXT`, whose functions are in the file "<string>"."""
    given = sys.orig_argv
    return given[given.index("-c") + 1] if file == "<string>" and "-c" in given[:-1] else ""


@functools.lru_cache(maxsize=64)
def _compiled(text: str, file: str, flags: int) -> tuple[ast.Module, tuple[CodeType, ...]]:
    """The tree of a file, and the codes of all functions in it."""
    codes = [compile(text, file, "exec", flags, dont_inherit=True)]
    for code in codes:
        codes += [x for x in code.co_consts if inspect.iscode(x)]
    return ast.parse(text), tuple(codes)


def _defines(node: ast.AST, code: CodeType) -> bool:
    """Whether a node is the definition of a function with this code."""
    if isinstance(node, ast.Lambda):
        body = node.body.lineno, node.body.end_lineno, node.body.col_offset, node.body.end_col_offset
        return code.co_name == "<lambda>" and body in set(code.co_positions())
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *[x.lineno for x in node.decorator_list]]) == code.co_firstlineno


def place(function: Any, line: int | None = None) -> str:
    """A function's name, its file and a line of it, which is its first if none is given."""
    code = function.__code__
    name = "" if code.co_name == "<lambda>" else f"{code.co_name}, "
    return f"{name}{os.path.basename(code.co_filename)}, line {line or code.co_firstlineno}"


def refusal(function: Any, node: Any, why: str) -> OptionError:
    """The error for an expression or statement that cannot be compiled: where it stands, and what to write."""
    text = ast.unparse(node).partition("\n")[0]
    return OptionError(f"{place(function, getattr(node, 'lineno', None))}: {text}: {why}")
