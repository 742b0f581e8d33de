"""Docstrings that can be read alone: none begins with words that lean on what stands beside it.

They are those of the package and of the tests' helpers, and what documents an attribute: a string below it, which the
site's tables of fields are made of, or a comment that begins with `#:`.
"""

import ast
import re
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
HELPERS = Path(__file__).parent / "helpers"
LEANING = re.compile(r"(All that|From now on|How|Of|That|The same|Those|What|Where|Which|Who|Whose)\b")
DEFINED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SHAPE = re.compile(r"\[[^]]*\] ")  # with which the documentation of a field begins
COMMENT = re.compile(r"\s*#: (.*)")


def of_attributes(node):
    """(line, text) of strings that stand below the attributes of a module or class."""
    for above, below in zip(node.body, node.body[1:], strict=False):
        value = below.value if isinstance(below, ast.Expr) else None
        if isinstance(above, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
            yield below.lineno, SHAPE.sub("", str(value.value), count=1)


def texts(source):
    """(line, text) of all that documents something in a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DEFINED) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from of_attributes(node)
    for line, text in enumerate(source.splitlines(), 1):
        if found := COMMENT.match(text):
            yield line, found[1]


def leaning(source):
    """(line, first line of a text) where a text leans on its neighbours."""
    return [(line, text.splitlines()[0]) for line, text in texts(source) if LEANING.match(text)]


def test_docstrings_do_not_lean_on_their_neighbours():
    found, wrong = 0, []
    for path in sorted([*PACKAGE.rglob("*.py"), *HELPERS.rglob("*.py")]):
        source = path.read_text(encoding="utf-8")
        found += source.count('"""') // 2
        wrong += [f"{path.parent.name}/{path.name}:{line}: {text}" for line, text in leaning(source)]
    assert found > 5000, "the test finds what there is"
    assert not wrong, "\n".join(wrong)


def test_each_place_of_a_text_is_looked_at():
    text = '''"""What is here."""
#: Which of them.
A: int
"""[nv] where it is."""
B: int
"""[nv] Where it is."""
class C:
    """The same, once more."""
    def f(self):
        """Whatever it is, of the same kind."""
'''
    assert [line for line, _ in sorted(leaning(text))] == [1, 2, 6, 7]
