"""`saltus lab`: the lab in the browser, until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any

import typer

from saltus.terminal import screen

CLOSING = 5.0  # s at most, for telling the pages and ending all threads


def open_lab(what: Any, *, browser: bool, **options: Any) -> None:
    """Open the lab, print its address, and wait."""
    from saltus import lab

    with screen.collected_warnings() as warned:
        opened = lab.open(what, browser=browser, **options)
    for warning in warned:
        screen.say(f"warning: {warning}")
    with opened:
        with contextlib.suppress(KeyboardInterrupt):
            typer.echo(f"lab: {opened.url}")
            screen.say("It is reachable from this machine only. Ctrl-C quits.")
            opened.wait()
        # compilers that take all there is of this computer must not hold up the end
        latest = threading.Timer(CLOSING, os._exit, (0,))
        latest.daemon = True
        latest.start()
    _end_what_is_left()
    latest.cancel()


def _end_what_is_left() -> None:
    """End the process if threads of the lab are left: compilers cannot be interrupted and may hang at exit."""
    if any(thread.name.startswith("saltus lab") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def list_scenes() -> None:
    """The scenes by name, with what they show."""
    from saltus.lab.scene.scenes import scenes

    screen.print_facts([(scene.name, scene.title) for scene in scenes().values()])
