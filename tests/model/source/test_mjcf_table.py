"""What is said of MJCF's attributes is true.

References: MuJoCo 4.0's schema; its mj_step, on a model that holds every element, with one attribute changed.

Tolerance: what is irrelevant changes no bit. What is simulated changes four steps as in MuJoCo to 1e-7 of the largest
number of the state: the constraint solvers end at roundings of the forces, which stiff constraints amplify.
"""

import mujoco
import numpy as np
import pytest
from helpers import everything

import saltus
from saltus.model.source.mjcf import attributes
from saltus.model.source.mjcf_table import IRRELEVANT, REFUSED, SIMULATED, TABLE

TOLERANCE, STEPS = 1e-7, 4
FOUND, _ = attributes()


# ------------------------------------------------------------ refused

BODY = "<body name='b'><joint name='j'/><geom name='g' size='.1'/></body>"
WORLD = "<mujoco><option{option}><flag {flag}/></option><worldbody><geom name='floor' type='plane' size='1 1 1'/>"
WORLD += "<body><freejoint/><geom name='ball' size='.1'/></body>" + BODY.replace("<joint", "<joint {joint}")
WORLD += "{body}</worldbody>{rest}</mujoco>"
NOTHING = dict(option="", flag="", joint="", body="", rest="")
SHELL = """<flexcomp name='shell' type='grid' count='3 3 3' spacing='.1 .1 .1' radius='.01' dim='3' mass='1'
  dof='trilinear'><elasticity young='1e5' thickness='.01' elastic2d='both'/></flexcomp>"""
USER = "<actuator><general name='a' joint='j' {}='user'/></actuator>"
TORUS = "<extension><plugin plugin='mujoco.sdf.torus'><instance name='i'/></plugin></extension>"
CASES = {
    "flag diagexact": (dict(flag="diagexact='enable'"), "diagexact"),
    "flag speculative": (dict(flag="speculative='enable'"), "speculative"),
    "flag sleep": (dict(flag="sleep='enable'", option=" solver='PGS'"), "sleep"),
    "joint springyield": (dict(joint="stiffness='2' springyield='.1'"), "plasticity"),
    "tendon springyield": (
        dict(rest="<tendon><fixed stiffness='1' springyield='.1'><joint joint='j' coef='1'/></fixed></tendon>"),
        "plasticity",
    ),
    "flexcomp": (dict(body=SHELL), "flex"),
    "plugin": (dict(rest=TORUS), "plugin"),
    **{f"actuator {kind}": (dict(rest=USER.format(kind)), "actuator") for kind in ("dyntype", "gaintype", "biastype")},
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    """A ModelError names what `ignore` calls it; left out, the model loads."""
    parts, kind = CASES[name]
    xml = WORLD.format(**NOTHING | parts)
    with pytest.raises(saltus.ModelError, match="not simulated") as caught:
        saltus.load(xml)
    assert f"'{kind}'" in str(caught.value) and caught.value.element and caught.value.name
    assert saltus.load(xml, ignore=[kind]).ignored


def test_nothing_else_is_refused():
    """Each word of the table's refusals has its case, and without any of them the model loads."""
    kinds = {row.kind for row in TABLE if row.state == REFUSED}
    # flexible equalities do not come without flexible bodies, `ipc` not without the integrator discrete
    assert kinds - {"equality", ""} <= {kind for _, kind in CASES.values()}
    assert saltus.load(WORLD.format(**NOTHING)).ignored == ()


def test_discrete_is_refused_with_a_medium():
    """Where its steps would be other than MuJoCo's."""
    xml = WORLD.format(**NOTHING | dict(option=" integrator='discrete' density='1000'"))
    with pytest.raises(saltus.OptionError, match=r"discrete.*fluid forces"):
        saltus.Simulation(xml)


# ------------------------------------------------------------ irrelevant, simulated


def inputs(m):
    rng = np.random.default_rng(0)
    return rng.normal(size=m.nv), rng.uniform(0, 1, (STEPS, m.nu))


def theirs(m):
    """States [STEPS, nq + nv + na] that MuJoCo comes to."""
    d = mujoco.MjData(m)
    d.qvel[:], controls = inputs(m)
    states = []
    for ctrl in controls:
        d.ctrl[:] = ctrl
        mujoco.mj_step(m, d)
        states.append(np.concatenate([d.qpos, d.qvel, d.act]))
    return np.array(states)


def ours(m, needed):
    """States that Saltus comes to; None if the model needs other kernels than those of the features `needed`."""
    sim = saltus.Simulation(saltus.load(m))
    if sim.engine.m.layout.features != needed:
        return None
    sim.qvel[:], controls = inputs(m)
    states = []
    for ctrl in controls:
        sim.ctrl[:] = ctrl
        sim.step()
        states.append(np.concatenate([sim.qpos, sim.qvel, sim.act]))
    return np.array(states)


@pytest.fixture(scope="module")
def start():
    m = everything.compiled(everything.xml())
    return m, theirs(m)


# what cannot be changed alone: names that others refer to, and types that need other attributes
TIED = {
    "name",
    "file",
    "texture",
    "focal",
    "focalpixel",
    "principal",
    "principalpixel",
    "output",
    "projection",
    "target",
}
TIED |= {
    "texcoord",
    "elemtexcoord",
    "face",
    "vertex",
    "body",
    "vertid",
    "role",
    "type",
    "builtin",
    "mark",
    "memory",
    "passthrough",
}
TIED |= {"objname", "objtype", "datatype", "needstage"}


@pytest.mark.slow
@pytest.mark.parametrize("section", sorted({a.element.split("/")[0] for a in FOUND if a.row.state == IRRELEVANT}))
def test_irrelevant(section, start):
    """Another value of an irrelevant attribute changes no bit of MuJoCo's steps."""
    before = start[1]
    chosen = [a for a in FOUND if a.row.state == IRRELEVANT and a.element.split("/")[0] == section]
    tried = set()
    for a in chosen:
        for value, text in everything.changed(a.element, a.name):
            changed = everything.compiled(text)
            if changed is not None:
                np.testing.assert_array_equal(theirs(changed), before, f"{a.element} {a.name}={value}")
                tried.add(a)
                break
    left = {f"{a.element} {a.name}" for a in chosen if a not in tried and a.name not in TIED and section != "default"}
    # the sensor tactile reads a mesh that the model has not
    assert not {one for one in left if not one.startswith("sensor/tactile")}


EXPLODES = 1e4  # m/s, rad/s: motion that is all rounding after a few steps, with a step that is too long

# how far solvers go; MuJoCo leaves out a tendon's inertia between trees, and lets no equality of tendons sleep
OTHERWISE = {
    *(("option", "iterations"), ("option", "tolerance"), ("tendon/fixed", "armature")),
    ("option/flag", "sleep"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "section", ["compiler", "option", "asset", "body", "contact", "tendon", "equality", "actuator"]
)
def test_simulated(section, start):
    """Where another value of a simulated attribute changes MuJoCo's steps, it changes ours in the same way."""
    m, before = start
    needed = saltus.Simulation(saltus.load(m)).engine.m.layout.features
    np.testing.assert_allclose(ours(m, needed), before, rtol=0, atol=TOLERANCE * np.abs(before).max())
    seen = set()
    for a in FOUND:
        of_section = a.element.split("/")[0] == section and a.element != "compiler/lengthrange"
        if not of_section or a.row.state != SIMULATED or (a.element, a.name) in OTHERWISE:
            continue
        if (a.element, a.name) in {("option", "integrator"), ("option", "solver")}:
            continue
        for value, text in everything.changed(a.element, a.name):
            changed = everything.compiled(text)
            wanted = before if changed is None else theirs(changed)
            if np.isfinite(wanted).all() and np.abs(wanted).max() < EXPLODES and not np.array_equal(wanted, before):
                found = ours(changed, needed)
                if found is not None:
                    scale = max(1.0, np.abs(wanted).max())
                    error = np.abs(found - wanted).max() / scale
                    assert error < TOLERANCE, f"{a.element} {a.name}={value}: {error:.1e}"
                    seen.add(a)
                break
    least = {
        "compiler": 5,
        "option": 10,
        "asset": 2,
        "body": 40,
        "contact": 4,
        "tendon": 15,
        "equality": 10,
        "actuator": 90,
    }
    assert len(seen) >= least[section], sorted(f"{a.element} {a.name}" for a in seen)
