"""Small nodes of syntax trees, and what is asked of statements by their form."""

import ast
import copy
from typing import Any


class Loop:
    """Variables of a loop: `go`, who has not left it; `now`, who has not left this round; and its statement."""

    def __init__(self, go: str, now: str, statement: ast.stmt):
        self.go, self.now, self.statement = go, now, statement


def load(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def loaded(target: Any) -> Any:
    """A place as it is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    made = copy.deepcopy(target)
    made.ctx = ast.Load()
    return made


def parsed(text: str, at: ast.AST) -> ast.stmt:
    made = ast.parse(text).body[0]
    for node in ast.walk(made):
        ast.copy_location(node, at)
    return made


def is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def shares(assignment: ast.Assign, name: str) -> bool:
    """Whether an assignment lets another variable be the same array as the variable `name`, or the other way round."""
    value, targets = assignment.value, assignment.targets
    if len(targets) > 1:
        return any(isinstance(x, ast.Name) and x.id == name for x in targets)
    if not isinstance(value, ast.Name) or not isinstance(targets[0], ast.Name):
        return False
    return name in (value.id, targets[0].id)


def is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def own_nodes(statement: ast.AST) -> list[ast.AST]:
    """The nodes of a statement, without those of functions inside."""
    if isinstance(statement, ast.FunctionDef | ast.Lambda):
        return []
    return [statement, *[x for child in ast.iter_child_nodes(statement) for x in own_nodes(child)]]


def of_loop(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that break and continue the loop of this body: not those of loops inside."""
    found: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Break | ast.Continue):
            found.append(s)
        elif isinstance(s, ast.If):
            found += of_loop(s.body) + of_loop(s.orelse)
    return found


def ends(body: list[ast.stmt]) -> bool:
    """Whether every way through statements ends in a return."""
    for s in body:
        if isinstance(s, ast.Return):
            return True
        if isinstance(s, ast.If) and s.orelse and ends(s.body) and ends(s.orelse):
            return True
        if isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value and not of_loop(s.body):
            return True
    return False
