"""Fields of MuJoCo's compiled model as a table in Markdown: what becomes of each here, and the rooms that read it.

python -m saltus.model.source.mujoco_fields.page
"""

from collections import Counter

import mujoco

from saltus.model.source.mujoco_fields.table import PASSED, READ, TABLE, Fields
from saltus.model.source.mujoco_fields.uses import MOTION, fields, readers


def document() -> str:
    """All fields of the installed MuJoCo: a sentence of counts, and a table for each owner, in the order of TABLE."""
    found, _ = fields()
    counts = Counter(field.row.treatment for field in found)
    parts = [f"MuJoCo {mujoco.__version__}: " + ", ".join(f"{n} {word}" for word, n in counts.most_common()) + "."]
    for owner in dict.fromkeys(row.owner for row in TABLE):
        parts += ["", f"## {owner}", "", "| fields | | read by | why | `ignore` |", "|---|---|---|---|---|"]
        parts += [_line(row) for row in TABLE if row.owner == owner]
    return "\n".join(parts) + "\n"


def _line(row: Fields) -> str:
    names = [row.prefix + name for name in row.names.split()]
    rooms = {room for name in names for room in readers(row.owner, name)} if row.treatment in (READ, PASSED) else set()
    read_by = " ".join(room for room in MOTION if room in rooms)
    word = f"`{row.kind}`" if row.kind else ""
    return f"| {' '.join(f'`{name}`' for name in names)} | {row.treatment} | {read_by} | {row.why} | {word} |"


if __name__ == "__main__":
    print(document(), end="")
