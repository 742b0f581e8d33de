"""`saltus cache`: where compiled code is kept, how much of it, and an end to it."""

from __future__ import annotations

from typing import Annotated

import typer

MEBIBYTE = 2**20


def cache(clear: Annotated[bool, typer.Option("--clear", help="Remove all of it.")] = False) -> None:
    """Say where compiled code is kept and how much there is, or remove it.

    What is removed is compiled again when it is needed. Beyond its greatest size, what was not used for the longest
    time goes by itself. The environment variable SALTUS_CACHE_DIR names another place.
    """
    from saltus.number.cache import eviction
    from saltus.number.cache.storage import cache_root

    root = cache_root()
    if clear:
        removed = eviction.clear(root)
        print(f"removed {_amount(removed)} from {root}")
        return
    print(f"{_amount(eviction.kept(root))}, at most {eviction.LIMIT / MEBIBYTE:,.0f} MiB, in {root}")


def _amount(files: list) -> str:
    from saltus.number.cache import eviction
    from saltus.terminal.display import count

    return f"{count(len(files), 'file')} ({eviction.total(files) / MEBIBYTE:,.1f} MiB)"
