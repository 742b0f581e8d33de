"""One thing changed at random in a copy of the package's sources, and which kernels are told to have changed.

    PYTHONPATH=tests python -m helpers.source_changes 500 [seed]

prints, over that many changes, those after which a kernel or one that calls it kept its fingerprint, or one that does
not call it lost it. Who calls whom is read from the syntax trees, by names alone, without the package's own walk.
"""

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import saltus
from saltus.number.cache.fingerprint import EXTENSIONS, KERNEL_ROOMS

PACKAGE = Path(saltus.__file__).parent
KEYS = """
import gc, importlib, json, sys
from saltus.number.cache.fingerprint import base_key, fingerprint
from saltus.number.compile.dispatchers import LateDispatcher

for name in sys.stdin.read().split():
    importlib.import_module(name)
found = {"": base_key()}
for module in [m for n, m in sorted(sys.modules.items()) if n.startswith("saltus.")]:
    for name, value in vars(module).items():
        value = vars(value).get("kernel", value) if type(value).__name__ == "_KernelChoice" else value
        if type(value) is LateDispatcher and value.py_func.__module__ == module.__name__:
            found[f"{module.__name__}.{name}"] = fingerprint(value.py_func) + vars(value)["options"]
print(json.dumps(found))
"""


def modules():
    """Files in the rooms of kernels by the names of their modules."""
    paths = [p for room in KERNEL_ROOMS for p in sorted((PACKAGE / room).rglob("*.py")) if p.name != "__init__.py"]
    return {".".join(("saltus", *p.relative_to(PACKAGE).with_suffix("").parts)): p for p in paths}


def keys(root, names):
    """The fingerprints of the kernels of a copy of the package in `root`, by their names; None where it is broken."""
    done = subprocess.run(
        [sys.executable, "-c", KEYS],
        input="\n".join(names),
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    return json.loads(done.stdout) if done.returncode == 0 else None


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
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        found[name.id] = f"{module}.{name.id}", node
    return found


def references(names_too):
    """{full name: full names that its definition refers to}. `names_too`: attributes count as global names."""
    trees = {name: ast.parse(path.read_text()) for name, path in all_modules().items()}
    graph = {}
    for module, tree in trees.items():
        known = defined(tree, module)
        for full, node in known.values():
            if node is None:
                continue
            local = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            local |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - (set() if names_too else local)
            if names_too:
                used |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
            graph.setdefault(full, set()).update(known[x][0] for x in used if x in known)
            of_modules = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
            graph[full] |= {f"{known[n.value.id][0]}.{n.attr}" for n in of_modules if n.value.id in known}
    return graph


def all_modules():
    return {".".join(("saltus", *p.relative_to(PACKAGE).with_suffix("").parts)): p for p in PACKAGE.rglob("*.py")}


def callers(graph, changed):
    """All that refers to `changed`, directly or by way of others, and itself."""
    back = {}
    for name, used in graph.items():
        for other in used:
            back.setdefault(other, set()).add(name)
    found, open_ = set(), [changed]
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += back.get(name, ())
    return found


# ---------------------------------------------------------------- changes

SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Lt: ast.Gt, ast.Gt: ast.Lt}


def decorated(node):
    """Whether a definition is a kernel."""
    return isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(d) for d in node.decorator_list)


def places(tree):
    """Changes that a module allows: (kind, name of what is defined, the change as a function)."""
    found = []
    for node in tree.body:
        if decorated(node):
            found += [("docstring", node.name, lambda n=node: with_docstring(n))]
            found += [("strict", node.name, lambda n=node: strict(n))]
            for default in node.args.defaults:
                if number(default):
                    found.append(("default", node.name, lambda n=default: changed_number(n)))
            for inner in (x for statement in node.body for x in ast.walk(statement)):
                if isinstance(inner, ast.BinOp) and type(inner.op) in SWAPPED:
                    found.append(("operator", node.name, lambda n=inner: setattr(n, "op", SWAPPED[type(n.op)]())))
                if isinstance(inner, ast.Compare) and type(inner.ops[0]) in SWAPPED:
                    found.append(("comparison", node.name, lambda n=inner: n.ops.__setitem__(0, ast.NotEq())))
                if number(inner):
                    found.append(("constant", node.name, lambda n=inner: changed_number(n)))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and number(node.value):
            found.append(("module constant", node.targets[0].id, lambda n=node.value: changed_number(n)))
        elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
            for member in node.body:
                if isinstance(member, ast.Assign) and number(member.value):
                    found.append(("enum", node.name, lambda n=member.value: changed_number(n)))
    return found


def number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def changed_number(node):
    node.value = node.value + 1000  # no enum has as many members


def with_docstring(node):
    """Another docstring, also where there was none; it is no part of the code."""
    text = ast.Expr(ast.Constant("Another docstring."))
    has_one = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    node.body[: 1 if has_one else 0] = [text]


def strict(node):
    """The kernel decorator with another option."""
    for k, decorator in enumerate(node.decorator_list):
        if ast.unparse(decorator) == "kernel":
            node.decorator_list[k] = ast.parse("kernel(strict=True)", mode="eval").body
        elif ast.unparse(decorator).startswith("kernel("):
            node.decorator_list[k] = ast.parse("kernel(strict=True, inline=True, sums=True)", mode="eval").body


def verdict(root, before, graphs, seed):
    """(kind, what was changed, faults) of one change; None where the changed package cannot be imported."""
    pick = random.Random(seed)
    names = modules()
    allowed = []
    while not allowed:
        module = pick.choice(sorted(names))
        tree = ast.parse(names[module].read_text())
        allowed = places(tree)
    kind = pick.choice(sorted({kind for kind, *_ in allowed}))
    _, name, change = pick.choice([place for place in allowed if place[0] == kind])
    change()
    path = root / names[module].relative_to(PACKAGE.parent)
    kept = path.read_text()
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)))  # positions and comments change in any case
    try:
        after = keys(root, names)
    finally:
        path.write_text(kept)
    if after is None:
        return None
    whole = module.startswith("saltus.number") or str(names[module].relative_to(PACKAGE)) in EXTENSIONS
    differ = {x for x in before if after.get(x) != before[x]} - {""}
    if whole:
        return kind, f"{module}.{name}", [] if after[""] != before[""] else ["the key of all"]
    exact, wide = graphs
    must = set() if kind == "docstring" else callers(exact, f"{module}.{name}") & before.keys()
    may = set() if kind == "docstring" else callers(wide, f"{module}.{name}")
    faults = [f"{x} kept its fingerprint" for x in sorted(must - differ)]
    faults += [f"{x} lost its fingerprint" for x in sorted(differ - may)]
    return kind, f"{module}.{name}", faults + (["the key of all"] if after[""] != before[""] else [])


def changes(seeds, root):
    """Verdicts on changes of a copy of the package that is made in `root`."""
    shutil.copytree(PACKAGE, root / "saltus", ignore=shutil.ignore_patterns("__pycache__"))
    before = keys(root, modules())
    graphs = references(False), references(True)
    for seed in seeds:
        yield seed, verdict(root, before, graphs, seed)


def main(count, first=0):
    kinds, broken, bad = {}, 0, 0
    with tempfile.TemporaryDirectory() as root:
        for seed, found in changes(range(first, first + count), Path(root)):
            if found is None:
                broken += 1
                continue
            kind, name, faults = found
            kinds[kind] = kinds.get(kind, 0) + 1
            if faults:
                bad += 1
                print(seed, kind, name, *faults[:3], f"({len(faults)})", flush=True)
    print(f"{count} changes, {broken} that cannot be imported, {bad} told wrong;", kinds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
