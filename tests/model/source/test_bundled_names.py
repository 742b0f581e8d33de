"""Names of the bundled models, which a shell completes at once: they are had without what takes long to import."""

import subprocess
import sys


def test_names_are_had_without_heavy_imports():
    code = "import sys; from saltus.model.source.bundled_names import models; print(*models()); "
    code += "print(*{'mujoco', 'numpy', 'numba', 'scipy'} & set(sys.modules))"
    names, heavy = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")[:2]
    assert {"pendulum", "humanoid"} <= set(names.split()) and names.split() == sorted(names.split()) and heavy == ""
