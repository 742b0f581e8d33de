"""Loading of models from files, text and names with MuJoCo's compiler."""

import copy
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias, Unpack

import mujoco

from saltus.arguments import mapping, text_of
from saltus.errors import ModelError, OptionError, proposal, warn
from saltus.model import features
from saltus.model.compile.hill import HillMuscle
from saltus.model.contact.clamped import warn_of_clamped
from saltus.model.model import Model
from saltus.model.semantics.changes import followed
from saltus.model.semantics.releases import NEWEST, declared, name_of
from saltus.model.source.bundled_names import BUNDLED, models
from saltus.model.source.compiler import compile_spec, elastic_explicitly
from saltus.model.source.encoding import check_names
from saltus.model.source.format_strings import check_file, check_text
from saltus.model.source.isolated_compiler import Compiled, CompilerMessage, compile_apart, compile_urdf_apart
from saltus.model.source.n_link import LinkOptions
from saltus.model.source.n_link import n_link as mjcf_n_link
from saltus.model.source.number_checks import check_numbers
from saltus.model.source.other_formats import check_format, check_suffix
from saltus.model.source.urdf import plan as urdf
from saltus.model.source.urdf.build import build
from saltus.model.source.urdf.files import PackagePath
from saltus.model.source.urdf.remarks import UrdfWarning
from saltus.model.source.urdf.tree import Element, NotXml, parse
from saltus.model.tree.singular_inertia import check_inertia
from saltus.model.written import use
from saltus.offered import offered
from saltus.surroundings import check_mujoco_version

__all__ = ["BUNDLED", "ModelSource", "load", "models", "n_link"]

check_mujoco_version(mujoco.__version__)

# remedies for messages of MuJoCo's compiler that name none
HINTS = {
    "XML_ERROR_MISMATCHED_ELEMENT": "this element, or one inside it, is not closed: each <body> needs its </body>, and "
    "an element with nothing inside ends in />",
    "XML_ERROR_PARSING": "the text is cut off, or the element that begins there is not closed",
    "Element 'composite'": "removed in MuJoCo 4.0; use <flexcomp> for ropes, sheets, solids, <replicate> for copies",
    "A + B >= C": "no body has such principal inertias: correct them, or let MuJoCo replace them by their mean, with "
    '<compiler balanceinertia="true"/>, in URDF inside <mujoco>',
    "positive eigenvalues": "no body has such an inertia: correct it",
    "mass and inertia of moving bodies": "a body that can move needs a mass: give it a <geom>, or an <inertial>",
}
LONGEST_NUMBER = 9  # digits of a number of links
#: Sources of models; see `load`.
ModelSource: TypeAlias = str | os.PathLike[str] | mujoco.MjModel | mujoco.MjSpec | Model


def n_link(n: int, **parameters: Unpack[LinkOptions]) -> Model:
    """A planar pendulum with n links; parameters as in `saltus.model.source.n_link`, which writes its MJCF text."""
    return load(mjcf_n_link(n, **parameters))


def load(
    source: ModelSource,
    *,
    ignore: Iterable[str] = (),
    muscles: Mapping[str, HillMuscle] | None = None,
    semantics: str | None = None,
    apart: bool | float = False,
    actuators: urdf.Actuators | None = None,
    base: Literal["fixed", "floating"] = "fixed",
    self_collision: urdf.SelfCollision = True,
    package_path: PackagePath = (),
) -> Model:
    """Load a mechanism.

    `source`: path of an MJCF (.xml) or URDF (.urdf) file, MJCF or URDF text, a bundled name (see `models`),
    "n_link:5" for a pendulum with five links (see `n_link`), a mujoco.MjModel or MjSpec, or a Model. `ignore`: features
    to leave out, such as "contact" or "limit", or "constraint" for all constraints; they are listed in `Model.ignored`
    and in recordings. `muscles`: muscle laws that replace those of actuators, by actuator name (see `HillMuscle`). If
    `source` is a Model, its own ignored features and muscles are kept.

    `semantics`: MuJoCo's release from "mujoco-3.8" to "mujoco-4.0", the default, whose meaning an MJCF source has: see
    `saltus.model.semantics`. The model's text then declares it, and so may a file.

    `apart`: compile text or a file in a separate process, for untrusted sources: some files make MuJoCo's compiler
    abort or run forever. A number is the time limit in seconds, True means 30 s. Without effect on compiled models, on
    an MjSpec, and on bundled models.

    For URDF only:

    `actuators`: of revolute, continuous and prismatic joints, named as the joints. "torque": motors, whose control is
    the torque or force (N·m or N), within the joint's effort limit. "position": servos, whose control is the position
    (rad or m), within the joint's limits; critically damped, with a natural frequency of 5 Hz for the joint's inertia
    at the reference position, within the effort limit; the integrator is then "implicitfast", unless <option> in the
    file chooses one. None, "none": no actuators; None says so in a warning.

    `base`: whether the root link is fixed to the world, or floats with six degrees of freedom.

    `self_collision`: whether links touch each other. True: all but neighbours, the links on both sides of a joint. As
    in MuJoCo, a fixed base and its neighbours touch, but not if they overlap at the reference position. "not
    overlapping": all but neighbours and pairs that overlap there. False: none.

    `package_path`: folder or folders in which packages (package://NAME/..., model://NAME/...) are searched for, before
    the folders around the file and those of ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and GAZEBO_MODEL_PATH.

    Contents of a URDF file that are not read (transmissions, velocity limits, ...), or do not act as one might think
    (limits 0 0, <mimic> of a missing joint, ...), are listed in one SaltusWarning.

    Parameters of soft constraints (solref, solimp) that MuJoCo clamps are listed in one SaltusWarning.

    Raises ModelError, with file and line, if the source cannot be read, and, with element and name, for features that
    affect the motion and are not simulated, and for joints that together can move without moving any mass; OptionError
    for an argument that is none of its choices, or for URDF only.
    """
    if semantics is not None:
        source, ignore = offered("declare_semantics")(source, text_of("semantics", semantics), ignore), ()
    chosen = urdf.choices(actuators, base, self_collision, package_path)
    if muscles is not None and mapping("muscles", muscles):
        return _with_muscles(_load(source, ignore, apart, chosen), muscles)
    return _load(source, ignore, apart, chosen)


def _load(source: ModelSource, ignore: Iterable[str], apart: bool | float, chosen: urdf.Choices) -> Model:
    """A model of any source."""
    if isinstance(source, str | os.PathLike):
        return _load_text(source, ignore, apart, chosen)
    urdf.check_unused(chosen)
    if isinstance(source, Model):
        return _leaving_out(source, ignore)
    if isinstance(source, mujoco.MjModel):
        use(source)
        return _finish(copy.copy(source), _embedded_name(source), None, ignore, None)
    if isinstance(source, mujoco.MjSpec):
        compiled = _compile(source, None)
        return _finish(compiled, source.modelname or "model", source.to_xml(), ignore, None)
    raise ModelError(f"cannot load a {type(source).__name__}; expected a path, XML text, a name, MjModel or MjSpec")


def _load_text(
    source: str | os.PathLike[str], ignore: Iterable[str], apart: bool | float, chosen: urdf.Choices
) -> Model:
    """A model of MJCF or URDF text, of a name, or of a file."""
    text = os.fspath(source)
    if not text.strip():
        check_format(text)
    if isinstance(source, str) and text.lstrip().startswith("<"):
        check_format(text)
        check_text(text)
        compiled, name, xml = _compiled(text, text.encode(), apart, chosen)
        return _finish(compiled, name or "model", xml, ignore, None)
    if isinstance(source, str) and text in models():
        urdf.check_unused(chosen)
        return _load_bundled(text, ignore)
    if isinstance(source, str) and (made := made_text(text)) is not None:
        urdf.check_unused(chosen)
        return load(made, ignore=ignore)
    return _load_file(Path(text), ignore, apart, chosen)


def made_text(name: str) -> str | None:
    """The MJCF text of a generated model, named with a number as "n_link:5"; None for any other name."""
    kind, colon, number = name.partition(":")
    if kind != "n_link" or not colon:
        return None
    if not (number.isascii() and number.isdigit()) or len(number) > LONGEST_NUMBER:
        raise OptionError(f"{name!r}: expected n_link:N with a whole number of links, as n_link:5")
    return mjcf_n_link(int(number))


def _with_muscles(model: Model, muscles: Mapping[str, HillMuscle]) -> Model:
    """The model with the laws of some actuators replaced by muscles."""
    return _again(model, list(model.ignored), {**model.muscles, **muscles})


def _leaving_out(model: Model, ignore: Iterable[str]) -> Model:
    """The model without these kinds of features, in addition to those that it already leaves out."""
    model.warn_of_writes()
    kinds = features.ignored_kinds(ignore)
    if kinds <= model.left_out:
        return model
    return _again(model, features.check(model.mujoco, kinds | model.left_out), model.muscles)


def _again(model: Model, ignored: list[str], muscles: Mapping[str, HillMuscle]) -> Model:
    """A copy of a model with other ignored features and muscles."""
    kept = {"name": model.name, "xml": model.xml, "initial_key": model.initial_key, "changes": model.changes}
    return Model(model.mujoco, ignored=ignored, muscles=muscles, **kept)


def _load_bundled(name: str, ignore) -> Model:
    """A bundled model; simulations of it start from its first keyframe."""
    text = (BUNDLED / f"{name}.xml").read_text(encoding="utf-8")
    model = load(text, ignore=ignore)
    key = 0 if model.nkey else None
    return Model(model.mujoco, name=name, xml=text, ignored=list(model.ignored), initial_key=key)


def _load_file(path: Path, ignore, apart: bool | float, chosen: urdf.Choices) -> Model:
    if not _exists(path):
        known = models() if path.suffix == "" else []
        hint = f"{proposal(path, known)} (bundled models: {', '.join(known)})" if known else ""
        raise ModelError(f"no such file{hint}", file=str(path))
    if not path.is_file():
        raise ModelError("not a file", file=str(path))
    check_suffix(path)
    check_file(path)
    content = _content(path)
    check_format(content.decode(errors="replace"), str(path))
    compiled, name, xml = _compiled(path, content, apart, chosen)
    if declared(compiled) < NEWEST and b"<include" in content:
        raise ModelError(
            "a file that declares older semantics and has <include> is read whole by "
            f"saltus.load(path, semantics={name_of(declared(compiled))!r})",
            file=str(path),
        )
    return _finish(compiled, name or path.stem, xml, ignore, str(path), content.decode())


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(path)) from None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # the name is too long or contains a zero byte
        return False


def _compiled(
    source: str | Path, content: bytes, apart: bool | float, chosen: urdf.Choices
) -> tuple[mujoco.MjModel, str, str]:
    """The compiled model of a text or a file with this content, its own name, and its MJCF text."""
    path = source if isinstance(source, Path) else None
    fault = None
    try:
        root = parse(content)
    except NotXml as error:
        root, fault = None, ModelError(f"not well-formed XML: {error}", file=path, line=error.line)
    if root is not None:
        return _compiled_urdf(content, root, path, apart, chosen)
    if fault is None:
        urdf.check_unused(chosen)
    compiled = _compiled_mjcf(source, path, apart)  # MuJoCo may say more
    if fault is not None:
        raise fault
    return compiled


def _compiled_mjcf(source: str | Path, path: Path | None, apart: bool | float) -> tuple[mujoco.MjModel, str, str]:
    """The compiled model of MJCF, its own name, and its text."""
    if apart is not False:
        try:
            return compile_apart(source, timeout=None if apart is True else apart)
        except CompilerMessage as error:
            raise _model_error(error, path) from None
    if path is None:
        spec = _parse(lambda: mujoco.MjSpec.from_string(str(source)), None)
    else:
        spec = _parse(lambda: mujoco.MjSpec.from_file(str(path)), path)
    return _compile(spec, path), spec.modelname, str(source) if path is None else spec.to_xml()


def _compiled_urdf(
    content: bytes, root: Element, path: Path | None, apart: bool | float, chosen: urdf.Choices
) -> tuple[mujoco.MjModel, str, str]:
    """The compiled model of a URDF, its own name, and its MJCF text; warns of all that is not as it may seem."""
    plan, remarks = urdf.plan(content, root, path, chosen)
    try:
        if apart is not False:
            compiled, more = compile_urdf_apart(plan, path, timeout=None if apart is True else apart)
        else:
            spec, model, more = build(plan)
            compiled = Compiled(model, spec.modelname, spec.to_xml())
    except (ValueError, RuntimeError, mujoco.FatalError, CompilerMessage) as error:
        raise _model_error(error, path) from None
    if remarks or more:
        warn(UrdfWarning.of([*remarks, *more]))
    if path is None and chosen._replace(package_path=()) in (urdf.Choices(), urdf.Choices("none")):
        compiled = compiled._replace(xml=content.decode())  # MuJoCo writes six digits
    return compiled


def _parse(read, path):
    try:
        return read()
    except (ValueError, OSError, RuntimeError) as error:
        raise _model_error(error, path) from None


def _compile(spec, path):
    try:
        return compile_spec(spec)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise _model_error(error, path) from None


def _model_error(error, path) -> ModelError:
    """A ModelError with MuJoCo's message, a remedy, the file and, if the message names one, the line."""
    text = " ".join(str(error).split())
    found = re.search(r"[Ll]ine(?: number=| )(\d{1,9})\b", text)
    hint = next((f" ({hint})" for sign, hint in HINTS.items() if sign in text), "")
    return ModelError(text + hint, file=str(path) if path else None, line=int(found.group(1)) if found else None)


def _embedded_name(m: mujoco.MjModel) -> str:
    return m.names[: m.names.index(b"\0")].decode(errors="backslashreplace") or "model"


def _finish(m: mujoco.MjModel, name: str, xml: str | None, ignore, file: str | None, text: str | None = None) -> Model:
    """The Model of a compiled model, checked. `text`: of its file, where `xml` is not it."""
    check_names(m, file)
    check_numbers(m, file)
    check_inertia(m, file)
    if elastic_explicitly(m):
        warn(
            f"{name}: the elastic forces of deformable bodies are those of each step's start under the file's implicit "
            "integrator, which MuJoCo 4.0 refuses; `saltus check` tells the largest stable timestep, and the "
            "integrator 'discrete' is implicit in them"
        )
    model = Model(m, name=name, xml=xml, ignored=features.check(m, ignore, file))
    if told := followed(m, text or xml or "", model.left_out):
        warn(f"{name}: with semantics {model.semantics}, {told}, and are those of {name_of(NEWEST)}")
    warn_of_clamped(m, name, model.left_out)
    return model
