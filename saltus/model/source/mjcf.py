"""MJCF, attribute by attribute: what the installed MuJoCo has, and what becomes of it.

    python -m saltus.model.source.mjcf > docs/mjcf.md

MuJoCo's own schema says what there is. Each of its attributes has its place in `saltus.model.source.mjcf_table`, so
that one that is new in MuJoCo shows up as a gap.
"""

import itertools
import re
from typing import NamedTuple

import mujoco

from saltus.model.source.mjcf_table import IRRELEVANT, REFUSED, SIMULATED, TABLE, Row


class Attribute(NamedTuple):
    """One attribute: the path of its element, such as "body/joint", and its row of TABLE."""

    element: str
    name: str
    row: Row


# elements of <default> that stand for others
STANDS_FOR = {
    "mesh": "asset/mesh",
    "texture": "asset/texture",
    "material": "asset/material",
    "pair": "contact/pair",
    "equality": "equality/weld",
    "tendon": "tendon/spatial",
    **{name: f"body/{name}" for name in ("joint", "geom", "site", "camera", "light")},
}


def schema() -> dict[str, list[str]]:
    """Attributes of each element of the installed MuJoCo, by path: "body/joint", "option/flag"."""
    found: dict[str, list[str]] = {}
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        element = re.match(r"( *)([^ ]+) \([!*?R]\) *(.*)", line)
        if element:
            depth = len(element[1]) // 3
            path = path[:depth] + [element[2].replace("(world)", "")]
            names = element[3]
        else:
            names = line
        found.setdefault("/".join(path[1:]) or path[0], []).extend(names.split())
    return found


def standing_for(element: str) -> str:
    """The element that one of <default> sets the attributes of; others stand for themselves."""
    section, _, rest = element.partition("/")
    if section != "default" or not rest:
        return element
    name, _, inner = rest.partition("/")
    return "/".join(filter(None, (STANDS_FOR.get(name, f"actuator/{name}"), inner)))


def attributes() -> tuple[list[Attribute], list[str]]:
    """All attributes of the installed MuJoCo with their rows, and what has none or several: "element attribute"."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in TABLE:
        for element, name in itertools.product(row.elements.split(), row.attributes.split()):
            rows.setdefault((element, name), []).append(row)
    found, gaps = [], []
    for element, names in schema().items():
        for name in names:
            of = rows.get((standing_for(element), name), [])
            if len(of) == 1:
                found.append(Attribute(element, name, of[0]))
            else:
                gaps.append(f"{element} {name}")
    return found, gaps


HEADER = """# MJCF, attribute by attribute

What of MuJoCo {version}'s MJCF is simulated, refused, or without effect on motion. A model that holds something refused
does not load: a `ModelError` names the element, and `ignore=[...]` leaves it out on purpose; the word for it is in the
last column. What is simulated can be left out too, where there is a word. Which values are MuJoCo's and to how many
digits: see [CONTRIBUTING.md](../CONTRIBUTING.md). Elements that only write others, such as `frame`, `replicate` and
`include`, are read by MuJoCo's compiler, and so is URDF.

{counts}

## On purpose different from MuJoCo

- Inertia (`armature`) of a tendon that runs from one branch or tree to another: MuJoCo keeps of its matrix only what
  the tree has room for, so that energy is not conserved. Here all of it counts; `full_M()` shows it.
- States of actuators in steps of several stages (RK4): they are ordinary differential equations, integrated with the
  order of the method. MuJoCo puts the mean slope into the formula of one stage for exact filters and the windings and
  bristles of motors, and is of first order in them.
- Delayed sensors under RK4 remember what they read at the start of a step, where MuJoCo mixes in the last stage.
- Potential energy counts what deformable bodies hold by stretch and bending; MuJoCo counts springs of their edges.
- Conjugate gradients (`solver="CG"`) are Newton's method where deformable bodies of up to 3000 degrees of freedom touch
  and no edges hold their lengths: the same minimum, in less time.
- `implicit` and `implicitfast` take deformable bodies, with their damping implicit; MuJoCo 4.0 refuses them.
- Forces on the nodes of interpolated deformable bodies also move the joints of the bodies that carry these; MuJoCo
  leaves that part out, though it counts what acts on pinned nodes. Of more than fifty contacts of such a body with a
  geom the same fifty are kept, but where several are equally far from the others rounding chooses.

Written by `python -m saltus.model.source.mjcf > docs/mjcf.md`; a test sees to it that it is up to date with MuJoCo.
"""


def document() -> str:
    """The table as Markdown: a section for each element below <mujoco>, a line for each group of attributes."""
    found, _ = attributes()
    count = {state: sum(a.row.state == state for a in found) for state in (SIMULATED, REFUSED, IRRELEVANT)}
    counts = ", ".join(f"{n} {state}" for state, n in count.items())
    lines = [HEADER.format(version=mujoco.__version__, counts=f"Of {len(found)} attributes: {counts}.")]
    for section, inside in itertools.groupby(found, lambda a: a.element.split("/")[0]):
        lines += ["", f"## {section}", ""]
        if section == "default":
            lines.append("As the elements that they set; `class` is read by MuJoCo's compiler.")
            continue
        lines += ["| element | attributes | | why | `ignore` |", "|---|---|---|---|---|"]
        lines += _lines(list(inside))
    return "\n".join(lines) + "\n"


def _lines(found: list[Attribute]) -> list[str]:
    """Lines of one section, by rows of TABLE: elements with the same attributes share a line."""
    groups: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    by_row: dict[int, Row] = {}
    for (element, number), some in itertools.groupby(found, lambda a: (a.element, TABLE.index(a.row))):
        by_row[number] = TABLE[number]
        names = groups.setdefault((number, tuple(a.name for a in some)), [])
        names.append(element.split("/", 1)[-1])
    merged: dict[tuple[int, str], list[str]] = {}
    for (number, names), elements in groups.items():
        merged.setdefault((number, ", ".join(dict.fromkeys(elements))), []).extend(names)
    lines = []
    for (number, elements), names in merged.items():
        row = by_row[number]
        word = f"`{row.kind}`" if row.kind else ""
        lines.append(f"| {elements} | {' '.join(dict.fromkeys(names))} | {row.state} | {row.why} | {word} |")
    return lines


if __name__ == "__main__":
    print(document(), end="")
