"""Docstrings of kernels that say which fields of Data they read and write, against what the kernels do.

Reference: the syntax trees. A field that a docstring names after "Reads", "Writes" or "Overwrites" is read or written
by the kernel or by one that it calls; and what a kernel with such a sentence writes itself is named.
"""

import ast
import functools
import re
from pathlib import Path

import saltus
from saltus.model.layout import DATA

PACKAGE = Path(saltus.__file__).parent
ROOMS = ("dynamics", "contact", "solve", "integrate", "sense")
SENTENCE = re.compile(r"\b(Reads|Writes|Overwrites)\b((?:[^.]|\.(?=\w))*)")
WORD = re.compile(r"\b[a-z][A-Za-z_0-9]*\b")


@functools.cache
def kernels():
    """{full name: its definition} of all functions of the rooms, and {module: {name: full name}} of what they name."""
    found, names = {}, {}
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            module = ".".join(("saltus", *path.relative_to(PACKAGE).with_suffix("").parts))
            known = names[module] = {}
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("saltus"):
                    known.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
                elif isinstance(node, ast.FunctionDef):
                    known[node.name] = f"{module}.{node.name}"
                    found[known[node.name]] = node
    return found, names


def field(node):
    """The field of Data that an expression is, or is a part of; None where it is none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in DATA.fields:
        return node.attr
    return None


def aliases(node):
    """{name: the field that it is another name of} in a function."""
    found = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple) and isinstance(one.value, ast.Tuple):
            pairs = zip(one.targets[0].elts, one.value.elts, strict=True)
        elif isinstance(one, ast.Assign):
            pairs = [(one.targets[0], one.value)]
        else:
            continue
        for target, value in pairs:
            if isinstance(target, ast.Name) and isinstance(value, ast.Attribute) and field(value):
                found[target.id] = field(value)
    return found


def base(node):
    """The variable that an expression is a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@functools.cache
def own(name):
    """(fields that a kernel reads, writes, passes on, kernels that it calls).

    Kernels of users, which `looks_at` marks, may read and write all fields.
    """
    found, names = kernels()
    if any("looks_at" in ast.unparse(decorator) for decorator in found[name].decorator_list):
        return (set(DATA.fields), set(), set(DATA.fields), set())
    known = names[name.rpartition(".")[0]]
    read, written, passed, called = set(), set(), set(), set()
    other_names = aliases(found[name])
    for node in ast.walk(found[name]):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [x for t in targets for x in (t.elts if isinstance(t, ast.Tuple) else [t])]
            written |= {field(part) for part in parts} - {None}
            written |= {other_names.get(base(part)) for part in parts if isinstance(part, ast.Subscript)} - {None}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            read |= {field(node)} - {None}
        elif isinstance(node, ast.Call):
            passed |= {field(a) or other_names.get(base(a)) for a in node.args} - {None}
            function = node.func
            if isinstance(function, ast.Name):
                called.add(known.get(function.id))
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                called.add(f"{known.get(function.value.id)}.{function.attr}")
    return read, written, passed, called & found.keys()


def whole(name):
    """(fields that a kernel and all that it calls read, fields that they may write)."""
    read, written, seen, open_ = set(), set(), set(), [name]
    while open_:
        one = open_.pop()
        if one not in seen:
            seen.add(one)
            of_one = own(one)
            read |= of_one[0]
            written |= of_one[1] | of_one[2]
            open_ += of_one[3]
    return read | written, written


def test_fields_that_docstrings_name_are_read_and_written():
    found, _ = kernels()
    sentences, wrong = 0, []
    for name, node in found.items():
        text = " ".join((ast.get_docstring(node) or "").split())
        arguments = {a.arg for a in node.args.args}
        read, written = whole(name)
        for verb, about in SENTENCE.findall(text):
            sentences += 1
            named = (set(WORD.findall(about)) & DATA.fields.keys()) - arguments
            missing = named - (read if verb == "Reads" else written)
            wrong += [f"{name}: {verb} {', '.join(sorted(missing))}?"] if missing else []
        if "Writes" in text:
            unnamed = own(name)[1] - set(WORD.findall(text))
            wrong += [f"{name}: also writes {', '.join(sorted(unnamed))}"] if unnamed else []
    assert sentences > 100, "the test finds what there is"
    assert not wrong, "\n".join(wrong)
