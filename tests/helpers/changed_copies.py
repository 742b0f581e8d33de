"""A copy of the package's sources, what its kernels are told by, and what programs of it compute.

Each question is answered by a process of its own, forked from one that has imported all but the package: so an answer
takes about a second.
"""

import base64
import compileall
import contextlib
import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import saltus

PACKAGE = Path(saltus.__file__).parent
PROGRAMS = Path(__file__).with_name("changed_programs.py")
OTHERS = ("numpy", "scipy.linalg", "scipy.special", "mujoco", "numba.cpython.unicode", "numba.np.arrayobj")
MORE = ("llvmlite.binding", "sympy", "symengine", "gymnasium", "gymnasium.vector", "websockets.frames")
STEPS = ("euler", "implicitfast", "moreau_jean")  # integrators whose loops are asked for
LAYOUTS = ("Model", "Model_hill", "Data", "ConeProblem", "ImpactProblem")


class Copy:
    """A copy of the package in a folder, with the programs beside it as the module `changed_programs`."""

    def __init__(self, root: Path):
        self.root = root
        shutil.copytree(PACKAGE, root / "saltus", ignore=shutil.ignore_patterns("__pycache__", "page", "*.html"))
        shutil.copy2(PROGRAMS, root)
        compileall.compile_dir(root, quiet=2)
        self._server = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root), "NUMBA_NUM_THREADS": "1"},
            cwd=root,
        )

    def close(self) -> None:
        """End the process."""
        self._server.communicate("")

    def keys(self, names: list[str]) -> dict[str, str] | None:
        """Fingerprints by the names of kernels, entries and layouts; None where a module cannot be imported."""
        found = self._answer({"names": names})
        return None if "error" in found else found

    def results(self, programs: list[str], cache: Path) -> dict[str, str]:
        """What programs leave in memory, as text, or their errors; with the kernels in a directory."""
        return self._answer({"programs": programs, "cache": str(cache)})

    def _answer(self, question):
        assert self._server.stdin and self._server.stdout
        print(json.dumps(question), file=self._server.stdin, flush=True)
        return json.loads(self._server.stdout.readline())


# ---------------------------------------------------------------- in the process that answers


def serve() -> None:
    """Answer each line of standard input with a line."""
    import importlib

    for name in (*OTHERS, *MORE):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.disable()  # processes that end soon have little garbage
    sys.dont_write_bytecode = True  # two sources of the same second and size would have the same name
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer_in_child(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        print(text or '{"error": "the process ended"}', flush=True)


def _answer_in_child(question, writing) -> None:
    try:
        if "programs" in question:
            os.environ["SALTUS_CACHE_DIR"] = question["cache"]
            answer = program_results(question["programs"])
        else:
            answer = all_keys(question["names"])
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    with os.fdopen(writing, "w") as pipe:
        pipe.write(json.dumps(answer))
    os._exit(0)


def program_results(names):
    """The memory that programs leave."""
    import warnings

    import changed_programs

    from saltus.number.compile import worker_pool

    warnings.simplefilter("ignore")
    worker_pool.MOST = 0  # one process
    found = {}
    for name in names:
        try:
            found[name] = base64.b64encode(changed_programs.PROGRAMS[name]().tobytes()).decode()
        except Exception as error:
            found[name] = f"{type(error).__name__}"
    return found


def all_keys(names):
    """Fingerprints of what modules define."""
    import importlib

    for name in names:
        importlib.import_module(name)

    from saltus.model.layout import model_layout
    from saltus.number.cache.fingerprint import base_key, fingerprint
    from saltus.number.compile.dispatchers import LateDispatcher
    from saltus.number.features import Choice
    from saltus.number.kernels import Entry
    from saltus.number.structs import LAYOUTS as layouts

    def described(value):
        if isinstance(value, Choice):
            return described(value.kernel) + fingerprint(value.py_func)
        if isinstance(value, Entry):
            return fingerprint(value.function(tuple(value._short), view=lambda s: 0))
        return fingerprint(value.py_func) + vars(value)["options"]

    model_layout(frozenset({"hill"}))  # a feature that adds fields
    found = {"": base_key()}
    for module in [sys.modules[name] for name in names]:
        for name, value in vars(module).items():
            kernel = value.kernel if isinstance(value, Choice) else value
            here = type(kernel) is LateDispatcher and kernel.py_func.__module__ == module.__name__
            if here or isinstance(value, Entry):
                found[f"{module.__name__}.{name}"] = described(value)
    found |= {f"layout {name}": layouts[name].digest for name in LAYOUTS if name in layouts}
    return found | _loops(described)


def _loops(described):
    """Fingerprints of the time loops of integrators, of simulations and of batches, and of their derivatives."""
    from saltus.integrate.registry import find_integrator
    from saltus.simulate.engine import loops

    found = {}
    for name in STEPS:
        integrator = find_integrator(name, "")
        found[f"loop {name}"] = described(loops.advance(integrator))
        found[f"batch {name}"] = described(loops.advance_batch(integrator))
        if name != "moreau_jean":
            found[f"derivative {name}"] = described(loops.linearize(integrator, True))
    return found


if __name__ == "__main__":
    serve()
