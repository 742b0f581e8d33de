"""`saltus.torch` and `saltus.jax` can be imported without the libraries; calls name what to install."""

import subprocess
import sys

import numpy as np
import pytest

import saltus


@pytest.mark.parametrize(("name", "what"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_a_missing_library_is_named(monkeypatch, name, what):
    monkeypatch.setitem(sys.modules, name, None)
    module = getattr(saltus, name)
    for function in (module.step, module.run):
        with pytest.raises(
            ImportError, match=rf"saltus\.{name} needs {what}: pip install 'saltus\[{name}\]'$"
        ) as found:
            function(saltus.Simulation("pendulum"), np.zeros(1), np.zeros(1))
        assert found.value.name == name


def test_importing_them_imports_neither_library():
    code = "import sys, saltus.torch, saltus.jax; print('torch' in sys.modules, 'jax' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["False", "False"]
