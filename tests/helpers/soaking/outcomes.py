"""Ends of a mutant: accepted, refused by name, or with an error that is nobody's."""

import random
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from saltus.errors import SaltusError
from saltus.lab.messages.protocol import Malformed


@dataclass(frozen=True)
class Kind:
    """A sort of input.

    `attempt(rng, folder)` makes a mutant by the random numbers and tries it; it returns if the mutant is accepted.
    `prepare()` makes what all mutants of the kind begin with, outside the limit of time.
    """

    name: str
    attempt: Callable[[random.Random, Path], None]
    prepare: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Outcome:
    """End of a mutant: "accepted", "refused", or a fault, "raw", "crash" or "hang", with what is known of it."""

    result: str
    text: str = ""


class Other(AssertionError):
    """Error of an accepted mutant that is not what it must be."""


@contextmanager
def kept_folder(folder: Path | None):
    """A folder for the files of a mutant: this one, which stays, or one that goes."""
    if folder is not None:
        yield folder
        return
    made = Path(tempfile.mkdtemp(prefix="saltus-soak-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def outcome(kind: Kind, seed: int, folder: Path | None = None) -> Outcome:
    """Try the mutant of a kind that belongs to a seed; its files are left in `folder` where one is given."""
    rng = random.Random(f"{kind.name} {seed}")
    with kept_folder(folder) as place, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            kind.attempt(rng, place)
        except (SaltusError, Malformed) as error:
            return Outcome("refused", str(error)) if str(error) else Outcome("raw", "an error that says nothing")
        except Exception:
            return Outcome("raw", traceback.format_exc())
    return Outcome("accepted")
