"""Changed MJCF beside MuJoCo: what both accept moves alike, or Saltus warns of a difference.

Reference: MuJoCo's steps from the same random state. Kernels run in plain Python, so that nothing is compiled for the
features of a mutant. What only Saltus simulates, in <custom>, is left out.
"""

import copy
import functools
import random
import warnings
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

import mujoco
import numpy as np

import saltus
from helpers.plain_python import plain_python
from helpers.soaking.outcomes import Kind, Other
from helpers.soaking.texts import COMPILER_TIME, mjcf

FACTORS = (-1.0, 0.0, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0)
MOST_DOF = 20  # of a mutant: plain Python takes about a second a step for as many, with their contacts
STEPS = 2
STATE = ("qpos", "qvel", "act")
END = (*STATE, "sensordata")
INPUTS = (*STATE, "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "time")
TENDONS, JOINTS = ("spatial", "fixed"), ("joint", "freejoint")
#: Attributes that refer to others by names: the tags of those, and the attribute in which the name stands.
REFERENCES = {
    **{name: (JOINTS, "name") for name in ("joint", "joint1", "joint2", "jointinparent")},
    **{
        name: (("site",), "name")
        for name in ("site", "site1", "site2", "sidesite", "refsite", "cranksite", "slidersite")
    },
    **{name: (("body",), "name") for name in ("body", "body1", "body2", "target")},
    **{name: (("geom",), "name") for name in ("geom", "geom1", "geom2")},
    **{name: (TENDONS, "name") for name in ("tendon", "tendon1", "tendon2")},
    **{name: (("default",), "class") for name in ("class", "childclass")},
    "actuator": (("motor", "position", "velocity", "general", "intvelocity", "damper", "muscle"), "name"),
    "equality": (("connect", "weld", "distance"), "name"),
    "objname": (("body", "site"), "name"),
}
NUDGE = 1e-9
CONVERGED = {"tolerance": "0", "iterations": "300", "ls_iterations": "100"}
SEARCHED = {"ccd_tolerance": "1e-12", "ccd_iterations": "200"}
TIGHT = 1e-9  # of positions and velocities, relative; rounding reaches it where matrices have conditions of 1e6
GAIN = 1e3  # times that of a change of 1e-9 in the state, for models that enlarge what is small


@functools.cache
def models() -> list[ET.Element]:
    """Models to change."""
    found = [copy.deepcopy(root) for root in mjcf()]
    for root in found:
        for left_out in [*root.findall("custom"), *root.findall("keyframe")]:
            root.remove(left_out)
    return [root for root in found if "{" not in ET.tostring(root, encoding="unicode")]  # places to fill in


@functools.cache
def by_tag() -> dict[tuple[str, str], list[ET.Element]]:
    """Elements of all models by the tags of their parent and their own."""
    found = defaultdict(list)
    for root in models():
        for parent in root.iter():
            for child in parent:
                found[parent.tag, child.tag].append(child)
    return found


def changed(root: ET.Element, rng: random.Random) -> None:
    """One change of a model after which it is likely to be valid: a number, or an attribute or child of its like."""
    parents = {child: parent for parent in root.iter() for child in parent}
    element = rng.choice([*parents])
    like = rng.choice(by_tag()[parents[element].tag, element.tag])
    numbers = [name for name, text in element.attrib.items() if _numbers(text)]
    how = rng.randrange(8)
    if how <= 2 and numbers:
        _change_number(element, rng.choice(numbers), rng)
    elif how <= 5 and like.attrib:
        name = rng.choice(sorted(like.attrib))
        element.set(name, like.attrib[name] if name != "name" else element.get("name", "new"))
        _refer(element, root, rng)
    elif how == 6 and element.attrib:
        element.attrib.pop(rng.choice(sorted(element.attrib)))
    else:
        kinds = sorted(child for parent, child in by_tag() if parent == element.tag)
        if kinds:
            made = _nameless(rng.choice(by_tag()[element.tag, rng.choice(kinds)]))
            element.append(made)
            for each in made.iter():
                _refer(each, root, rng)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return []


def _change_number(element: ET.Element, name: str, rng: random.Random) -> None:
    numbers = _numbers(element.attrib[name])
    at = rng.randrange(len(numbers))
    numbers[at] = rng.choice(FACTORS) * (numbers[at] or 1.0)
    element.set(name, " ".join(f"{x:g}" for x in numbers))


def _refer(element: ET.Element, root: ET.Element, rng: random.Random) -> None:
    """Let what an element refers to be something that the model has."""
    for name in [name for name in element.attrib if name in REFERENCES]:
        tags, key = REFERENCES[name]
        known = sorted({each.get(key, "") for each in root.iter() if each.tag in tags} - {""})
        if known and element.get(name) not in known:
            element.set(name, rng.choice(known))
        elif not known:
            element.attrib.pop(name)


def _nameless(element: ET.Element) -> ET.Element:
    """A copy without names, which the model may have."""
    made = copy.deepcopy(element)
    for each in made.iter():
        each.attrib.pop("name", None)
    return made


def mutant(rng: random.Random) -> ET.Element:
    """A model with one to four changes."""
    root = copy.deepcopy(rng.choice(models()))
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        changed(root, rng)
    return root


def start(m: mujoco.MjModel, rng: random.Random) -> mujoco.MjData:
    """A state near the first one or a key's, with random velocities and controls."""
    d, numbers = mujoco.MjData(m), np.random.default_rng(rng.randrange(2**32))
    if m.nkey and rng.random() < 0.5:
        mujoco.mj_resetDataKeyframe(m, d, rng.randrange(m.nkey))
    mujoco.mj_integratePos(m, d.qpos, 0.1 * numbers.normal(size=m.nv), 1.0)
    d.qvel[:] += 0.5 * numbers.normal(size=m.nv)
    d.ctrl[:], d.act[:] = numbers.uniform(-1.0, 1.0, m.nu), numbers.uniform(0.0, 1.0, m.na)
    d.qfrc_applied[:] = 0.1 * numbers.normal(size=m.nv)
    return d


def inputs(d: mujoco.MjData) -> dict[str, np.ndarray]:
    """State and inputs of a simulation, by their names."""
    return {name: np.array(getattr(d, name)) for name in INPUTS}


def moved(m: mujoco.MjModel, begin: dict[str, np.ndarray]) -> np.ndarray | None:
    """Positions, velocities, activations and sensors after MuJoCo's steps; None where it warns."""
    d = mujoco.MjData(m)
    for name, value in begin.items():
        if name == "time":
            d.time = float(value)
        else:
            getattr(d, name)[:] = value
    mujoco.mj_step(m, d, STEPS)
    mujoco.mj_forward(m, d)
    return None if np.any(d.warning.number) else np.concatenate([getattr(d, name) for name in END])


def moved_here(model: saltus.Model, begin: dict[str, np.ndarray]) -> np.ndarray:
    """Positions, velocities, activations and sensors after the steps of a simulation in plain Python."""
    with plain_python():
        sim = saltus.Simulation(model)
        for name, value in begin.items():
            if name == "time":
                sim.time = float(value)
            elif value.size:
                getattr(sim, name)[...] = value
        sim.step(STEPS)
        return np.concatenate([np.array(getattr(sim, name)) for name in END])


def response(m: mujoco.MjModel, begin: dict[str, np.ndarray], expected: np.ndarray) -> np.ndarray:
    """Greatest change of the end, by MuJoCo, with changes of the start by 1e-9: where motions branch it is large."""
    numbers, most = np.random.default_rng(0), np.zeros_like(expected)
    for _ in range(4):
        other = {name: value.copy() for name, value in begin.items()}
        mujoco.mj_integratePos(m, other["qpos"], NUDGE * numbers.normal(size=m.nv), 1.0)
        other["qvel"] += NUDGE * numbers.normal(size=m.nv)
        most = np.maximum(most, changed_by(moved(m, other), expected))
    return most


def changed_by(found: np.ndarray | None, expected: np.ndarray) -> np.ndarray:
    """Differences between two ends of a motion; inf where there is none."""
    return np.full_like(expected, np.inf) if found is None else np.abs(found - expected)


def intended(m: mujoco.MjModel) -> bool:
    """Whether a model has what moves otherwise on purpose (docs/reference/mjcf.md), or deformable bodies."""
    exact = [mujoco.mjtDyn.mjDYN_FILTEREXACT.value, mujoco.mjtDyn.mjDYN_DCMOTOR.value]
    of_first_order = m.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4 and np.isin(m.actuator_dyntype, exact).any()
    # a reading of an interval is of the last one in steps, and of the present in a look
    at_times = m.sensor_delay.any() or m.sensor_interval.any()
    elliptic_pgs = m.opt.solver == mujoco.mjtSolver.mjSOL_PGS and m.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    return bool(m.nflex or at_times or m.tendon_armature.any() or of_first_order or elliptic_pgs)


def compared(model: saltus.Model, begin: dict[str, np.ndarray]) -> float:
    """Largest difference from MuJoCo's end of a motion, relative to what is allowed; 0 without such an end."""
    m = model.mujoco
    expected = moved(m, begin)
    if expected is None:
        return 0.0
    found = moved_here(model, begin)
    # where searches for nearest points end is MuJoCo's own, and moves it by what they leave
    for name, value in SEARCHED.items():
        setattr(m.opt, name, type(getattr(m.opt, name))(value))
    unsure = changed_by(moved(m, begin), expected)
    allowed = TIGHT * np.maximum(1.0, np.abs(expected)) + unsure + GAIN * response(m, begin, expected)
    return float(np.max(np.abs(found - expected) / allowed, initial=0.0))


def try_beside(rng: random.Random, folder: Path) -> None:
    """Step a changed model here and in MuJoCo, and where they differ, once more with solvers that converge."""
    root = mutant(rng)
    text = ET.tostring(root, encoding="unicode")
    (folder / "mutant.xml").write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", saltus.SaltusWarning)
        model = saltus.load(text, apart=COMPILER_TIME)
        m = model.mujoco
        if m.nv > MOST_DOF or intended(m):
            return
        begin = inputs(start(m, rng))
        if compared(model, begin) <= 1.0:
            return
        option = root.find("option")
        option = ET.SubElement(root, "option") if option is None else option
        option.attrib.update(CONVERGED)
        ratio = compared(saltus.load(ET.tostring(root, encoding="unicode"), apart=COMPILER_TIME), begin)
    if not ratio <= 1.0 and not any(issubclass(each.category, saltus.SaltusWarning) for each in told):
        raise Other(f"another motion than MuJoCo's: {ratio:.2g} times what is allowed")


def _first() -> None:
    assert by_tag()
    saltus.load("<mujoco/>", apart=True)  # starts the helper process


KINDS = (Kind("beside", try_beside, _first),)
