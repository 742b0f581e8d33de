"""Gymnasium's spaces, seeds and options of environments."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from saltus.arguments import whole_number
from saltus.env.run.episodes import PLACED, Episodes
from saltus.errors import OptionError


def observation_space(episodes: Episodes) -> Box:
    """The space of observations: all real numbers [nobservation] in the precision of the simulations."""
    dtype = np.float64 if episodes.precision == "float64" else np.float32
    return Box(-np.inf, np.inf, (episodes.declaration.nobservation,), dtype)


def action_space(episodes: Episodes) -> Box:
    """The space of actions [naction], float32 as in Gymnasium's environments."""
    low, high = (x.astype(np.float32) for x in (episodes.declaration.action_low, episodes.declaration.action_high))
    return Box(low, high, dtype=np.float32)


def seed_keys(seed: int | Sequence[int], n: int) -> NDArray[np.uint64]:
    """Seeds [n], given one by one or as the first of consecutive whole numbers."""
    if isinstance(seed, int | np.integer):
        return np.arange(n, dtype=np.uint64) + np.uint64(whole_number("seed", int(seed)))
    if len(seed) != n:
        raise OptionError(f"expected {n} seeds, got {len(seed)}")
    return np.array([whole_number("each seed", x) for x in seed], np.uint64)


def check_options(options: Mapping[str, object] | None, known: Collection[str]) -> None:
    """Raise OptionError for unknown options of a reset."""
    for name in options or {}:
        if name not in known:
            raise OptionError.unknown("option of reset", name, known)


def given_state(options: Mapping[str, object] | None, episodes: Episodes) -> dict[str, NDArray[np.float64]]:
    """The fields of the state [n, ...] among the options of a reset. OptionError: one is not valid."""
    return episodes.checked_state({name: value for name, value in (options or {}).items() if name in PLACED})


def reset_mask(options: Mapping[str, object] | None, n: int) -> NDArray[np.bool_] | None:
    """Mask [n] of the simulations chosen by the option reset_mask; None: all. OptionError: it is not valid."""
    check_options(options, ("reset_mask", *PLACED))
    return checked_mask("reset_mask", options["reset_mask"], n) if options and "reset_mask" in options else None


def checked_mask(name: str, mask: object, n: int) -> NDArray[np.bool_] | None:
    """A mask [n] of simulations; None: all. OptionError: it is not valid."""
    if mask is None and name != "reset_mask":
        return None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,):
        raise OptionError(f"{name} must be a boolean array [{n}], got {mask!r}")
    if not mask.any():
        raise OptionError(f"{name} chooses no simulation")
    return mask
