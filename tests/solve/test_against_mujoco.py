"""Contacts, constraint rows, forces and accelerations of whole models against MuJoCo's.

Law: MuJoCo 4.0's soft constraints (its documentation, Computation: Constraint model): the accelerations minimise a
strictly convex cost, so that forces and accelerations are unique and do not depend on the solver.

States: on the ways that MuJoCo goes under random controls, but for those in which rounding decides whether a contact
or limit acts at all (a violation below 1e-9), for there forces jump.

Tolerances: geometry, Jacobians, regularisation and reference accelerations are formulas, 1e-10. Both solvers stop where
rounding (1e-16 of the largest force) hides the gradient; the condition of the problem, up to 1e7 (light limbs against
stiff contacts), is between that and accelerations: 1e-8 of the largest. Contacts that MuJoCo finds by iteration are as
good as that is, see `LOOSE`; what it finds too far apart is left out, see `APART`.
"""

import mujoco
import numpy as np
import pytest
from helpers.constraints import complete, errors, put, reachable, reference, tight
from helpers.files import packaged, shared

import saltus
from saltus.model.features import unsupported

TOLERANCE = 1e-8
# a ball in planar motion at a height of exactly its radius: with a margin (m) it touches the floor beyond doubt
TOUCHED = {"gymnasium/point": 1e-3}
# ellipsoids: MuJoCo's iteration ends within 1e-7 m of the place, with thin ones deep in spheres within 1e-3 m
LOOSE = {"dm_control/humanoid_CMU": (1e-6, TOLERANCE), "dm_control/dog": (1e-5, 1e-4)}
LOOSE |= {"dm_control/quadruped": (1e-3, 1e-4)}
# a cylinder that a leg grazes: there MuJoCo's distance is 5e-5 m above the least, which ours is to 1e-15 m
APART = {"dm_control/dog": "target"}
FILES = {
    **{f"shared/{name}": None for name in ("humanoid", "newton_cradle", "slider_crank")},
    **{f"dm_control/{p.stem}": p for name, p in packaged("dm_control").items() if name.startswith("suite/")},
    **{f"gymnasium/{p.stem}": p for name, p in packaged("gymnasium").items() if "mujoco/assets" in name},
}
FILES = {name: path for name, path in FILES.items() if path is None or path.parent.name in ("suite", "assets")}


def path_of(name):
    return FILES[name] or shared(name.replace("shared", "mujoco"))


def compare(m, states, ignore=(), geometry=1e-10, seed=0):
    """Largest relative errors over states on MuJoCo's way; also the largest numbers of contacts and rows."""
    model = saltus.load(m, ignore=ignore)
    sim, m = saltus.Simulation(model), reference(model)
    worst, most = {}, np.zeros(2, int)
    for d in reachable(m, states, seed):
        put(sim, d)
        for name, error in errors(m, sim, d, geometry).items():
            worst[name] = max(worst.get(name, 0.0), error)
        most = np.maximum(most, [d.ncon, d.nefc])
    assert sim.unconverged == 0
    return worst, *most


@pytest.mark.parametrize("name", ["shared/humanoid", "shared/newton_cradle", "gymnasium/hopper", "dm_control/hopper"])
def test_models_in_motion(name):
    if name not in FILES:
        pytest.skip(f"{name} is not installed")
    worst, contacts, rows = compare(complete(path_of(name)), 20)
    assert contacts > 0 and rows > contacts
    assert max(worst.values()) < TOLERANCE, worst


def found_models():
    """Models with degrees of freedom."""
    for name, path in FILES.items():
        if path is None or b"<joint" in path.read_bytes() or b"joint>" in path.read_bytes():
            yield name


@pytest.mark.slow
@pytest.mark.parametrize("name", list(found_models()))
@pytest.mark.filterwarnings("ignore")  # of the files
def test_all_models_in_motion(name, record_property):
    """200 states each; every contact that the motion makes but those of `APART`; no feature is left out."""
    m = tight(mujoco.MjModel.from_xml_path(str(path_of(name))))
    m.geom_margin[:] += TOUCHED.get(name, 0.0)
    if name in APART:
        m.geom(APART[name]).contype = m.geom(APART[name]).conaffinity = 0
    assert not unsupported(m)
    geometry, tolerance = LOOSE.get(name, (1e-10, TOLERANCE))
    worst, contacts, rows = compare(m, 200, [], geometry)
    for key, value in {**worst, "contacts": contacts, "rows": rows}.items():
        record_property(key, float(value))
    assert max(worst.values()) < tolerance, worst
