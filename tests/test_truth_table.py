"""The table of truth: each cell is right by a reference from outside, refused by name, or known to be wrong.

Scenes, references and tolerances are those of `helpers.truth_scenes`, which also writes the page of the docs. The small
world, of spheres and boxes on a floor and a table, is tried in every run of the tests; the laws of `SELDOM` and other
methods wait for the slow tests.
"""

import itertools
from pathlib import Path

import pytest
from helpers import truth_scenes as truth
from helpers.truth_scenes import CARRIERS, CORE, LAWS, MACHINES, MOVERS, OTHER_LAWS, PAIRS, READERS, REFUSED, SMALL
from numpy.testing import assert_allclose

from saltus.errors import OptionError

#: Rows whose kernels are compiled anew under laws that do not refuse them: lanes and duals.
SLOW = ("`linearize()`", "`Batch`", "`Batch`, float32", "environment", "lab")
#: Laws whose every cell waits for the slow tests. Tests of their integrators are among those of every run.
SELDOM = ("soft, radau", "soft, energy_momentum", "hard, energy_momentum")
#: Laws under which machines, a world of their own, are tried in every run.
OF_MACHINES = ("soft, euler", "hard, dopri5")
PAGE = Path(__file__).resolve().parents[1] / "docs/reference/truth.md"


def cells(laws, scenes, small):
    """Parameters: law, scene, shape; what is known to be wrong must fail."""
    for law, scene in itertools.product(laws, scenes):
        if truth.tried(law, scene) and (small or law.integrator != "radau"):
            for shape in scene.shapes:
                if small and shape not in (*SMALL, ""):
                    continue
                fault = truth.wrong(law, scene.name, shape)
                strict = fault not in truth.BY_CHANCE
                marks = [pytest.mark.xfail(reason=fault, strict=strict)] if fault else []
                marks += [pytest.mark.slow] if law.name in SELDOM else []
                yield pytest.param(law, scene, shape, marks=marks, id=f"{law.name}-{scene.name}-{shape}")


def assert_right(checks):
    assert checks
    for check in checks:
        assert_allclose(check.got, check.right, rtol=0, atol=check.tolerance, err_msg=check.quantity)


@pytest.mark.parametrize(("law", "scene", "shape"), list(cells(LAWS, CORE, small=True)))
def test_spheres_and_boxes(law, scene, shape):
    assert_right(truth.outcome(law, scene, True)[shape])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "scene", "shape"), list(cells(LAWS, [s for s in [*PAIRS, *MOVERS] if s.shapes != ("",)], False))
)
def test_all_shapes(law, scene, shape):
    assert_right(truth.outcome(law, scene, False)[shape])


@pytest.mark.slow
@pytest.mark.parametrize(("law", "scene", "shape"), list(cells(OTHER_LAWS, CORE, small=True)))
def test_other_methods(law, scene, shape):
    if (law.name, scene.name) in REFUSED:
        assert_refused(law, scene, lambda: scene.play(law, SMALL))
    else:
        assert_right(truth.outcome(law, scene, True)[shape])


def readings():
    for law in LAWS:
        for row in [*MACHINES, *READERS, *CARRIERS]:
            fault = truth.wrong(law, row.name, "")
            marks = [pytest.mark.xfail(reason=fault, strict=True)] if fault else []
            seldom = law.name in SELDOM or (row in MACHINES and law.name not in OF_MACHINES)
            if seldom or (row.name in SLOW and (law.name, row.name) not in REFUSED):
                marks.append(pytest.mark.slow)
            yield pytest.param(law, row, marks=marks, id=f"{law.name}-{row.name}")


@pytest.mark.parametrize(("law", "row"), list(readings()))
def test_readers_and_carriers(law, row):
    if (law.name, row.name) in REFUSED:
        assert_refused(law, row, lambda: row.play(law))
    else:
        assert_right(row.play(law))


def assert_refused(law, row, play):
    with pytest.raises((OptionError, AttributeError)) as error:
        play()
    assert REFUSED[law.name, row.name] in str(error.value)


def others():
    """Scenes of one body alone, beside those of the small world."""
    for law in LAWS:
        for scene in [*PAIRS, *MOVERS]:
            if scene.shapes == ("",) and scene not in CORE and truth.tried(law, scene):
                refused = (law.name, scene.name) in REFUSED and law.name not in SELDOM
                fault = truth.wrong(law, scene.name, "")
                marks = [pytest.mark.xfail(reason=fault, strict=True)] if fault else []
                marks += [] if refused else [pytest.mark.slow]
                yield pytest.param(law, scene, marks=marks, id=f"{law.name}-{scene.name}")


@pytest.mark.parametrize(("law", "scene"), list(others()))
def test_other_scenes(law, scene):
    if (law.name, scene.name) in REFUSED:
        assert_refused(law, scene, lambda: scene.play(law, ("",)))
    else:
        assert_right(truth.outcome(law, scene, False)[""])


def test_the_page_is_that_of_the_scenes():
    assert PAGE.read_text(encoding="utf-8") == truth.page()
