"""Statements of users' code under masks: each simulation takes its own branch and leaves its own loop.

A statement that only some simulations reach stores `select(mask, value, old)`, and is left out where no simulation
reaches it. For a single simulation the mask is a truth value, so that branches are branches. The scheme is that of
Allen, Kennedy, Porterfield and Warren, Conversion of control dependence to data dependence (1983).
"""

import ast
import copy
from types import FunctionType
from typing import Any

from saltus.dynamics.users.expressions import Expressions
from saltus.dynamics.users.source import refusal

RESULT, LIVE = "_saltus_result", "_saltus_live"
REMEDIES: dict[type, str] = {
    ast.Raise: "compiled code raises no exceptions; return a value that says so, or give d.userdata one",
    ast.Try: "compiled code has no exceptions; test the value before",
    ast.Assert: "compiled code raises no exceptions; test the value in a function of your own",
    ast.With: "compiled code has no contexts",
    ast.Import: "import at the top of the file",
    ast.ImportFrom: "import at the top of the file",
    ast.Global: "compiled code changes no variables outside of it; use d.userdata[i], or a state of the controller",
    ast.Nonlocal: "compiled code changes no variables outside of it; use d.userdata[i], or a state of the controller",
    ast.Delete: "compiled code deletes nothing",
    ast.ClassDef: "compiled code makes no classes",
    ast.Match: "write if and elif",
}
Names = frozenset[str]


class Statements:
    """Rewrites the statements of one function with these arguments."""

    def __init__(self, function: FunctionType, expressions: Expressions, arguments: list[str]):
        self._function, self._e = function, expressions
        self._sure = set(arguments)  # variables that have a value for certain
        self._seen: set[str] = set()  # variables to which statements above this one may have given a value
        self._flags: dict[str, None] = {}  # variables that say whether another one has a value
        self._returns = False  # whether some simulations may return before others
        self._loops: list[_Loop] = []
        self._assignments: list[ast.Assign] = []

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten body of the function."""
        self._assignments = [x for s in body for x in _own(s) if isinstance(x, ast.Assign)]
        valued = [x for s in body for x in _own(s) if isinstance(x, ast.Return) and x.value is not None]
        if valued and not _ends(body):
            why = "this value is not returned on every way through the function; end it with a return of its own"
            raise refusal(self._function, valued[-1], why)
        made = self._block(body, None, (LIVE,))
        at = body[0]
        if self._returns and valued:
            made.append(_new(f"return {RESULT}", at))
        flags = [_new(f"{name} = False", at) for name in self._flags]
        live = [_new(f"{LIVE} = True", at)] if self._returns else []
        return [*flags, *live, *made]

    # ------------------------------------------------------------ blocks

    def _block(self, body: list[ast.stmt], on: str | None, flags: tuple[str, ...]) -> list[ast.stmt]:
        """Statements that the simulations of the mask `on` reach (None: all), as long as `flags` hold."""
        made: list[ast.stmt] = []
        for k, statement in enumerate(body):
            made += self._statement(statement, on, flags)
            if isinstance(statement, ast.Return | ast.Break | ast.Continue):
                return made
            left = [flag for flag in self._left(statement, on) if flag in flags]
            if left and body[k + 1 :]:
                rest = self._e.fresh()
                made.append(self._set(rest, self._all(([on] if on else []) + left, statement), statement))
                sure = set(self._sure)
                inner = self._block(body[k + 1 :], rest, flags)
                self._sure = sure
                return [*made, self._if_any(rest, inner, statement)]
        return made or [ast.Pass()]

    def _left(self, statement: ast.stmt, on: str | None) -> list[str]:
        """Flags that a statement may take from some simulations only."""
        if not isinstance(statement, ast.If | ast.For | ast.While):
            return []
        found = []
        inner = _own(statement)
        if self._returns and any(isinstance(x, ast.Return) for x in inner):
            found.append(LIVE)
        loop = self._loops[-1] if self._loops else None
        if loop is not None:
            mine = _of_loop([statement])
            found += [loop.go] if any(isinstance(x, ast.Break) for x in mine) else []
            found += [loop.now] if any(isinstance(x, ast.Continue) for x in mine) else []
        return found

    def _pending(self) -> list[ast.stmt]:
        """Statements that expressions need before the one in which they stand."""
        made, self._e.pending = self._e.pending, []
        return made

    def _statement(self, s: ast.stmt, on: str | None, flags: tuple[str, ...]) -> list[ast.stmt]:
        made = self._rewritten(s, on, flags)
        return [*self._pending(), *made]

    def _rewritten(self, s: ast.stmt, on: str | None, flags: tuple[str, ...]) -> list[ast.stmt]:
        if type(s) in REMEDIES:
            raise refusal(self._function, s, REMEDIES[type(s)])
        if isinstance(s, ast.If):
            return self._if(s, on, flags)
        if isinstance(s, ast.For | ast.While):
            return self._loop(s, on, flags)
        if isinstance(s, ast.Return):
            return self._return(s, on)
        if isinstance(s, ast.Break | ast.Continue):
            loop = self._loops[-1]
            if on is None:
                return [s]
            return self._leave(loop.go if isinstance(s, ast.Break) else loop.now, on, s)
        if isinstance(s, ast.Assign):
            return self._assign(s, s.targets, self._e.visit(s.value), on)
        if isinstance(s, ast.AnnAssign):
            return self._assign(s, [s.target], self._e.visit(s.value), on) if s.value else []
        if isinstance(s, ast.AugAssign):
            old, before = self._steady(s.target)
            value = self._e.binary(s, s.op, self._e.visit(_loaded(old)), self._e.visit(s.value))
            return [*before, *self._assign(s, [old], value, on)]
        if isinstance(s, ast.Expr):
            if isinstance(s.value, ast.Constant):
                return []
            call = ast.copy_location(ast.Expr(self._e.visit(s.value)), s)
            return [call] if on is None else [self._test(self._e.call("single", _load(on, s)), [call], [], s)]
        return [s]  # functions inside, pass

    # ------------------------------------------------------------ branches

    def _if(self, s: ast.If, on: str | None, flags: tuple[str, ...]) -> list[ast.stmt]:
        before = set(self._sure)
        if self._e.is_fixed(s.test):
            body = self._block(s.body, on, flags)
            after, self._sure = self._sure, set(before)
            orelse = self._block(s.orelse, on, flags) if s.orelse else []
            self._sure &= after
            return [self._test(s.test, body, orelse, s)]
        condition, then = self._e.fresh(), self._e.fresh()
        test = self._set(condition, self._e.truth(s.test), s.test)
        made = [*self._pending(), test, self._set(then, self._with(on, condition, s), s)]
        self._returns = self._returns or any(isinstance(x, ast.Return) for x in _own(s))
        made.append(self._if_any(then, self._block(s.body, then, flags), s))
        self._sure = set(before)
        if s.orelse:
            other = self._e.fresh()
            mask = self._e.call("negated", _load(condition, s))
            mask = mask if on is None else self._e.call("both", _load(on, s), mask)
            made.append(self._set(other, mask, s))
            made.append(self._if_any(other, self._block(s.orelse, other, flags), s))
            self._sure = set(before)
        return made

    def _return(self, s: ast.Return, on: str | None) -> list[ast.stmt]:
        value = self._e.visit(s.value) if s.value is not None else None
        if value is not None and "_saltus_array_of" in self._e.used:
            value = self._e.call("returned", value)
        if on is None:
            return [ast.copy_location(ast.Return(value), s)]
        made = [] if value is None else self._store_name(RESULT, value, on, s)
        return [*made, *self._leave(LIVE, on, s)]

    def _leave(self, flag: str, on: str, at: ast.AST) -> list[ast.stmt]:
        """The simulations of a mask give up a flag."""
        gone = self._e.call("negated", _load(on, at))
        return [self._set(flag, self._e.call("both", _load(flag, at), gone), at)]

    # ------------------------------------------------------------ loops

    def _loop(self, s: ast.For | ast.While, on: str | None, flags: tuple[str, ...]) -> list[ast.stmt]:
        if s.orelse:
            raise refusal(
                self._function, s, "a loop is compiled without else; set a variable before break, and test it"
            )
        loop = _Loop(self._e.fresh(), self._e.fresh(), s)
        returns = any(isinstance(x, ast.Return) for x in _own(s))
        own = _of_loop(s.body)
        leaves = [isinstance(x, ast.Break | ast.Continue) for x in own]
        masked = isinstance(s, ast.While) or any(leaves) or returns
        self._returns = self._returns or returns
        before = set(self._sure)
        self._loops.append(loop)
        if masked:
            made = self._masked_loop(s, loop, on, returns)
        else:
            assert isinstance(s, ast.For)
            target, over = self._targets(s.target), self._range(s.iter)
            made = [
                *self._pending(),
                ast.copy_location(
                    ast.For(target, over, [*self._known(target, s), *self._block(s.body, on, ())], []), s
                ),
            ]
        self._loops.pop()
        self._sure = before
        return made

    def _masked_loop(self, s: ast.For | ast.While, loop: "_Loop", on: str | None, returns: bool) -> list[ast.stmt]:
        """A loop that runs until no simulation is in it any more."""
        start = [self._set(loop.go, _load(on, s) if on else ast.Constant(True), s)]
        head: list[ast.stmt] = []
        target = self._targets(s.target) if isinstance(s, ast.For) else None
        over = self._range(s.iter) if isinstance(s, ast.For) else None
        start += self._pending()
        if isinstance(s, ast.While):
            test = self._e.call("both", _load(loop.go, s), self._e.truth(s.test))
            head += [*self._pending(), self._set(loop.go, test, s.test)]
        mask = self._e.fresh()
        head.append(self._set(mask, self._all([loop.go, *([LIVE] if returns else [])], s), s))
        stop = self._e.call("negated", self._e.call("any", _load(mask, s)))
        head.append(self._test(stop, [ast.copy_location(ast.Break(), s)], [], s))
        head.append(self._set(loop.now, ast.Constant(True), s))
        body = [*head, *self._block(s.body, mask, (LIVE, loop.go, loop.now))]
        if isinstance(s, ast.For):
            body = [*self._known(target, s), *body]
            return [*start, ast.copy_location(ast.For(target, over, body, []), s)]
        return [*start, ast.copy_location(ast.While(ast.copy_location(ast.Constant(True), s), body, []), s)]

    def _targets(self, target: ast.expr) -> ast.expr:
        """The variables of a loop, which have values inside."""
        names = {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
        self._sure |= names
        self._seen |= names
        return target

    def _known(self, target: ast.expr, at: ast.AST) -> list[ast.stmt]:
        """The variables of a loop have values after it, too."""
        return [_new(f"_saltus_has_{x.id} = True", at) for x in ast.walk(target) if isinstance(x, ast.Name)]

    def _range(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and self._e.meaning(node.func) in (range, enumerate, zip):
            return ast.copy_location(ast.Call(node.func, [self._e.visit(x) for x in node.args], node.keywords), node)
        return self._e.visit(node)

    # ------------------------------------------------------------ assignments

    def _assign(self, s: ast.stmt, targets: list[Any], value: ast.expr, on: str | None) -> list[ast.stmt]:
        if on is None and len(targets) == 1:
            return [*self._store(targets[0], value, None, s)]
        made: list[ast.stmt] = []
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            kept = self._e.fresh()
            made.append(self._set(kept, value, s))
            value = _load(kept, s)
        for target in targets:
            made += self._store(target, value, on, s)
        return made

    def _store(self, target: Any, value: ast.expr, on: str | None, at: ast.stmt) -> list[ast.stmt]:
        if isinstance(target, ast.Name):
            return self._store_name(target.id, value, on, at)
        if isinstance(target, ast.Tuple | ast.List):
            if any(isinstance(x, ast.Starred) for x in target.elts):
                raise refusal(self._function, at, "compiled code has no lists; name each variable")
            if on is None:
                self._sure |= {x.id for x in target.elts if isinstance(x, ast.Name)}
                elements = [x if isinstance(x, ast.Name) else self._e.visit(x) for x in target.elts]
                names = [x.id for x in target.elts if isinstance(x, ast.Name)]
                self._seen |= set(names)
                known = [_new(f"_saltus_has_{name} = True", at) for name in names]
                return [ast.copy_location(ast.Assign([ast.Tuple(elements, ast.Store())], value), at), *known]
            made: list[ast.stmt] = []
            for k, element in enumerate(target.elts):
                part = ast.copy_location(ast.Subscript(value, ast.Constant(k), ast.Load()), at)
                made += self._store(element, part, on, at)
            return made
        places = self._e.sliced(target) if isinstance(target, ast.Subscript) else None
        if places is not None:
            return self._store_slice(places, value, on, at)
        place, before = self._steady(target)
        if isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name) and self._is_array(place.value.id):
            return [*before, *self._store_element(place, value, on, at)]
        if on is not None:
            value = self._e.call("select", _load(on, at), value, self._e.visit(_loaded(place)))
        return [*before, ast.copy_location(ast.Assign([self._e.visit(place)], value), at)]

    def _store_slice(self, places: list[Any], value: ast.expr, on: str | None, at: ast.stmt) -> list[ast.stmt]:
        """A number, or those of an array, in the places of a slice."""
        kept = self._e.fresh()
        made = [self._set(kept, value, at)]
        for k, place in enumerate(places):
            index = ast.copy_location(ast.Constant(k), at)
            made += self._store(place, self._e.call("item", _load(kept, at), index), on, at)
        return made

    def _is_array(self, name: str) -> bool:
        """Whether a variable is a small array, not a field or an argument."""
        own = [x.value for x in self._assignments if any(_is_name(y, name) for y in x.targets)]
        return bool(own) and not any(isinstance(x, ast.Attribute) for x in own)

    def _store_element(self, place: ast.Subscript, value: ast.expr, on: str | None, at: ast.stmt) -> list[ast.stmt]:
        """An element of a small array: the variable becomes an array with another number there."""
        assert isinstance(place.value, ast.Name)
        name = place.value.id
        others = [x for x in self._assignments if _shares(x, name)]
        if others:
            why = f"{name} would be the same array as another variable; write np.array({ast.unparse(others[0].value)})"
            raise refusal(self._function, others[0], why)
        if isinstance(place.slice, ast.Tuple):
            raise refusal(self._function, at, "arrays have one index")
        changed = self._e.call("replaced", _load(name, at), place.slice, value)
        return self._store_name(name, changed, on, at)

    def _store_name(self, name: str, value: ast.expr, on: str | None, at: ast.AST) -> list[ast.stmt]:
        if on is None:
            self._sure.add(name)
            self._seen.add(name)
            return [self._set(name, value, at), _new(f"_saltus_has_{name} = True", at)]
        if name in self._sure:
            return [self._set(name, self._e.call("select", _load(on, at), value, _load(name, at)), at)]
        # the first value is for all simulations; later ones for those of their masks
        known, kept = f"_saltus_has_{name}", self._e.fresh()
        self._flags[known] = None
        chosen = self._set(name, self._e.call("select", _load(on, at), _load(kept, at), _load(name, at)), at)
        first = self._set(name, _load(kept, at), at)
        if name not in self._seen and not self._loops:
            self._seen.add(name)
            return [self._set(kept, value, at), first, _new(f"{known} = True", at)]
        self._seen.add(name)
        return [
            self._set(kept, value, at),
            self._test(_load(known, at), [chosen], [first], at),
            _new(f"{known} = True", at),
        ]

    def _steady(self, target: Any) -> tuple[Any, list[ast.stmt]]:
        """A place that is written once and read once, and what computes its indices before."""
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
            return target, []
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        made, before = [], []
        for index in indices:
            if isinstance(index, ast.Constant | ast.Name | ast.Slice) or _is_negative(index):
                made.append(index)
                continue
            kept = self._e.fresh()
            before.append(self._set(kept, self._e.visit(index), index))
            made.append(_load(kept, index))
        inside = ast.Tuple(made, ast.Load()) if isinstance(target.slice, ast.Tuple) else made[0]
        place = ast.Subscript(target.value, inside, ast.Store())
        return ast.fix_missing_locations(ast.copy_location(place, target)), before

    # ------------------------------------------------------------ small nodes

    def _with(self, on: str | None, condition: str, at: ast.AST) -> ast.expr:
        return self._all([on, condition] if on else [condition], at)

    def _all(self, names: list[str], at: ast.AST) -> ast.expr:
        """Where all these masks hold."""
        made = _load(names[0], at)
        for name in names[1:]:
            made = self._e.call("both", made, _load(name, at))
        return made

    def _if_any(self, mask: str, body: list[ast.stmt], at: ast.AST) -> ast.stmt:
        return self._test(self._e.call("any", _load(mask, at)), body, [], at)

    def _test(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], at: ast.AST) -> ast.stmt:
        return ast.fix_missing_locations(ast.copy_location(ast.If(test, body or [ast.Pass()], orelse), at))

    def _set(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at))


class _Loop:
    """Variables of a loop: `go`, who has not left it; `now`, who has not left this round; and its statement."""

    def __init__(self, go: str, now: str, statement: ast.stmt):
        self.go, self.now, self.statement = go, now, statement


def _load(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _loaded(target: Any) -> Any:
    """A place as it is read."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    made = copy.deepcopy(target)
    made.ctx = ast.Load()
    return made


def _new(text: str, at: ast.AST) -> ast.stmt:
    made = ast.parse(text).body[0]
    for node in ast.walk(made):
        ast.copy_location(node, at)
    return made


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _shares(assignment: ast.Assign, name: str) -> bool:
    """Whether an assignment lets another variable be the same array as the variable `name`, or the other way round."""
    value, targets = assignment.value, assignment.targets
    if len(targets) > 1:
        return any(isinstance(x, ast.Name) and x.id == name for x in targets)
    if not isinstance(value, ast.Name) or not isinstance(targets[0], ast.Name):
        return False
    return name in (value.id, targets[0].id)


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _own(statement: ast.AST) -> list[ast.AST]:
    """The nodes of a statement, without those of functions inside."""
    if isinstance(statement, ast.FunctionDef | ast.Lambda):
        return []
    return [statement, *[x for child in ast.iter_child_nodes(statement) for x in _own(child)]]


def _of_loop(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that break and continue the loop of this body: not those of loops inside."""
    found: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Break | ast.Continue):
            found.append(s)
        elif isinstance(s, ast.If):
            found += _of_loop(s.body) + _of_loop(s.orelse)
    return found


def _ends(body: list[ast.stmt]) -> bool:
    """Whether every way through statements ends in a return."""
    for s in body:
        if isinstance(s, ast.Return):
            return True
        if isinstance(s, ast.If) and s.orelse and _ends(s.body) and _ends(s.orelse):
            return True
        if isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value and not _of_loop(s.body):
            return True
    return False
