"""The helper process that compiles models for `saltus.model.source.isolated_compiler`.

The process imports MuJoCo and no other large package. A message is a JSON text and bytes, each preceded by its length.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import IO, Any

import mujoco
import numpy as np

from saltus.model.source.compiler import compile_spec
from saltus.model.source.urdf.build import build, from_json

GRACE = 5.0  # s beyond the time limit after which a helper without a parent ends by itself
MEMORY = 4 * 2**30  # limit of the address space (bytes)


def serve() -> None:
    """Compile until there is no more input. Ctrl-C is left to the parent; MuJoCo's output goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory()
    while (message := read_message(sys.stdin.buffer)) is not None:
        request, _ = message
        with _ending_itself(request["timeout"]):
            answer, content = _answer(request)
        write_message(answers, answer, content)


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None at the end of the stream, or if it is truncated."""
    head = stream.read(16)
    if len(head) < 16:
        return None
    sizes = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little")
    text, content = stream.read(sizes[0]), stream.read(sizes[1])
    return (json.loads(text), content) if (len(text), len(content)) == sizes else None


def write_message(stream: IO[bytes], about: dict[str, Any], content: bytes = b"") -> None:
    text = json.dumps(about).encode()
    stream.write(len(text).to_bytes(8, "little") + len(content).to_bytes(8, "little") + text + content)
    stream.flush()


def _answer(request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Answer to a request: {"name", "xml", "remarks"} and the model's bytes, or {"error"}."""
    try:
        spec, compiled, remarks = _compiled(request)
        size = mujoco.mj_sizeModel(compiled)
        if size > request["largest"]:
            return {"error": f"the compiled model takes {size} bytes, more than {request['largest']}"}, b""
        image = np.empty(size, np.uint8)
        mujoco.mj_saveModel(compiled, None, image)
        return {"name": spec.modelname, "xml": _xml(spec, request), "remarks": remarks}, image.tobytes()
    except MemoryError:
        return {"error": "MuJoCo's compiler ran out of memory"}, b""
    except Exception as error:  # MuJoCo may raise anything
        return {"error": " ".join(str(error).split()) or type(error).__name__}, b""


def _compiled(request: dict[str, Any]) -> tuple[Any, mujoco.MjModel, list[Any]]:
    """Description and model of a request, with remarks on a URDF."""
    if request["urdf"] is not None:
        return build(from_json(request["urdf"]))
    spec = _spec(request)
    return spec, compile_spec(spec), []


def _spec(request: dict[str, Any]) -> Any:
    if request["path"] is not None:
        return mujoco.MjSpec.from_file(request["path"])
    assets = {name: bytes.fromhex(content) for name, content in request["assets"].items()}
    spec = mujoco.MjSpec.from_string(request["text"], assets=assets or None)
    if request["folder"] is not None:
        spec.modelfiledir = str(Path(request["folder"]))
    return spec


def _xml(spec: Any, request: dict[str, Any]) -> str:
    """MJCF text of a model that was read from a file or from URDF; the text of other requests is already known."""
    return spec.to_xml() if request["path"] is not None or request["urdf"] is not None else ""


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):  # systems without such limits
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY if hard == resource.RLIM_INFINITY else min(hard, MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


@contextlib.contextmanager
def _ending_itself(timeout: float):
    """End this process soon after its time limit, in case the parent has ended.

    A thread in C does it, on all systems, without waiting for MuJoCo to return to Python.
    """
    with open(os.devnull, "w") as nowhere:
        limit = min(timeout + GRACE, threading.TIMEOUT_MAX)
        faulthandler.dump_traceback_later(limit, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
