"""Models opened from the page: files dropped on it, or a path on this machine.

Files arrive in pieces and are kept in memory until all are complete; then they are written to a temporary folder, in
which MuJoCo's compiler finds the files that the model refers to.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from saltus.errors import ModelError, OptionError, SaltusError
from saltus.lab.messages.layout import is_safe, places, references
from saltus.model.load import load
from saltus.model.model import Model
from saltus.model.source.other_formats import SUFFIXES

MOST_BYTES = 32 * 2**20  # of all files together
MOST_FILES = 500
COMPILER_TIME = 30.0  # s
PACKAGE = re.compile(rb"package://[^/\"']*/")  # of ROS; here the files are part of the upload


@dataclass
class Upload:
    """Files being uploaded, by names with slashes."""

    files: dict[str, bytearray] = field(default_factory=dict)
    size: int = 0
    refused: bool = False  # because one of them is not allowed

    def add(self, name: str, piece: bytes) -> None:
        """Append to a file or begin it; a refused upload ignores further pieces.

        OptionError: the name is not allowed, or there are too many files or bytes.
        """
        if self.refused:
            return
        self.size += len(piece)
        try:
            self._check(name)
        except OptionError:
            self.refused, self.files = True, {}
            raise
        self.files.setdefault(str(PurePosixPath(name)), bytearray()).extend(piece)

    def _check(self, name: str) -> None:
        if not PurePosixPath(name).parts or not is_safe(name):
            raise OptionError(f"{name!r} is not an allowed file name")
        if self.size > MOST_BYTES or len({*self.files, name}) > MOST_FILES:
            most = f"{MOST_BYTES >> 20} MiB in {MOST_FILES} files"
            raise OptionError(f"the page can upload at most {most}; give the path of the model on this machine instead")

    @property
    def main(self) -> str:
        """Name of the model that no other file includes. OptionError: there is none, or several."""
        models = {name: bytes(content) for name, content in self.files.items() if _is_model(name)}
        included = {base for text in models.values() for base in references(text)}
        found = [name for name in models if PurePosixPath(name).name not in included]
        if not models:
            raise OptionError(f"none of these files is a model; expected a suffix {', '.join(SUFFIXES)}")
        if len(found) != 1:
            names = ", ".join(found or models)
            raise OptionError(f"there are several models: {names}; upload one, with the files that it refers to")
        return found[0]


@dataclass(frozen=True)
class Outside:
    """A model of the user: uploaded files by name, or a path on this machine. name: the file's, for display."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    path: Path | None = None

    @classmethod
    def uploaded(cls, upload: Upload) -> Outside:
        """The model of an upload. OptionError: the files hold no model, or several."""
        return cls(upload.main, {name: bytes(content) for name, content in upload.files.items()})

    @classmethod
    def at(cls, path: str) -> Outside:
        """The model at a path on this machine. OptionError: it has no suffix of a model file."""
        place = Path(path.strip()).expanduser()
        if not _is_model(place.name):
            raise OptionError(f"'{place}' is not a model file; expected a suffix {', '.join(SUFFIXES)}")
        return cls(place.name, path=place)

    def model(self) -> Model:
        """Compile the model; raises ModelError."""
        if self.path is not None:
            return compiled(self.path)
        with tempfile.TemporaryDirectory(prefix="saltus-lab-") as folder:
            try:
                return compiled(self._lay_out(Path(folder)))
            except SaltusError as error:
                text = str(error).replace(f"{folder}/", "").replace(folder, ".")
                raise ModelError(text) from None

    def _lay_out(self, folder: Path) -> Path:
        """Write the files into a folder, with copies at the places where the models look for them; return the model.

        ModelError: a file cannot be written, or the copies are too many, or too large together.
        """
        files = {
            name: PACKAGE.sub(b"", content) if _is_model(name) else content for name, content in self.files.items()
        }
        copies = {place: files[name] for place, name in places(self.name, files).items()}
        for name, content in (files | copies).items():
            _write(folder, name, content)
        return folder / self.name


def compiled(path: Path) -> Model:
    """Compile a model file in a separate process, which may abort or exceed COMPILER_TIME without harm."""
    return load(path, apart=COMPILER_TIME)


def _write(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:  # the name is too long, or that of a folder
        raise ModelError(f"the file '{name}' cannot be written: {error.strerror}") from None


def _is_model(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES
