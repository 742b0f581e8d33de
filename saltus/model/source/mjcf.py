"""MJCF, attribute by attribute: attributes of the installed MuJoCo, and their treatment.

    python -m saltus.model.source.mjcf > docs/reference/mjcf.md

The attributes are those of MuJoCo's schema. Each has a row in `saltus.model.source.mjcf_table`, so that new attributes
of MuJoCo are reported as gaps.
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


# elements of <default> that represent others
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
    """The element whose attributes an element of <default> sets; otherwise the element itself."""
    section, _, rest = element.partition("/")
    if section != "default" or not rest:
        return element
    name, _, inner = rest.partition("/")
    return "/".join(filter(None, (STANDS_FOR.get(name, f"actuator/{name}"), inner)))


def attributes() -> tuple[list[Attribute], list[str]]:
    """All attributes of the installed MuJoCo with their rows, and "element attribute" of those without a single row."""
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

Which elements and attributes of MuJoCo {version}'s MJCF are simulated, which are refused, and which do not affect
motion. A model that uses a refused feature does not load: a `ModelError` names the element. `ignore=[...]` with the
word in the last column removes the feature; this also works for simulated features that have a word there. How closely
results agree with MuJoCo's is in [Contributing](../contributing.md). Elements that only generate others, such as
`frame`, `replicate` and `include`, are expanded by MuJoCo's compiler, which also reads URDF.

{counts}

## Intended differences from MuJoCo

- Armature of a tendon that spans two branches or trees: MuJoCo drops the entries of its inertia matrix that do not fit
  the sparsity of the tree, so that energy is not conserved. Saltus keeps all of them; `full_M()` shows
  them, and `saltus check` names such tendons.
- Actuator states under methods of several stages (RK4) are integrated as ordinary differential equations, with the
  order of the method. For exact filters and the windings and bristles of motors, MuJoCo puts the mean slope into the
  one-stage formula, which is of first order.
- Delayed sensors under RK4 store their readings at the start of a step, where MuJoCo mixes in the last stage.
- Sleeping under RK4: MuJoCo wakes what sleeps in the next step, since its last stage leaves poses of another state;
  here trees sleep on.
- Potential energy includes stretch and bending of deformable bodies; MuJoCo includes only their edge springs.
- With `solver="Newton"`, worlds of many bodies (at least 40 kinematic trees and 270 degrees of freedom, no tree of more
  than 300, neither inertia nor a constraint over more than two trees, no deformable bodies) find Newton's directions
  in large islands by conjugate gradients with an incomplete factorisation, and in batches solve all islands as one. The
  minimum and its tolerance are the same; the work of a step grows with the number of contacts.
- With `solver="CG"`, Newton's method is used if deformable bodies of up to 3000 degrees of freedom are in contact and
  have no edge-length constraints: it finds the same minimum in less time.
- With `solver="PGS"` and elliptic cones MuJoCo can end at forces that are not the minimum: sliding contacts can be left
  without force. Saltus goes on from there, to the forces that Newton's method finds.
- `implicit` and `implicitfast` support deformable bodies, with implicit damping; MuJoCo 4.0 refuses them.
- Forces on the nodes of interpolated deformable bodies also act on the joints of the bodies that carry the nodes;
  MuJoCo omits this, although it includes forces on pinned nodes. If such a body has more than fifty contacts with a
  geom, the same fifty are kept as in MuJoCo, except that rounding decides between contacts equally far from the others.
- URDF: pictures of links are kept, links that are fixed to others stay bodies, meshes are found in folders and
  packages, and a link does not touch the fixed base to which a joint joins it if both overlap at the reference
  position ([](../howto/urdf.md)). The equations of motion are those of MuJoCo's model.

Written by `python -m saltus.model.source.mjcf > docs/reference/mjcf.md`; a test checks that it is up to date with
MuJoCo.
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
            lines.append("As for the elements that they are defaults of; `class` is read by MuJoCo's compiler.")
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
