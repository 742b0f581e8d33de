"""Every smooth quantity is MuJoCo's.

Law: what MuJoCo 4.0 computes without constraints (documentation, "Computation"; its `mj_forward` is the reference
itself), at random positions on the manifold, velocities, controls, joint forces and Cartesian forces.

Tolerance: 1e-11 of a field's largest entry, or of 1e-3 in SI units where that is smaller. Both programs sum a few
hundred products in different orders, which leaves about 1e-13 of the largest. Accelerations may lose a factor of the
inertia matrix's condition: where it is above 1e7 (one model of a fly, 3e8) the bound is rounding times condition. The
signs of quaternions are free.

The reference has what the model was told to ignore switched off by its own means (flags and zero coefficients).
"""

import numpy as np
import pytest
from helpers import oracle
from helpers.files import EVERYTHING, SHARED_NAMES, packaged, shared
from helpers.mechanisms import MECHANISMS
from helpers.states import dense, lanes, put

import saltus
from saltus.errors import ModelError
from saltus.model.compile.actuators import supported_actuator
from saltus.number.kinds import lane64
from saltus.simulate.engine import loops

TOLERANCE, SMALL = 1e-11, 1e-3
EPS, ILL = 2.2e-16, 1e7
POSITION = "xpos xmat xipos ximat subtree_com geom_xpos geom_xmat site_xpos site_xmat xanchor xaxis cinert cdof"
VELOCITY = "cdof_dot cvel qfrc_bias qfrc_spring qfrc_damper qfrc_gravcomp qfrc_passive"
FORCE = "qfrc_actuator qfrc_smooth energy"
FIELDS = f"{POSITION} {VELOCITY} {FORCE}".split()
N_LINKS = range(1, 7)
DM_CONTROL, GYMNASIUM = packaged("dm_control"), packaged("gymnasium")
SEED = 20240229


# files of dm_control that MuJoCo itself cannot compile, with a part of its reason
REFUSED = {
    "locomotion/walkers/assets/build_fruitfly/assets/drosophila.xml": "opening file",
    "locomotion/walkers/assets/build_fruitfly/floor.xml": "opening file",
    "locomotion/walkers/assets/build_fruitfly/fruitfly.xml": "opening file",
    "locomotion/walkers/assets/dog_v2/scene.xml": "repeated name",
    "mjcf/schema.xml": "Unrecognized XML model type",
    "mjcf/test_assets/attribute_test_schema.xml": "Unrecognized XML model type",
    "mjcf/test_assets/included_with_invalid_filenames.xml": "opening file",
    "mjcf/test_assets/model_with_invalid_filenames.xml": "opening file",
    "mjcf/test_assets/test_model.xml": "mass and inertia of moving bodies",
    "mujoco/testing/assets/model_with_assets.xml": "opening file",
}


def load(name):
    """The model of a test name "kind:what"."""
    kind, what = name.split(":", 1)
    if kind == "bundled":
        return saltus.load(what, ignore=EVERYTHING)
    if kind == "n_link":
        return saltus.n_link(int(what))
    if kind == "own":
        return saltus.load(MECHANISMS[what])
    if kind == "shared":
        return saltus.load(shared(what), ignore=EVERYTHING)
    return saltus.load(packaged(kind)[what], ignore=EVERYTHING)


NAMES = [
    *(f"bundled:{n}" for n in saltus.models()),
    *(f"n_link:{n}" for n in N_LINKS),
    *(f"own:{n}" for n in MECHANISMS),
    *(f"shared:{n}" for n in SHARED_NAMES),
    *(f"dm_control:{p}" for p in DM_CONTROL if p not in REFUSED),
    *(f"gymnasium:{p}" for p in GYMNASIUM),
]


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    """Model, reference, one random state for each lane, and MuJoCo's data of each."""
    model = load(request.param)
    m = oracle.reference(model)
    rng = np.random.default_rng(SEED)
    states = [oracle.random_state(m, rng) for _ in range(lane64.width)]
    return model, m, states, [oracle.forward(m, s) for s in states]


def assert_close(found, wanted, what, tolerance=TOLERANCE):
    if wanted.size:
        scale = max(np.max(np.abs(wanted)), SMALL)
        error = np.max(np.abs(np.asarray(found) - wanted)) / scale
        assert error <= tolerance, f"{what}: off by {error:.1e} of {scale:.3g}"


def assert_same(fields, model, m, wanted, where):
    """Compare `fields(name)` with MuJoCo's data."""
    for name in FIELDS:
        assert_close(fields(name), getattr(wanted, name), f"{name} {where}")
    for name in ("qacc_smooth", "qacc"):
        found, scale = fields(name), max(np.max(np.abs(wanted.qacc_smooth), initial=0.0), SMALL)
        if np.max(np.abs(found - wanted.qacc_smooth), initial=0.0) > TOLERANCE * scale:
            condition = np.linalg.cond(oracle.full_inertia(m, wanted))
            assert condition > ILL, f"{name} {where}: off, with a condition of {condition:.1e}"
            assert_close(found, wanted.qacc_smooth, f"{name} {where}", EPS * condition)
    quats, reference = fields("xquat"), wanted.xquat
    signs = np.sign(np.sum(quats * reference, axis=1, keepdims=True))
    assert_close(quats * signs, reference, f"xquat {where}")
    # the world's composite inertia is not defined
    assert_close(fields("crb")[1:], wanted.crb[1:], f"crb {where}")
    ours = [k for k in range(m.nactuator) if supported_actuator(m, k)]
    off = m.opt.disableflags & oracle.NO_ACTUATION
    # MuJoCo does not compute the velocities of actuators that are switched off
    for name in ("actuator_length", "actuator_force") + (() if off else ("actuator_velocity",)):
        assert_close(fields(name)[ours], getattr(wanted, name)[ours], f"{name} {where}")


@pytest.mark.slow
def test_floats(case):
    model, m, states, wanted = case
    sim = saltus.Simulation(model, integrator="euler")
    for k in range(2):
        put(sim, states[k])
        assert_same(lambda f: getattr(sim.data, f), model, m, wanted[k], f"in state {k}")
        assert_close(sim.data.M, wanted[k].M, "sparse M")
        assert_close(sim.full_M(), oracle.full_inertia(m, wanted[k]), "full M")
        assert_close(sim.energy(), wanted[k].energy, "energy()")


@pytest.mark.slow
def test_lanes(case):
    """Each lane has a state of its own and gives that state's quantities."""
    model, m, states, wanted = case
    data = lanes(model, states)
    loops.forward(model.struct(), data)
    for k in range(lane64.width):
        assert_same(lambda f: data.views[f][..., k], model, m, wanted[k], f"in lane {k}")  # noqa: B023
        assert_close(dense(model, data.views["M"][..., k]), oracle.full_inertia(m, wanted[k]), f"M in lane {k}")


def outcomes(files):
    """How many files load, and the errors of the others by path."""
    loaded, refused = 0, {}
    for path, file in files.items():
        try:
            saltus.load(file, ignore=EVERYTHING)
            loaded += 1
        except ModelError as error:
            refused[path] = str(error)
    return loaded, refused


@pytest.mark.slow
@pytest.mark.parametrize(("package", "files", "least"), [("dm_control", DM_CONTROL, 55), ("gymnasium", GYMNASIUM, 14)])
def test_table_of_package_models(package, files, least, record_property):
    """At least as many files load as MuJoCo compiles; what is refused is refused for MuJoCo's own reason."""
    if not files:
        pytest.skip(f"{package} is not installed")
    loaded, refused = outcomes(files)
    table = [f"{package}: {loaded} of {len(files)} files load", *(f"  {p}: {why}" for p, why in refused.items())]
    record_property("table", "\n".join(table))
    print("\n".join(table))
    assert loaded >= least
    for path, why in refused.items():
        assert REFUSED.get(path, "not known to be refused") in why


def test_whole_models_load():
    """Nothing has to be left out of a package's models, but where MuJoCo itself refuses the file."""
    if not GYMNASIUM:
        pytest.skip("gymnasium is not installed")
    loaded = 0
    for path, file in GYMNASIUM.items():
        if path not in REFUSED:
            assert saltus.load(file).ignored == (), path
            loaded += 1
    assert loaded >= 10
