"""Attributes that a class declares, with the texts below them that editors show."""

import ast
import inspect
import textwrap


def declared(kind):
    """{name: (annotation, text)} of the annotated attributes of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body
    found = {}
    for part, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(part, ast.AnnAssign):
            text = after.value.value if isinstance(after, ast.Expr) else ""
            found[part.target.id] = ast.unparse(part.annotation), text
    return found


def stated_shape(text):
    """The shape that a text begins with, as a list of words; "[nv, 3] ..." is ["nv", "3"]. None where there is none."""
    return [word for word in text[1 : text.index("]")].split(", ") if word] if text.startswith("[") else None
