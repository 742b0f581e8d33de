"""Expressions of users' code as calls that mean the same on floats, lanes and duals."""

import ast
import copy
import inspect
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from numba.extending import is_jitted

from saltus.dynamics.users.calls import FILLED, HELPERS, IN_PAIRS, MEANING, similar
from saltus.dynamics.users.source import refusal
from saltus.errors import OptionError, proposal
from saltus.number.conditions import CONDITIONS
from saltus.number.python.numbers import POWERS

__all__ = ["HELPERS", "Expressions"]
MISSING = object()
LARGEST = 32  # numbers in a small array
REMEDIES: dict[type, str] = {
    ast.ListComp: "compiled code makes no lists; write a loop that adds up, or the tuple (a, b, c)",
    ast.GeneratorExp: "compiled code makes no lists; write a loop that adds up",
    ast.SetComp: "compiled code makes no sets; write a loop",
    ast.DictComp: "compiled code makes no dictionaries; write a loop",
    ast.Dict: "compiled code makes no dictionaries; use variables, or the tuple (a, b, c)",
    ast.Set: "compiled code makes no sets; use the tuple (a, b, c)",
    ast.JoinedStr: "compiled code makes no text",
    ast.NamedExpr: "give the variable its value in a statement of its own",
    ast.Await: "compiled code cannot wait",
    ast.Yield: "a compiled function returns its value",
    ast.YieldFrom: "a compiled function returns its value",
}


class Expressions(ast.NodeTransformer):
    """Rewrites expressions of one function; `used` are the helpers that they call.

    `names`: what the function's names refer to outside of it; `local`: its own variables; `fields`: known fields of
    its arguments that are structs.
    """

    def __init__(
        self, function: FunctionType, names: Mapping[str, Any], local: set[str], fields: Mapping[str, Mapping[str, Any]]
    ):
        self.used: set[str] = set()
        self.pending: list[ast.stmt] = []
        self._function, self._names, self._local, self._fields = function, names, local, fields
        self._count = 0

    def fresh(self) -> str:
        """The name of a new variable."""
        self._count += 1
        return f"_saltus{self._count}"

    def keep(self, value: ast.expr) -> ast.expr:
        """A variable with a value, which `pending` statements give it before the one that is being rewritten."""
        name = self.fresh()
        made = ast.Assign([ast.Name(name, ast.Store())], value)
        self.pending.append(ast.fix_missing_locations(ast.copy_location(made, value)))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def call(self, helper: str, *arguments: ast.expr) -> ast.expr:
        """A call of a helper, such as "select"."""
        name = helper if helper.startswith("_saltus_") else f"_saltus_{helper}"
        self.used.add(name)
        call = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
        return ast.fix_missing_locations(ast.copy_location(call, arguments[0]))

    def refuse(self, node: ast.AST, why: str) -> OptionError:
        """The error for a node of the function."""
        return refusal(self._function, node, why)

    def meaning(self, node: ast.expr) -> Any:
        """The value of a name, or of an attribute of a module, outside of the function; MISSING if nothing is known."""
        if isinstance(node, ast.Name):
            return MISSING if node.id in self._local else self._names.get(node.id, MISSING)
        if isinstance(node, ast.Attribute):
            module = self.meaning(node.value)
            if isinstance(module, ModuleType):
                return getattr(module, node.attr, MISSING)
        return MISSING

    # ------------------------------------------------------------ truth

    def is_fixed(self, test: ast.expr) -> bool:
        """Whether a condition is decided when a kernel is compiled."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.is_fixed(test.operand)
        if isinstance(test, ast.BoolOp):
            return all(map(self.is_fixed, test.values))
        return isinstance(test, ast.Call) and any(self.meaning(test.func) is x for x in CONDITIONS)

    def is_truth(self, node: ast.expr) -> bool:
        """Whether an expression is one of truths by its form."""
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_truth, node.values))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        return isinstance(node, ast.Compare)

    def truth(self, node: ast.expr) -> ast.expr:
        """An expression where only its truth counts."""
        if self.is_fixed(node):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.call("negated", self.truth(node.operand))
        if isinstance(node, ast.BoolOp):
            made = self.truth(node.values[0])
            for value in node.values[1:]:
                made = self._joined(node.op, made, value)
            return made
        made = self.visit(node)
        return made if self.is_truth(node) else self.call("truth", made)

    def _joined(self, op: ast.boolop, left: ast.expr, value: ast.expr) -> ast.expr:
        """`left and value` or `left or value`; a value that has a risk is computed where it decides only."""
        name, right = "both" if isinstance(op, ast.And) else "either", self.truth(value)
        if not self._has_risk(value):
            return self.call(name, left, right)
        kept = self.keep(left)
        open_ = kept if name == "both" else self.call("negated", kept)
        lazily = ast.copy_location(ast.IfExp(self.call("any", open_), right, kept), value)
        return self.call(name, kept, lazily)

    def _has_risk(self, node: ast.expr) -> bool:
        """Whether an expression must not be computed where it does not count: it may read beyond a field's end."""
        for part in ast.walk(node):
            if isinstance(part, ast.Subscript) and not isinstance(part.slice, ast.Constant):
                return True
            if isinstance(part, ast.Call) and not self._is_known(part.func):
                return True
        return False

    def _is_known(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Name) and function.id.startswith("_saltus_"):
            return True
        value = self.meaning(function)
        return value is not MISSING and _hashable(value) and (value in MEANING or value in IN_PAIRS)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if self.is_fixed(node):
            return node
        if self.is_truth(node):
            return self.truth(node)
        *others, made = [self.visit(value) for value in node.values]
        for value in reversed(others):
            kept = self.keep(value)
            pair = (made, kept) if isinstance(node.op, ast.And) else (kept, made)
            made = self.call("select", self.call("truth", kept), *pair)
        return made

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.is_fixed(node.test):
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
            return node
        risk = self._has_risk(node.body) or self._has_risk(node.orelse)
        test, body, orelse = self.truth(node.test), self.visit(node.body), self.visit(node.orelse)
        if not risk:
            return self.call("select", test, body, orelse)
        kept = self.keep(test)
        # where no simulation takes a side, the other one stands for it
        one = ast.copy_location(ast.IfExp(self.call("any", kept), body, orelse), node)
        other = ast.copy_location(ast.IfExp(self.call("any", self.call("negated", kept)), orelse, body), node)
        return self.call("select", kept, one, other)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        made = None
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            one = self._compared(node, op, left, right)
            made = one if made is None else self.call("both", made, one)
        assert made is not None
        return made

    def _compared(self, node: ast.Compare, op: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
        if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List) and right.elts:
            found = None
            for element in right.elts:
                one = self._compared(node, ast.Eq(), left, element)
                found = one if found is None else self.call("either", found, one)
            assert found is not None
            return self.call("negated", found) if isinstance(op, ast.NotIn) else found
        # the middle of a chain is compared twice
        pair = [self.visit(copy.deepcopy(x)) for x in (left, right)]
        a, b = (self.call("number", y) if self.is_truth(x) else y for x, y in zip((left, right), pair, strict=True))
        return ast.copy_location(ast.Compare(a, [op], [b]), node)

    # ------------------------------------------------------------ arithmetic

    def binary(self, node: ast.AST, op: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr:
        """An operation on operands that are rewritten."""
        if isinstance(op, ast.Pow):
            return self._power(left, right)
        if isinstance(op, ast.Mod | ast.FloorDiv):
            return self.call("of_mod" if isinstance(op, ast.Mod) else "of_floordiv", left, right)
        return ast.copy_location(ast.BinOp(left, op, right), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self.binary(node, node.op, self.visit(node.left), self.visit(node.right))

    def _power(self, x: ast.expr, exponent: ast.expr) -> ast.expr:
        """x to a power; small whole ones as products."""
        value = _constant(exponent)
        if value == 0.5:
            return self.call("sqrt", x)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= abs(value) < len(POWERS):
            return self.call("of_pow", x, exponent)
        made = self.call(f"to_{abs(value)}", x)
        return made if value > 0 else ast.copy_location(ast.BinOp(_one(x), ast.Div(), made), x)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self.truth(node)
        operand = self.visit(node.operand)
        if self.is_truth(node.operand) and not isinstance(node.op, ast.Invert):
            operand = self.call("number", operand)
        return operand if isinstance(node.op, ast.UAdd) else ast.copy_location(ast.UnaryOp(node.op, operand), node)

    # ------------------------------------------------------------ calls and fields

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self.is_fixed(node):
            return node
        value = self.meaning(node.func)
        arguments = [self.visit(x) for x in node.args]
        if _hashable(value) and value in MEANING and arguments:
            if len(arguments) == 2 and getattr(value, "__name__", "") == "log":  # to a base
                parts = [self.call(MEANING[value], x) for x in arguments]
                return ast.copy_location(ast.BinOp(parts[0], ast.Div(), parts[1]), node)
            if len(arguments) == 3 and value is pow:
                return self.call("of_mod", self._power(*arguments[:2]), arguments[2])
            return self._with_keywords(node, self.call(MEANING[value], *arguments))
        if _hashable(value) and value in IN_PAIRS:
            given = arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.Tuple) else arguments
            if len(given) < 2 or node.keywords:
                raise self.refuse(node, f"write its arguments one by one: {ast.unparse(node.func)}(a, b, c)")
            made = given[0]
            for argument in given[1:]:
                made = self.call(IN_PAIRS[value], made, argument)
            return made
        if _hashable(value) and value in FILLED:
            return self._filled(node, FILLED[value])
        self._check_call(node, value)
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return ast.copy_location(ast.Call(self.visit(node.func), arguments, node.keywords), node)

    def _filled(self, node: ast.Call, value: float) -> ast.expr:
        """A small array of one number."""
        count = _constant(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if not isinstance(count, int) or not 1 <= count <= LARGEST:
            why = f"the size of an array is a number from 1 to {LARGEST} that stands here, such as np.zeros(3)"
            raise self.refuse(node, why)
        items = [ast.copy_location(ast.Constant(value), node) for _ in range(count)]
        return self.call("array_of", ast.copy_location(ast.Tuple(items, ast.Load()), node))

    def visit_List(self, node: ast.List) -> ast.expr:
        if not node.elts or any(isinstance(x, ast.List | ast.Starred) for x in node.elts):
            raise self.refuse(node, "arrays are of one or more numbers: [a, b, c]")
        items = ast.Tuple([self.visit(x) for x in node.elts], ast.Load())
        return self.call("array_of", ast.copy_location(items, node))

    def sliced(self, node: ast.Subscript) -> list[ast.Subscript] | None:
        """The places of a slice, one by one; None without a slice."""
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = [k for k, x in enumerate(indices) if isinstance(x, ast.Slice)]
        if not slices:
            return None
        part = indices[slices[0]]
        assert isinstance(part, ast.Slice)
        low, high, step = (
            default if x is None else _constant(x)
            for x, default in ((part.lower, 0), (part.upper, None), (part.step, 1))
        )
        fine = all(isinstance(x, int) for x in (low, high, step)) and len(slices) == 1
        if not fine or low < 0 or step < 1 or not 0 < len(range(low, high, step)) <= LARGEST:
            raise self.refuse(node, "a slice needs numbers as its ends, such as d.qpos[0:3]; write a loop otherwise")
        made = []
        for k in range(low, high, step):
            place = copy.deepcopy(node)
            index: ast.expr = ast.copy_location(ast.Constant(k), node)
            if isinstance(place.slice, ast.Tuple):
                place.slice.elts[slices[0]] = index
            else:
                place.slice = index
            made.append(place)
        return made

    def _with_keywords(self, node: ast.Call, call: Any) -> ast.expr:
        if node.keywords:
            raise self.refuse(node, f"{ast.unparse(node.func)} is compiled without {node.keywords[0].arg}=")
        return call

    def _check_call(self, node: ast.Call, value: Any) -> None:
        """OptionError for functions that cannot be called in kernels."""
        if value is MISSING or is_jitted(value) or isinstance(value, type):
            return
        if value is print:
            raise self.refuse(node, "compiled code prints nothing; record the value, or run a function of your own")
        module = str(getattr(value, "__module__", "") or type(value).__module__).partition(".")[0]
        if module in ("math", "numpy"):
            known = similar(value)
            hint = proposal(value.__name__, known)
            raise self.refuse(node, f"{ast.unparse(node.func)} is not compiled{hint} (known: {', '.join(known)})")
        if isinstance(value, FunctionType) and not module == "saltus" and not hasattr(value, "py_func"):
            raise self.refuse(
                node,
                f"{value.__name__} is a plain function; decorate it with @kernel (from saltus.number.kernels import "
                "kernel), which compiles it as it stands",
            )

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self._fields:
            known = self._fields[node.value.id]
            if node.attr not in known and not node.attr.startswith("layout"):
                hint = proposal(node.attr, known) or "; fields have MuJoCo's names"
                raise self.refuse(node, f"{node.value.id} has no field {node.attr!r}{hint}")
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        places = self.sliced(node)
        if places is not None:
            items = ast.Tuple([self.visit(x) for x in places], ast.Load())
            return self.call("array_of", ast.copy_location(items, node))
        self._check_index(node)
        return self.generic_visit(node)

    def _check_index(self, node: ast.Subscript) -> None:
        """OptionError for slices, and for places counted from the end, which fields do not have."""
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        own = isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name)
        if not (own and node.value.value.id in self._fields):
            return
        for index in indices:
            value = _constant(index)
            if isinstance(value, int) and value < 0:
                raise self.refuse(
                    node, f"fields are not counted from the end; write the size {value}, such as m.nv {value}"
                )

    def generic_visit(self, node: Any) -> Any:
        if type(node) in REMEDIES:
            raise self.refuse(node, REMEDIES[type(node)])
        return super().generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node


def _one(at: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(1.0), at)


def _constant(node: ast.expr) -> Any:
    """The number that an expression is by its form, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _constant(node.operand)
        return None if value is None else -value
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) else None


def _hashable(value: Any) -> bool:
    return inspect.isroutine(value) or isinstance(value, type) or type(value).__module__.startswith("numpy")
