"""Mutants of MJCF and URDF: elements and attributes that are changed, gone, doubled, moved, or another model's."""

import ast
import copy
import functools
import random
from pathlib import Path
from xml.etree import ElementTree as ET

import saltus
from helpers.soaking.outcomes import Kind
from helpers.soaking.values import TEXTS, changed_numbers
from saltus.model.source import bundled_names

TESTS = Path(__file__).resolve().parents[2]
COMPILER_TIME = 10.0  # s: for a text on which MuJoCo's compiler works for ever, an error by name
MOST_BYTES = 30_000  # of a starting text


def _root(text: str, tag: str) -> ET.Element | None:
    try:
        found = ET.fromstring(text)
    except ET.ParseError:  # a part of a text, or one with places to fill in
        return None
    return found if found.tag == tag else None


def _written_in(folder: Path, tag: str) -> list[ET.Element]:
    """Models that stand as texts in Python files, in a fixed order."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        content = path.read_text(encoding="utf-8")
        if f"<{tag}" not in content:
            continue
        for node in ast.walk(ast.parse(content)):
            text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(text, bytes):
                text = text.decode(errors="replace")
            if isinstance(text, str) and f"<{tag}" in text and len(text) < MOST_BYTES:
                root = _root(text.strip(), tag)
                found += [] if root is None or len(root) < 2 else [root]
    return found


@functools.cache
def mjcf() -> list[ET.Element]:
    """Bundled models, and those of the tests' helpers."""
    bundled = [path.read_text(encoding="utf-8") for path in sorted(BUNDLED.glob("*.xml"))]
    roots = [_root(text, "mujoco") for text in bundled if len(text) < MOST_BYTES]
    return [root for root in roots if root is not None] + _written_in(TESTS / "helpers", "mujoco")


@functools.cache
def urdf() -> list[ET.Element]:
    """Models of the tests of URDF, with those of the lab's uploads."""
    return _written_in(TESTS / "model/source/urdf", "robot") + _written_in(TESTS / "lab", "robot")


BUNDLED = Path(bundled_names.__file__).parent / "bundled"


def _change(root: ET.Element, others: list[ET.Element], rng: random.Random) -> None:
    """One change of a tree."""
    parents = {child: parent for parent in root.iter() for child in parent}
    element = rng.choice(list(root.iter()))
    parent = parents.get(element)
    how = rng.randrange(10)
    if how <= 3 and element.attrib:  # a value
        name = rng.choice(sorted(element.attrib))
        odd = rng.random() < 0.3
        element.set(name, rng.choice(TEXTS) if odd else changed_numbers(element.get(name, ""), rng))
    elif how == 4 and element.attrib:  # no value, or by another name
        value = element.attrib.pop(rng.choice(sorted(element.attrib)))
        if rng.random() < 0.5:
            element.set(rng.choice(_attributes(others)), value)
    elif how == 5:  # an attribute that belongs elsewhere
        other = rng.choice([e for e in rng.choice(others).iter() if e.attrib])
        name = rng.choice(sorted(other.attrib))
        element.set(name, other.get(name, ""))
    elif how == 6 and parent is not None:
        parent.remove(element)
    elif how == 7 and parent is not None:
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(element))
    elif how == 8:  # an element from elsewhere, of this model or another
        source = rng.choice([root, rng.choice(others)])
        element.append(copy.deepcopy(rng.choice(list(source.iter())[1:] or [ET.Element("x")])))
    else:
        element.tag = rng.choice([e.tag for e in rng.choice(others).iter()])


def _attributes(others: list[ET.Element]) -> list[str]:
    return sorted({name for root in others for e in root.iter() for name in e.attrib})


def mutant(roots: list[ET.Element], rng: random.Random) -> str:
    """A text with one to three changes, seldom cut or with a character too many."""
    root = copy.deepcopy(rng.choice(roots))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        _change(root, roots, rng)
    text = ET.tostring(root, encoding="unicode")
    if rng.random() < 0.05:
        at = rng.randrange(len(text))
        text = rng.choice([text[:at], text[:at] + rng.choice("<>&\"'\0é") + text[at:], text[:at] + text[at + 1 :]])
    return text


def try_mjcf(rng: random.Random, folder: Path) -> None:
    """Load a mutant of MJCF, as text or as a file."""
    text = mutant(mjcf(), rng)
    if rng.random() < 0.5:
        saltus.load(text, apart=COMPILER_TIME)
        return
    file = folder / "mutant.xml"
    file.write_text(text, encoding="utf-8")
    saltus.load(file, apart=COMPILER_TIME)


def try_urdf(rng: random.Random, folder: Path) -> None:
    """Load a mutant of URDF from a file, with some of the options that URDF has."""
    file = folder / "mutant.urdf"
    file.write_text(mutant(urdf(), rng), encoding="utf-8")
    actuators = rng.choice([None, "none", "torque", "position"])
    touching = rng.choice([True, False, "not overlapping"])
    base = rng.choice(["fixed", "floating"])
    saltus.load(file, apart=COMPILER_TIME, actuators=actuators, base=base, self_collision=touching)


def _first(roots: list[ET.Element]) -> None:
    assert roots, "no texts to begin with"
    saltus.load("<mujoco/>", apart=True)  # starts the helper process


KINDS = (Kind("mjcf", try_mjcf, lambda: _first(mjcf())), Kind("urdf", try_urdf, lambda: _first(urdf())))
