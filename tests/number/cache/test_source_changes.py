"""One change of the sources at a time: what is told to have changed, and what is computed afterwards.

Reference: who calls whom by the names in the syntax trees, without the package's own walk; and the bits of the same
programs with an empty cache. Run `helpers.source_changes` as a script for many.
"""

from pathlib import Path

import pytest
from helpers.source_changes import Trial

KINDS = (
    *("sign", "callee", "enum", "field's place", "default"),
    *("closure", "intrinsic", "condition", "decorator", "docstring"),
)


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """A copy of the package, with the kernels of one program compiled."""
    with Trial(Path(tmp_path_factory.mktemp("changed"))) as made:
        made.fill(["users"])
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_keys(trial, kind):
    """Those of a kernel, and of all that call it, change; all others stay."""
    kind_made, name, faults = trial.verdict(1, kind)
    assert kind_made == kind and name and faults == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["closure", "module constant"])
def test_results(trial, kind):
    """With the kernels that were compiled before the change they are those of an empty cache."""
    _, _, changed, stale = trial.compared(1, kind)
    assert changed and stale == []
