"""Kernels against themselves (selves): the same sources on 50-digit numbers, and compiled for floats, lanes and duals.

Reference: each kernel as plain Python on numbers of 50 digits (mpmath), and central differences of it, whose step of
1e-20 makes them exact to 1e-30. Tolerances follow from rounding: see `helpers.selves.compare`; those of whole models
are some times the change of the exact result by a rounding of the state, and 16 roundings of the largest number.
"""

import importlib

import numpy as np
import pytest
from helpers import everything
from helpers.selves import coverage
from helpers.selves.compare import of_file
from helpers.selves.exact import Number
from helpers.selves.table import FILES
from helpers.selves.whole import RESULTS, Whole, touching_tree

from saltus.contact.counts import NITER
from saltus.model.layout import DATA
from saltus.number.kernels import kernel
from saltus.simulate.engine.data import SHOWN as NAMES
from saltus.spatial.quaternions import quat_exp

ROUNDING = 2.0**-53
SHOWN = frozenset(NAMES.split())


#: Rooms whose kernels compile in a second or so.
QUICK = ("spatial", "number", "dynamics.fluid", "dynamics.tree", "contact.rows")


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=() if file.startswith(QUICK) else pytest.mark.slow) for file in FILES]
)
def test_kernels_of_a_file(file):
    module, rows = importlib.import_module(f"saltus.{file}"), FILES[file]
    made = of_file(file.replace(".", "_"), {name: getattr(module, name) for name in rows}, rows)
    faults = {name: found for name, comparison in made.items() if (found := comparison.check())}
    assert faults == {}
    for name, comparison in made.items():
        assert comparison.left_out() < 0.5, f"the inputs of {name} are outside its domain"


def test_no_kernel_is_forgotten():
    found = coverage.kernels()
    assert len(found) > 1500, "the test finds what there is"
    assert coverage.forgotten() == []
    assert coverage.compared() - found.keys() == set()


def test_every_reason_is_of_a_kernel():
    """What is left out for a reason is there."""
    left_out = [name for name in coverage.kernels() if name not in coverage.compared()]
    unused = [key for key in coverage.EXEMPT if not any(f"{name}.".startswith(f"{key}.") for name in left_out)]
    assert unused == []


# ---------------------------------------------------------------- planted faults


@kernel
def exponential_of_one_branch(v):
    """The first terms of the series for all vectors."""
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    return 1.0 - 0.125 * square, (0.5 - square / 48.0) * v[0], (0.5 - square / 48.0) * v[1], 0.5 * v[2]


def test_a_wrong_kernel_is_found():
    rows = FILES["spatial.quaternions"]
    made = of_file("planted", {"quat_exp": exponential_of_one_branch}, rows)["quat_exp"]
    right = of_file("right", {"quat_exp": quat_exp}, rows)["quat_exp"]
    assert right.check() == []
    right.faults, right.compiled = [], made.compiled
    kinds = {fault.partition(":")[0] for fault in right.check()}
    assert kinds == {"float64", "lane64", "lane32", "dual"}


# ---------------------------------------------------------------- whole models


def whole_faults(exact, found, nearby):
    """Results in floats that differ from the exact ones by more than roundings of the state make."""
    faults = {}
    for name in RESULTS & exact.keys() & found.keys():
        values = exact[name]
        if not values.size:
            continue
        if DATA.fields[name].kind == "int":
            some = slice(NITER) if name == "count" else ...  # an exact solution takes more iterations
            if not np.array_equal(values.astype(int)[some], found[name][some]):
                faults[name] = "differs"
            continue
        error = np.abs(values - found[name]).max()
        change = max(np.abs(near[name] - values).max() for near in nearby)
        # the backward error of a factor of M grows with its size (Higham 2002, theorem 10.3)
        roundings = 16 * (values.size if name == "qLDiagInv" else 1)
        bound = roundings * (change + Number(ROUNDING) * np.abs(values).max())
        if not error <= bound:
            faults[name] = f"differs by {float(error):.2g}, bound {float(bound):.2g}"
    return faults


def reals(views, *place):
    """Real fields of lanes or duals, one number of each."""
    return {name: view[(..., *place)] for name, view in views.items() if DATA.fields[name].kind == "real"}


TREES = [(3, "pyramidal"), (5, "elliptic"), (7, "elliptic")]


@pytest.mark.parametrize("seed, cone", TREES)
def test_floats_and_lanes_of_a_touching_tree(seed, cone):
    """Every result of forward dynamics: of floats at each state, and of lanes that have one state each."""
    whole = Whole(touching_tree(seed, cone), seed)
    lanes, _ = whole.lanes()
    for state, (qpos, qvel) in enumerate(whole.states):
        exact, status = whole.exact(qpos, qvel)
        nearby = [whole.exact(*whole.near(qpos, qvel))[0] for _ in range(2)]
        floats, own = whole.floats(state)
        assert status == own
        assert whole_faults(exact, floats.views, nearby) == {}
        # lanes have places for the contacts of all
        shown = {name: values for name, values in reals(lanes.views, state).items() if name in SHOWN}
        assert whole_faults(exact, shown, nearby) == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed, cone", TREES)
def test_duals_of_a_touching_tree(seed, cone):
    """Slopes of every result along a direction of the velocities, and the values beside them."""
    whole = Whole(touching_tree(seed, cone), seed, count=1)
    qpos, qvel = whole.states[0]
    directions = whole.directions()
    duals, _ = whole.duals(0, directions)
    exact, _ = whole.exact(qpos, qvel)
    nearby = [whole.near(qpos, qvel) for _ in range(2)]
    assert whole_faults(exact, reals(duals.views, 0, 0), [whole.exact(*near)[0] for near in nearby]) == {}
    slopes = whole.slopes(qpos, qvel, directions[:, 3])
    near_slopes = [whole.slopes(*near, directions[:, 3]) for near in nearby]
    assert whole_faults(slopes, reals(duals.views, 1, 3), near_slopes) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [everything.xml(), "sit_to_stand", "humanoid"], ids=["everything", "sit_to_stand", "humanoid"]
)
def test_floats_of_whole_models(source):
    """Actuators, tendons, muscles, sensors' inputs, a fluid, meshes, deformable bodies: every result."""
    whole = Whole(source, 3, count=1)
    exact, status = whole.exact(*whole.states[0])
    floats, own = whole.floats(0)
    assert status == own
    nearby = [whole.exact(*whole.near(*whole.states[0]))[0] for _ in range(4)]
    assert whole_faults(exact, floats.views, nearby) == {}
