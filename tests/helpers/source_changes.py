"""One thing changed at random in a copy of the package's sources: which kernels are told to have changed, and results.

    PYTHONPATH=tests:. python -m helpers.source_changes 500 [seed]
    PYTHONPATH=tests:. python -m helpers.source_changes results 100 [seed]

The first prints, over that many changes, those after which a kernel or one that calls it kept its fingerprint, or one
that does not call it lost it. Who calls whom is read from the syntax trees, by names alone, without the package's own
walk. The second changes what the programs of `helpers.changed_programs` run, and prints those after which their results
with the kernels compiled before the change differ from those with an empty cache.
"""

import ast
import contextlib
import functools
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from helpers.changed_copies import PACKAGE, PROGRAMS, STEPS, Copy
from saltus.integrate.registry import find_integrator
from saltus.number.cache.fingerprint import EXTENSIONS, KERNEL_ROOMS

OF_PROGRAMS = "changed_programs"
LOOPS = "saltus.simulate.engine.loops"
ALL_PROGRAMS = ("motion", "batch", "derivative", "soft", "hard", "users")
SHORT = 50  # characters of what is no result but an error
MORE_ROOMS = ("draw", "env", "target")  # with kernels that are not physics


@functools.cache
def all_modules():
    """All files by the names of their modules, and the programs."""
    found = {".".join(("saltus", *p.relative_to(PACKAGE).with_suffix("").parts)): p for p in PACKAGE.rglob("*.py")}
    return found | {OF_PROGRAMS: PROGRAMS}


@functools.cache
def modules():
    """Files in the rooms of kernels, and others with kernels, by the names of their modules."""
    found = {}
    for name, path in sorted(all_modules().items()):
        room = name.split(".")[1] if "." in name else ""
        more = room in (*MORE_ROOMS, "") and "number.kernels import" in path.read_text()
        if path.name != "__init__.py" and (room in KERNEL_ROOMS or more):
            found[name] = path
    return found


@functools.cache
def tree_of(module):
    """The syntax tree of a module."""
    return ast.parse(all_modules()[module].read_text())


# ---------------------------------------------------------------- who refers to what


def defined(tree, module):
    """{name: (full name, node)} of what a module defines or imports at its top."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("saltus"):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}", None
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = f"{module}.{node.name}", node
            chosen = [
                d.args[0] for d in node.decorator_list if isinstance(d, ast.Call) and "overload" in ast.unparse(d.func)
            ]
            for function in chosen:  # what the compiler takes in its place
                found[f"overload {function.id}"] = f"{module}.{function.id}", node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                pairs = [(target, node)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):  # a, b = f, g
                    starred = any(isinstance(value, ast.Starred) for value in node.value.elts)
                    pairs = pairs if starred else zip(target.elts, node.value.elts, strict=True)
                for names, value in pairs:
                    for name in ast.walk(names):
                        if isinstance(name, ast.Name):
                            found[name.id] = f"{module}.{name.id}", value
    return found


def references():
    """{full name: full names that its definition refers to}: exactly, and with attributes as if they were names."""
    exact, wide = {}, {}
    for module in all_modules():
        known = defined(tree_of(module), module)
        for full, node in known.values():
            if node is None:
                continue
            inside = list(ast.walk(node))
            local = {a.arg for a in inside if isinstance(a, ast.arg)}
            local |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            local |= {n.name for n in inside if isinstance(n, ast.FunctionDef) and n is not node}
            used = {n.id for n in inside if isinstance(n, ast.Name)}
            attributes = [n for n in inside if isinstance(n, ast.Attribute)]
            taken = [n for n in attributes if isinstance(n.value, ast.Name) and n.value.id in known]
            of_modules = {f"{known[n.value.id][0]}.{n.attr}" for n in taken}
            exact.setdefault(full, set()).update({known[x][0] for x in used - local if x in known} | of_modules)
            names = used | {n.attr for n in attributes}
            wide.setdefault(full, set()).update({known[x][0] for x in names if x in known} | of_modules)
    return exact | _of_loops(exact), wide | _of_loops(wide)


def _of_loops(graph):
    """Functions to which loops of integrators refer, which are made when they are asked for."""
    found = {}
    for name in STEPS:
        integrator = find_integrator(name, "")
        tangents = integrator.tangent_step or ()
        step, *others = [f"{x.py_func.__module__}.{x.py_func.__qualname__}" for x in (integrator.step, *tangents)]
        assert {step, *others} <= graph.keys()
        found[f"loop {name}"] = {f"{LOOPS}._advance", step}
        found[f"batch {name}"] = {f"{LOOPS}._advance_batch", step}
        linearize = "_linearize_by_tangents" if tangents else "_linearize"
        found[f"derivative {name}"] = {f"{LOOPS}.{linearize}", step, *others}
    return found


def callers(graph, changed):
    """Functions that refer to `changed`, directly or by way of others, and itself."""
    back = {}
    for name, used in graph.items():
        for other in used:
            back.setdefault(other, set()).add(name)
    return _reached(back, changed)


def _reached(graph, start):
    found, open_ = set(), [start]
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += graph.get(name, ())
    return found


# ---------------------------------------------------------------- changes

SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Lt: ast.Gt, ast.Gt: ast.Lt}
OTHER_TYPE = {"ints": "reals", "reals": "ints", "lane_reals": "reals"}
IN_NUMBER = {"intrinsic": ("intrinsics", "threads", "components", "functions"), "type": ("struct", "kinds", "lanes")}
NEUTRAL = ("docstring", "annotation")  # nothing is compiled anew


class Change(NamedTuple):
    """A kind of change, the full name of what is changed, and the change itself, of a tree."""

    kind: str
    name: str
    make: object


def decorated(node):
    """Whether a definition is a kernel."""
    return isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(d) for d in node.decorator_list)


def is_entry(node):
    return isinstance(node, ast.FunctionDef) and any("entry" in ast.unparse(d) for d in node.decorator_list)


@functools.cache
def arities():
    """Numbers of arguments of kernels without defaults, by their full names."""
    return {
        f"{module}.{node.name}": len(node.args.args)
        for module in modules()
        for node in tree_of(module).body
        if decorated(node) and not node.args.defaults
    }


def places(tree, module):
    """Changes that a module allows."""
    known = {name: full for name, (full, _) in defined(tree, module).items() if full in arities()}
    is_fields = module.startswith("saltus.model.fields.")
    within = module.removeprefix("saltus.number.")
    of_number = next((k for k, begun in IN_NUMBER.items() if within.startswith(begun)), "compiler")
    found = []
    for node in tree.body:
        if module.startswith("saltus.number") or is_extension(module):
            kind = of_number
            if is_extension(module):
                kind = "extension" if decorated(node) else "intrinsic"
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found += [(kind, node.name, change) for _, change in in_body(node, {})]
            continue
        if decorated(node) or is_entry(node):
            found += [(kind, node.name, change) for kind, change in of_kernel(node, known)]
        elif isinstance(node, ast.FunctionDef) and "intrinsic" in map(ast.unparse, node.decorator_list):
            found += [("intrinsic", node.name, change) for _, change in in_body(node, {})]
        elif isinstance(node, ast.FunctionDef):  # what makes kernels
            for inner in made_in(node):
                found += [("inside", node.name, change) for _, change in in_body(inner, known)]
        if is_fields and isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            found += [(kind, node.targets[0].id, change) for kind, change in of_fields(node.value)]
        elif isinstance(node, ast.Assign):
            found += of_assignment(node)
        elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            for member in node.body:
                if isinstance(member, ast.Assign) and number(member.value):
                    found.append(("enum", node.name, lambda n=member.value: changed_number(n)))
    return [Change(kind, f"{module}.{name}", change) for kind, name, change in found]


def made_in(factory):
    """Functions inside another one that become kernels or entries there."""
    inner = [x for x in ast.walk(factory) if isinstance(x, ast.FunctionDef) and x is not factory]
    if not inner:
        return []
    calls = [n for n in ast.walk(factory) if isinstance(n, ast.Call) and ast.unparse(n.func) in ("kernel", "entry")]
    made = {ast.unparse(a) for n in calls for a in n.args}
    return [x for x in inner if x.name in made or decorated(x)]


@functools.cache
def places_of(module):
    """Changes that a module allows, of a tree of its own."""
    return places(ast.parse(all_modules()[module].read_text()), module)


def of_kernel(node, known):
    """(kind, change) of a kernel's definition."""
    found = [("docstring", lambda: with_docstring(node)), ("annotation", lambda: annotated(node))]
    if decorated(node):
        found += [("decorator", lambda n=k: decorator(node, n)) for k in range(3)]
    for default in node.args.defaults:
        if number(default):
            found.append(("default", lambda n=default: changed_number(n)))
    for chosen in node.decorator_list:
        if isinstance(chosen, ast.Call) and ast.unparse(chosen.func) == "only_with":
            words = [x for x in chosen.args if isinstance(x, ast.Constant)]
            found += [("condition", lambda n=x: setattr(n, "value", n.value + "_other")) for x in words]
            if len(node.decorator_list) > 1:
                found.append(("condition", lambda n=chosen: node.decorator_list.remove(n)))
    return found + in_body(node, known)


def in_body(node, known):
    """(kind, change) of the statements of a function or class."""
    found = []
    for inner in (x for statement in node.body for x in ast.walk(statement)):
        if isinstance(inner, ast.BinOp) and type(inner.op) in SWAPPED:
            found.append(("operator", lambda n=inner: setattr(n, "op", SWAPPED[type(n.op)]())))
            found.append(("sign", lambda n=inner: setattr(n, "right", ast.UnaryOp(ast.USub(), n.right))))
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.USub) and not number(inner.operand):
            found.append(("sign", lambda n=inner: setattr(n, "op", ast.UAdd())))
        if isinstance(inner, ast.Compare) and type(inner.ops[0]) in SWAPPED:
            found.append(("comparison", lambda n=inner: n.ops.__setitem__(0, ast.NotEq())))
        if number(inner):
            found.append(("constant", lambda n=inner: changed_number(n)))
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            name = inner.func.id
            if name == "has" and isinstance(inner.args[-1], ast.Constant):
                found.append(("condition", lambda n=inner.args[-1]: setattr(n, "value", n.value + "_other")))
            if name in known and not inner.keywords:
                found += [("callee", lambda n=inner.func, x=x: setattr(n, "id", x)) for x in alike(name, known)]
    return found


def alike(name, known):
    """Other kernels that a module knows, with as many arguments."""
    return [x for x, full in known.items() if x != name and arities()[full] == arities()[known[name]]]


def of_assignment(node):
    """(kind, name, change) of numbers that a module gives names, and of what makes kernels of numbers."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Call) and ast.unparse(value.func) == "range":
        # A, B = range(2): the second's number
        return [
            ("enum", target.elts[k].id, lambda k=k: numbered(node, k))
            for k in range(len(target.elts))
            if isinstance(target.elts[k], ast.Name)
        ]
    if not isinstance(target, ast.Name):
        return []
    if number(value):
        return [("module constant", target.id, lambda: changed_number(value))]
    if isinstance(value, ast.Tuple):
        return [("module constant", target.id, lambda n=x: changed_number(n)) for x in value.elts if number(x)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute):
        kind = "array" if ast.unparse(value.func).startswith("np.") else "closure"
        numbers = [x for argument in value.args for x in ast.walk(argument) if number(x)]
        return [(kind, target.id, lambda n=x: changed_number(n)) for x in numbers]
    return []


def of_fields(fields):
    """(kind, change) of the declarations of a Dict of fields."""
    found = []
    calls = [x for key, x in zip(fields.keys, fields.values, strict=True) if key is None and isinstance(x, ast.Call)]
    for k, call in enumerate(calls):
        if k:  # the places of two groups of fields
            found.append(("field's place", lambda k=k: exchange(fields.values, calls[k - 1], calls[k])))
        if len(call.args) > 1:
            found.append(("field's place", lambda n=call: n.args.reverse()))
        if call.keywords:  # an array
            if call.func.id in OTHER_TYPE:
                found.append(("field's type", lambda n=call: setattr(n.func, "id", OTHER_TYPE[n.func.id])))
            extents = [x for x in ast.walk(call.keywords[0].value) if number(x)]
            found += [("field's type", lambda n=x: setattr(n, "value", n.value + 1)) for x in extents]
    return found


def exchange(values, first, second):
    i, j = values.index(first), values.index(second)
    values[i], values[j] = values[j], values[i]


def numbered(node, k):
    """Other numbers than those of a range: that of the name at place k is 1000 larger."""
    count = len(node.targets[0].elts)
    node.value = ast.Tuple([ast.Constant(i + 1000 * (i == k)) for i in range(count)], ast.Load())


def number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def changed_number(node):
    more = node.value + 1000  # no enum has as many members
    node.value = 2 * node.value if more == node.value else more


def with_docstring(node):
    """Another docstring, also where there was none; it is no part of the code."""
    text = ast.Expr(ast.Constant("Another docstring."))
    has_one = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    node.body[: 1 if has_one else 0] = [text]


def annotated(node):
    """An annotation, which is no part of the code either."""
    if node.args.args:
        node.args.args[-1].annotation = ast.Constant("a number")
    node.returns = ast.Constant("a number")


def decorator(node, option):
    """The kernel decorator with another option."""
    name = ("strict", "inline", "sums")[option]
    for k, given in enumerate(node.decorator_list):
        if ast.unparse(given) == "kernel":
            node.decorator_list[k] = ast.parse(f"kernel({name}=True)", mode="eval").body
        elif isinstance(given, ast.Call) and ast.unparse(given.func) == "kernel":
            found = next((x for x in given.keywords if x.arg == name), None)
            if found is None:
                given.keywords.append(ast.keyword(name, ast.Constant(True)))
            else:
                found.value = ast.Constant(not found.value.value)


def is_extension(module):
    """Whether a module extends the compiler."""
    return module.removeprefix("saltus.").replace(".", "/") + ".py" in EXTENSIONS


# ---------------------------------------------------------------- one change


class Trial:
    """A copy of the package in `root`, what it is before any change, and one change after the other."""

    def __init__(self, root: Path):
        self.copy = Copy(root)
        self.exact, self.wide = references()
        self.before = self._keys()
        assert self.before is not None
        self.filled = root / "filled"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.copy.close()

    def _keys(self):
        found = self.copy.keys(list(modules()))
        return found and {k: x for k, x in found.items() if k in self.exact or k.startswith("layout ") or not k}

    def picked(self, seed, kind=None, wanted=None):
        """A change, by its kind first where none is given: its module, a tree of that, and the change of the tree.

        `wanted`: full names of what may be changed, all where None.
        """
        pick = random.Random(seed)
        every = {}
        for module in modules():
            for k, place in enumerate(places_of(module)):
                if wanted is None or place.name in wanted:
                    every.setdefault(place.kind, []).append((module, k))
        module, k = pick.choice(every[kind or pick.choice(sorted(every))])
        tree = ast.parse(all_modules()[module].read_text())
        return module, tree, places(tree, module)[k]

    def changed(self, module, tree, change, ask):
        """The answer to a question while a change is made in the copy."""
        change.make()
        source = all_modules()[module]
        file = Path(PROGRAMS.name) if module == OF_PROGRAMS else source.relative_to(PACKAGE.parent)
        text = ast.unparse(ast.fix_missing_locations(tree))  # positions and comments change in any case
        with self.copy.replaced(file, text):
            return ask()

    def verdict(self, seed, kind=None):
        """(kind, what was changed, faults) of one change; None where the changed package cannot be imported."""
        module, tree, change = self.picked(seed, kind)
        after = self.changed(module, tree, change, self._keys)
        if after is None:
            return None
        differ = {x for x in self.before if after.get(x) != self.before[x]}
        return change.kind, change.name, self._faults(module, change, differ)

    def _faults(self, module, change, differ):
        if module.startswith("saltus.number") or is_extension(module):
            return [] if "" in differ else ["the key of all was kept"]
        must, may = set(), set()
        if change.kind not in NEUTRAL:
            must = callers(self.exact, change.name) & self.before.keys()
            may = callers(self.wide, change.name)
            layouts = {x for x in self.before if x.startswith("layout ")}
            if change.kind.startswith("field"):
                must, may = set(), may | layouts
                if not differ & layouts:
                    return ["no layout is told to have changed"]
            elif module.startswith("saltus.model."):
                may |= layouts
        faults = [f"{x} kept its fingerprint" for x in sorted(must - differ)]
        return faults + [f"{x or 'all'} lost its fingerprint" for x in sorted(differ - may)]

    def fill(self, programs=ALL_PROGRAMS):
        """Results of programs before any change; leaves their kernels in `filled`."""
        self.programs = {name: _reached(self.exact, f"{OF_PROGRAMS}.{name}") for name in programs}
        self.results = self.copy.results(list(programs), self.filled)

    def compared(self, seed, kind=None):
        """(kind, what was changed, whether results changed, faults) of one change of what programs call.

        None where no program runs any more. Faults: programs that with their old kernels compute something else than
        with an empty cache.
        """
        fields = {c.name for m in modules() for c in places_of(m) if c.kind.startswith("field")}
        of_all = {x for x in self.programs if x != "users"}  # with Model and Data, or other structs
        wanted = set().union(*self.programs.values()) | (fields if of_all else set())
        wanted = {x for x in wanted if not x.startswith("saltus.number")}
        module, tree, change = self.picked(seed, kind, wanted)
        affected = [x for x, called in self.programs.items() if change.name in called or change.name in fields]
        affected = random.Random(seed).sample(affected, min(2, len(affected)))
        caches = self.copy.root / "old", self.copy.root / "empty"
        shutil.copytree(self.filled, caches[0])
        caches[1].mkdir(mode=0o700)
        try:
            old, empty = self.changed(
                module, tree, change, lambda: [self.copy.results(affected, cache) for cache in caches]
            )
        finally:
            for cache in caches:
                shutil.rmtree(cache)
        if all(len(x) < SHORT for x in empty.values()):
            return None
        stale = [x for x in affected if old.get(x) != empty.get(x)]
        changed = any(empty.get(x) != self.results[x] for x in affected)
        return change.kind, change.name, changed, stale


def by_keys(trial, seed):
    """One change and the first of what is told wrong; None where the package cannot be imported any more."""
    found = trial.verdict(seed)
    return found and (*found[:2], [*found[2][:3], f"({len(found[2])})"] if found[2] else [])


def by_results(trial, seed):
    """One change and what is stale; None where no program runs any more."""
    found = trial.compared(seed)
    return found and (found[0] if found[2] else f"{found[0]} that changes no result", found[1], found[3])


def main(judge, count, first=0):
    """Print what is wrong, and how many changes there were of each kind, also of those before Ctrl-C."""
    kinds, bad = Counter(), 0
    with tempfile.TemporaryDirectory() as root, Trial(Path(root)) as trial, contextlib.suppress(KeyboardInterrupt):
        if judge is by_results:
            trial.fill()
        for seed in range(first, first + count):
            kind, name, faults = judge(trial, seed) or ("that cannot be run", "", [])
            kinds[kind] += 1
            if faults:
                bad += 1
                print(seed, kind, name, *faults, flush=True)
    print(f"{kinds.total()} changes, {bad} told wrong;", dict(kinds.most_common()))


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[0] == "results":
        main(by_results, *map(int, given[1:]))
    else:
        main(by_keys, *map(int, given))
