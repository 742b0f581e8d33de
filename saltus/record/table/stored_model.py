"""The model stored in a recording, which can be loaded without its original file."""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from saltus.errors import ModelError, RecordError, SaltusError
from saltus.record.files.atomic_write import reason_of
from saltus.record.files.limits import LEAST

if TYPE_CHECKING:
    from saltus.model.model import Model

_FILE = "model.mjb"
MODEL_RATIO = 20  # compression ratio of a model's bytes, for large models


@dataclass(frozen=True)
class StoredModel:
    """A model as bytes and text.

    MuJoCo reads its binary form in the version that wrote it; in others, the XML text is compiled again. The model may
    be a stranger's: no file is opened on its behalf, and its bytes unpack to no more than fits in memory.

    Attributes:
        mjb: MuJoCo's binary form of the compiled model, compressed by zlib; empty if there is none.
        mujoco_version: version that wrote `mjb`.
        xml: MJCF text, "" if there is none.
        name, ignored, initial_key, muscles, changes: as in `Model`; muscles as mappings of their parameters.
        path: the file that it came from, for messages.
    """

    mjb: bytes = field(repr=False)
    mujoco_version: str
    xml: str = field(repr=False)
    name: str
    ignored: list[str]
    initial_key: int | None
    muscles: dict[str, dict[str, float | bool]]
    changes: dict[str, ArrayLike] = field(default_factory=dict)
    path: str = field(default="recording", compare=False)

    @classmethod
    def of(cls, model: Model) -> StoredModel:
        """Pack the contents of a model."""
        import mujoco

        compiled = model.mujoco
        image = np.empty(mujoco.mj_sizeModel(compiled), np.uint8)
        mujoco.mj_saveModel(compiled, None, image)
        return cls(
            mjb=zlib.compress(image.tobytes(), 6),
            mujoco_version=mujoco.__version__,
            xml=model.xml or "",
            name=model.name,
            ignored=list(model.ignored),
            initial_key=model.initial_key,
            muscles={name: dataclasses.asdict(law) for name, law in model.muscles.items()},
            changes=dict(model.changes),
        )

    def about(self) -> str:
        """Fields other than the bytes, as JSON."""
        about = dataclasses.asdict(self)
        about.pop("mjb")
        about.pop("path")
        return json.dumps(about, ensure_ascii=False)

    @classmethod
    def read(cls, mjb: bytes, about: str, path: str | os.PathLike[str]) -> StoredModel:
        """Unpack the stored `mjb` and `about()` of a file."""
        return cls(mjb=mjb, path=os.fspath(path), **json.loads(about))

    def restore(self) -> Model:
        """Restore the model. If its text names files, its `xml` is None, so that nothing reads them later.

        Raises:
            RecordError: neither the binary form nor the text can be read.
        """
        try:
            return self._made()
        except RecordError:
            raise
        except Exception as error:  # the exceptions that broken laws and changes raise are open-ended
            raise self._unreadable(reason_of(error)) from error

    def _made(self) -> Model:
        from saltus.model.compile.hill import HillMuscle
        from saltus.model.model import Model

        compiled, why = self._from_binary()
        if compiled is None:
            compiled = self._from_text(why)
        stored: dict[str, dict[str, Any]] = {**self.muscles}
        muscles = {name: HillMuscle(**parameters) for name, parameters in stored.items()}
        return Model(
            compiled,
            name=self.name,
            xml=self.xml if self._reads_no_files() else None,
            ignored=self.ignored,
            initial_key=self.initial_key,
            muscles=muscles,
            changes=self.changes,
        )

    def _reads_no_files(self) -> bool:
        from saltus.model.source.self_contained import self_contained

        try:
            return bool(self.xml and self_contained(self.xml))
        except ModelError:
            return False

    def _unreadable(self, reason: str) -> RecordError:
        return RecordError(self.path, reason, action="read", what="the model of recording")

    def same_as(self, model: Model) -> bool:
        """Whether a model equals the stored one: compiled, or, between versions of MuJoCo, in its text."""
        other = StoredModel.of(model)
        same = other.mjb == self.mjb if other.mujoco_version == self.mujoco_version else other.xml == self.xml
        laws = (self.ignored, self.muscles, self.changes)
        return same and (other.ignored, other.muscles, other.changes) == laws

    def _from_binary(self) -> tuple[Any, str]:
        """The compiled model, or None and the reason."""
        import mujoco

        if not self.mjb:
            return None, "there is no compiled one"
        if mujoco.__version__ != self.mujoco_version:
            return None, f"it was compiled by MuJoCo {self.mujoco_version}, this is {mujoco.__version__}"
        try:
            compiled: Any = mujoco.MjModel
            return compiled.from_binary_path(_FILE, {_FILE: unpacked(self.mjb)}), ""
        except (ValueError, RuntimeError, zlib.error, mujoco.FatalError) as error:
            return None, f"the compiled one cannot be read ({' '.join(str(error).split())})"

    def _from_text(self, why: str) -> Any:
        from saltus.model.load import load
        from saltus.model.source.self_contained import self_contained

        if not self.xml:
            raise self._unreadable(f"{why}, and there is no XML text")
        try:
            kinds = {text.partition(":")[0] for text in self.ignored}
            return load(self_contained(self.xml), ignore=kinds).changed(self.changes).mujoco
        except SaltusError as error:
            raise self._unreadable(f"{why}, and its XML text cannot be compiled here: {error}") from error


def unpacked(content: bytes) -> bytes:
    """The inverse of `zlib.compress`. ValueError where data are cut off, or unpack to more than a real model would."""
    most = max(LEAST, MODEL_RATIO * len(content))
    reader = zlib.decompressobj()
    found = reader.decompress(content, most)
    if not reader.eof:
        raise ValueError(f"it decompresses to more than {most} bytes" if reader.unconsumed_tail else "it is cut off")
    return found


def described(attrs: Mapping[str, Any]) -> StoredModel | None:
    """Model described by the attributes of a recording, for files without a compiled one."""
    if not attrs.get("model_xml"):
        return None
    return StoredModel(
        mjb=b"",
        mujoco_version=str(attrs.get("mujoco_version", "unknown")),
        xml=str(attrs["model_xml"]),
        name=str(attrs.get("model_name", "model")),
        ignored=list(attrs.get("ignored") or []),
        initial_key=None,
        muscles=dict(attrs.get("muscles") or {}),
    )
