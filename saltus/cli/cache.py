"""`saltus cache`: show or clear the cache of compiled code."""

from __future__ import annotations

from typing import Annotated

import typer

MEBIBYTE = 2**20


def cache(clear: Annotated[bool, typer.Option("--clear", help="Clear the cache.")] = False) -> None:
    """Show the location and size of the cache of compiled code, or clear it.

    Removed code is compiled again when it is needed. When the cache exceeds its largest size, the code unused for the
    longest time is removed. The environment variable SALTUS_CACHE_DIR sets another location.
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
