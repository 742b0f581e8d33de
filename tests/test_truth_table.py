"""The table of truth: each cell is right by a reference from outside, refused by name, or known to be wrong.

Scenes, references and tolerances are those of `helpers.truth_scenes`, which also writes the page of the docs. The small
world, of spheres and boxes on a floor and a table, is tried under every law in every run of the tests.
"""

from pathlib import Path

import pytest
from helpers import truth_scenes as truth
from helpers.truth_scenes import CARRIERS, CORE, ENDLESS, LAWS, MOVERS, PAIRS, READERS, REFUSED, SMALL
from numpy.testing import assert_allclose

from saltus.errors import OptionError

#: Rows whose kernels are compiled anew under laws that do not refuse them: lanes and duals.
SLOW = ("`linearize()`", "`Batch`", "`Batch`, float32")
PAGE = Path(__file__).resolve().parents[1] / "docs/reference/truth.md"


def cells(scenes, small):
    """Parameters: law, scene, shape; what is known to be wrong must fail."""
    for law in LAWS:
        for scene in scenes:
            for shape in scene.shapes:
                if (small and shape not in (*SMALL, "")) or not truth.played(law, scene, shape):
                    continue
                if not small and law.name in truth.SMALL_ONLY and scene.name != PAIRS[0].name:
                    continue
                fault = truth.wrong(law, scene.name, shape)
                endless = (law.name, scene.name) in ENDLESS
                marks = [pytest.mark.xfail(reason=fault, strict=True, run=not endless)] if fault else []
                yield pytest.param(law, scene, shape, marks=marks, id=f"{law.name}-{scene.name}-{shape}")


def assert_right(checks):
    assert checks
    for check in checks:
        assert_allclose(check.got, check.right, rtol=0, atol=check.tolerance, err_msg=check.quantity)


@pytest.mark.parametrize(("law", "scene", "shape"), list(cells(CORE, small=True)))
def test_spheres_and_boxes(law, scene, shape):
    assert_right(truth.outcome(law, scene, True)[shape])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "scene", "shape"), list(cells([s for s in [*PAIRS, *MOVERS] if s.shapes != ("",)], False))
)
def test_all_shapes(law, scene, shape):
    assert_right(truth.outcome(law, scene, False)[shape])


def readings():
    for law in LAWS:
        for row in [*READERS, *CARRIERS]:
            if not truth.played(law, row):
                continue
            fault = truth.wrong(law, row.name, "")
            marks = [pytest.mark.xfail(reason=fault, strict=True)] if fault else []
            if row.name in SLOW and (law.name, row.name) not in REFUSED:
                marks.append(pytest.mark.slow)
            yield pytest.param(law, row, marks=marks, id=f"{law.name}-{row.name}")


@pytest.mark.parametrize(("law", "row"), list(readings()))
def test_readers_and_carriers(law, row):
    refusal = REFUSED.get((law.name, row.name))
    if refusal is None:
        assert_right(row.play(law))
        return
    with pytest.raises(OptionError) as error:
        row.play(law)
    assert refusal in str(error.value)


def test_the_page_is_that_of_the_scenes():
    assert PAGE.read_text(encoding="utf-8") == truth.page()
