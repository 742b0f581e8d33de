"""Copies of a model with other attributes in its MJCF file, compiled anew: sizes, materials, pins.

A path names an attribute of the file, from an element down:

    geom[ball]/size    flexcomp[sheet]/elasticity/young    option/integrator    default[wall]/geom/friction

Brackets hold the element's name (a default's class), or "#3" for the one with that number among those of its kind;
they can be omitted if there is only one. For values of a compiled model, see `saltus.model.field_overrides`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np

from saltus.errors import ModelError, OptionError
from saltus.model.load import BUNDLED, load, made_text, models
from saltus.model.model import Model
from saltus.model.semantics.changes import followed
from saltus.model.semantics.releases import TITLE, expected, release_of
from saltus.model.source.encoding import check_utf8
from saltus.model.source.format_strings import check_text
from saltus.model.source.isolated_compiler import CompilerMessage, compile_apart
from saltus.model.source.self_contained import written
from saltus.model.source.urdf.tree import is_urdf

PATIENCE = 120.0  # time limit of MuJoCo's compiler (s)
SECTIONS = ("compiler", "option", "size", "statistic", "visual")  # sections that a file has once, or that are added
STEP = re.compile(r"(?P<tag>\w+)(\[(?P<name>[^\[\]]*)\])?$")


class Source(NamedTuple):
    """Source of a model: MJCF text, the folder of the files that it names, name, initial keyframe, original model."""

    text: str
    folder: Path | None = None
    name: str | None = None
    initial_key: int | None = None
    made_from: Model | None = None


def edited(source: Any, values: Mapping[str, Any], *, ignore: Iterable[str] = ()) -> Model:
    """The model of a file with other values of its attributes, by paths of this module, compiled anew.

    `source` and `ignore` as for `saltus.load`, except URDF and a compiled MjModel, which have no MJCF text. A value is
    text as in the file, a number, or several; None removes the attribute, so that its default applies. A Model's
    ignored features, changes and muscles are kept.

    Raises:
        OptionError: an element or attribute does not exist, or the value is invalid; the message names it.
    """

    def assign(root: ElementTree.Element) -> None:
        for path, value in values.items():
            _assign(root, path, value)

    return rewritten(
        source, assign, ", ".join(f"{path}={_text(value) or ''}" for path, value in values.items()), ignore
    )


def rewritten(
    source: Any, change: Callable[[ElementTree.Element], None], given: str, ignore: Iterable[str] = ()
) -> Model:
    """The model of a file whose tree of elements a function has changed, compiled anew; see `edited`.

    `given`: the change in words, for messages.

    Raises:
        OptionError: there is no MJCF text, or the changed one cannot be compiled.
    """
    found = source_of(source)
    if found is None:
        raise OptionError(f"{given}: this model has no MJCF file to change; expected MJCF or a bundled name")
    root = _whole(found)
    change(root)
    try:
        return _compiled(written(root), found, ignore)
    except ModelError as error:
        raise OptionError(f"{given}: {error}") from error


def declare_semantics(source: Any, semantics: str, ignore: Iterable[str] = ()) -> Model:
    """The model of a file that means what it means in a release of MuJoCo, which its text then declares.

    `semantics`: "mujoco-3.17", for instance; see `saltus.model.semantics`.

    Raises:
        OptionError: there is no such release or no MJCF text, or the model has a part with another meaning now, which
            is not undone; the message names it and the remedy.
    """
    if release_of(semantics) is None:
        raise OptionError(expected(semantics))

    def declare(root: ElementTree.Element) -> None:
        for custom in root.iter("custom"):
            for text in [e for e in custom.iter("text") if e.get("name") == TITLE]:
                custom.remove(text)
        ElementTree.SubElement(ElementTree.SubElement(root, "custom"), "text", name=TITLE, data=semantics)

    given = f"semantics={semantics!r}"
    model = rewritten(source, declare, given, ignore)
    try:
        followed(model.mj_model, model.xml or "", model.left_out)  # with attributes that a compiled model has lost
    except ModelError as error:
        raise OptionError(f"{given}: {error}") from None
    return model


def source_of(source: Any) -> Source | None:
    """The MJCF text behind a source of `saltus.load`; None if there is none."""
    if isinstance(source, Model):
        return None if source.xml is None else Source(source.xml, None, source.name, source.initial_key, source)
    if isinstance(source, mujoco.MjSpec):
        return Source(source.to_xml(), Path(source.modelfiledir) if source.modelfiledir else None)
    if not isinstance(source, str | os.PathLike):
        return None
    text = os.fspath(source)
    if isinstance(source, str) and text.lstrip().startswith("<"):
        return Source(text) if "<mujoco" in text and not is_urdf(text.encode()) else None
    if isinstance(source, str) and text in models():
        return Source((BUNDLED / f"{text}.xml").read_text(encoding="utf-8"), None, text, 0)
    if isinstance(source, str) and (made := made_text(text)) is not None:
        return Source(made)
    path = Path(text)
    content = _read(path) if _is_file(path) else ""
    mjcf = "<mujoco" in content and not is_urdf(content.encode())
    return Source(content, path.resolve().parent, None) if mjcf else None


def _compiled(text: str, source: Source, ignore: Iterable[str]) -> Model:
    """The model of a text, with data of its source; compiled in a separate process, which may be stopped."""
    before = source.made_from
    if source.folder is None:
        model = load(text, ignore=ignore if before is None else before.left_out, apart=PATIENCE)
    else:
        check_text(text, source.folder / "model.xml")
        try:
            compiled = compile_apart(text, folder=source.folder, timeout=PATIENCE)
        except CompilerMessage as error:
            raise ModelError(str(error)) from None
        model = load(compiled.model, ignore=ignore)
    key = source.initial_key if model.nkey else None
    muscles = None if before is None else before.muscles
    name = source.name or model.name
    again = Model(model.mujoco, name=name, xml=text, ignored=list(model.ignored), initial_key=key, muscles=muscles)
    return again if before is None or not before.changes else again.changed(before.changes)


def _whole(source: Source) -> ElementTree.Element:
    """The file as a tree that contains its included files."""
    root = _parsed(source.text, "the model's text")
    try:
        _include(root, source.folder, set())
    except RecursionError:
        raise ModelError("the elements of the model's text, or its includes, are nested too deeply") from None
    return root


def _parsed(text: str, what: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ModelError(f"{what}: {error}") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the name is too long or contains a zero byte
        return False


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=path) from None
    check_utf8(content, path)
    return content.decode()


def _include(element: ElementTree.Element, folder: Path | None, seen: set[Path]) -> None:
    """Replace include elements by the content of files, which are searched for beside the main file.

    `seen`: those that were included; as in MuJoCo, none may be so twice.
    """
    children = []
    for child in element:
        if child.tag == "include":
            path = (folder or Path()) / child.get("file", "")
            if not _is_file(path):
                raise ModelError("no such file", file=str(path))
            if path in seen:
                raise ModelError("included twice", file=str(path))
            seen.add(path)
            included = _parsed(_read(path), str(path))
            _include(included, folder, seen)
            children += list(included)
        else:
            _include(child, folder, seen)
            children.append(child)
    element[:] = children


def _assign(root: ElementTree.Element, path: str, value: Any) -> None:
    """Set an attribute to another value, or remove it."""
    *steps, attribute = [part.strip() for part in path.split("/")]
    if not steps or not re.fullmatch(r"\w+", attribute):
        raise OptionError(f"{path!r} is not an attribute of the model file; expected element[name]/attribute")
    element = _first(root, _step(steps[0], path), path)
    for step in steps[1:]:
        element = _child(element, _step(step, path), path)
    text = _text(value)
    if text is None:
        element.attrib.pop(attribute, None)
    else:
        element.set(attribute, text)


def _step(text: str, path: str) -> tuple[str, str | None]:
    """An element's kind, and its name or None."""
    found = STEP.match(text)
    if found is None:
        raise OptionError(f"{path}: {text!r} is not an element; expected kind[name], as geom[ball]")
    return found["tag"], found["name"]


def _first(root: ElementTree.Element, step: tuple[str, str | None], path: str) -> ElementTree.Element:
    """The element at the start of a path, anywhere except in defaults."""
    tag, name = step
    if tag in SECTIONS and name is None:
        found = root.findall(tag)
        return found[-1] if found else ElementTree.SubElement(root, tag)
    if tag == "default":
        found = list(root.iter("default"))
    else:
        found = [e for section in root if section.tag != "default" for e in section.iter(tag)]
    if not found:
        there = {e.tag for e in root.iter()} - {root.tag}
        raise OptionError.unknown(f"element in {path}:", tag, there | set(SECTIONS))
    return _chosen(found, tag, name, path)


def _child(parent: ElementTree.Element, step: tuple[str, str | None], path: str) -> ElementTree.Element:
    """A child of an element; a missing child is created if the step has no name."""
    tag, name = step
    found = parent.findall(tag)
    if not found and name is None:
        return ElementTree.SubElement(parent, tag)
    return _chosen(found, tag, name, path)


def _chosen(found: list[ElementTree.Element], tag: str, name: str | None, path: str) -> ElementTree.Element:
    if name is None:
        if len(found) > 1:
            raise OptionError(f"{path}: there are {len(found)} elements {tag}; choose one: {tag}[name] or {tag}[#0]")
        return found[0]
    names = [e.get("class" if tag == "default" else "name") or f"#{k}" for k, e in enumerate(found)]
    if name in names:
        return found[names.index(name)]
    if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(found):
        return found[int(name[1:])]
    raise OptionError.unknown(f"{tag} in {path}:", name, names)


def _text(value: Any) -> str | None:
    """A value in the format of files: "true", "0.01 1"; None for no value."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(x) if isinstance(x, str) else repr(x) for x in np.asarray(value).reshape(-1).tolist())
