"""Fields belong to rooms: who reads and who writes them is declared beside them, and read from the kernels' sources."""

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import saltus
from saltus.model.layout import DATA, MODEL

PACKAGE = Path(saltus.__file__).parent
ROOMS = ("contact", "dynamics", "integrate", "sense", "solve")
STRUCTS = ("m", "d", "p", "f", "s")  # what kernels call their structs
PARTS = {
    path.stem: import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    for path in (PACKAGE / "model" / "fields").rglob("[a-z]*.py")
}
GROUPS = {
    (part, name): set(fields)
    for part, module in PARTS.items()
    for name, fields in vars(module).items()
    if name.isupper() and isinstance(fields, dict) and not name.endswith("_BY")
}
GROUP = {field: group for group, fields in GROUPS.items() for field in fields}


def targets_of(tree):
    """The objects that assignments write to, without their indices."""
    for node in ast.walk(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                while isinstance(one, ast.Subscript):
                    one = one.value
                yield one


def uses():
    """Rooms that read and rooms that write, by the fields' groups."""
    read, written = defaultdict(set), defaultdict(set)
    for room in ROOMS:
        for path in (PACKAGE / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            stores = {id(target) for target in targets_of(tree)}
            for node in ast.walk(tree):
                of_struct = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in STRUCTS
                if of_struct and node.attr in GROUP:
                    (written if id(node) in stores else read)[GROUP[node.attr]].add(room)
    return read, written


def test_each_field_is_declared_once():
    assert sum(map(len, GROUPS.values())) == len(GROUP)
    assert GROUP.keys() >= {*MODEL.fields, *DATA.fields}


def test_rooms_that_use_fields_are_those_that_say_so():
    for kind, found in zip(("READ_BY", "WRITTEN_BY"), uses(), strict=True):
        declared = {
            (part, group): set(rooms)
            for part, module in PARTS.items()
            for group, rooms in getattr(module, kind).items()
        }
        assert {group: rooms for group, rooms in declared.items() if rooms} == dict(found), kind


def test_kernels_write_no_field_of_the_model():
    _, written = uses()
    assert [group for group in written if group[1] in ("MODEL", "HILL")] == []
