"""Small worlds that MuJoCo has, too, for `helpers.plain_python`; what is compared with MuJoCo at states of them."""

import re
from collections.abc import Callable

import mujoco
import numpy as np

import saltus
from helpers import actuators, everything, mechanisms, oracle, sensors, varied
from helpers.constraints import errors, near, put, relative, tight
from helpers.selves.whole import touching_tree
from helpers.solvers import heap

#: Sensors whose geoms are left to MuJoCo's functions, which plain Python does not call.
FOREIGN = re.compile("<(rangefinder|distance|normal|fromto) [^>]*>")
#: Sums of energies: MuJoCo's lack the energy of deformable bodies.
ENERGIES = re.compile("<e_(potential|kinetic) [^>]*>")
JELLY = """<mujoco><option timestep=".001"/><worldbody><geom type="plane" size="5 5 1"/>
<flexcomp name="jelly" type="grid" count="2 3 2" spacing=".1 .1 .1" pos="0 0 .055" radius=".01" mass="1" dim="3">
<elasticity young="1e4" poisson=".3" damping=".01"/><contact selfcollide="none"/></flexcomp>
<body pos=".02 0 .21"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"""
CLOTH = """<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="5 5 1"/>
<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 .02" radius=".01" mass=".1" dim="2">
{law}
<contact selfcollide="none"/></flexcomp>
<body pos="0 0 .12"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"""
ELASTIC = '<elasticity young="2e3" poisson=".2" thickness=".01" damping=".002" elastic2d="both"/>'
MEDIUM = """<mujoco><option density="900" viscosity=".4" wind="1 -2 .5" timestep=".002"/><default>
<geom contype="0" conaffinity="0"/></default><worldbody><body><freejoint/><geom type="box" size=".1 .2 .05"/>
<body pos=".3 0 0"><joint axis="0 1 1"/><geom type="ellipsoid" size=".1 .06 .15" fluidshape="ellipsoid"
  fluidcoef=".4 .3 1.2 .9 1.1"/><geom type="capsule" size=".05 .1" pos="0 .1 0" fluidshape="ellipsoid"/>
<geom type="cylinder" size=".05 .1" pos="0 -.1 .1" euler="10 20 30" fluidshape="ellipsoid"/></body></body>
<body pos="1 0 0"><joint type="ball"/><geom type="box" size=".1 .2 .05" pos=".1 .2 0" euler="30 0 10"/></body>
</worldbody></mujoco>"""


def laws() -> str:
    """All laws of actuators on a hinge, and all transmissions."""
    hinge = actuators.TRANSMISSIONS["hinge"]
    found = [law.format(t=hinge) for law in (*actuators.LAWS.values(), *actuators.GENERAL.values())]
    return actuators.document(found)


def transmissions() -> str:
    """Servos, motors and muscles on all transmissions that may have them."""
    kinds = {name: actuators.LAWS[name] for name in ("motor", "position", "muscle")}
    scalar = {n: t for n, t in actuators.TRANSMISSIONS.items() if not n.startswith(("ball", "free"))}
    found = [f"<motor {t}/>" for t in actuators.TRANSMISSIONS.values()]
    found += actuators.actuators(kinds, scalar) + actuators.actuators(actuators.SO3, actuators.ORIENTATIONS)
    return actuators.document(found)


WORLDS: dict[str, Callable[[], str]] = {
    "everything": lambda: ENERGIES.sub("", FOREIGN.sub("", everything.xml())),
    "laboratory": lambda: sensors.laboratory(sensors.every_sensor()),
    "arms": lambda: varied.ARMS,
    "laws of actuators": laws,
    "transmissions": transmissions,
    "muscles": lambda: actuators.ARM26,
    "medium": lambda: MEDIUM,
    "cloth": lambda: CLOTH.format(law='<edge equality="true"/>'),
    "elastic cloth": lambda: CLOTH.format(law=ELASTIC),
    "jelly": lambda: JELLY,
    **{f"heap, {cone}": lambda cone=cone: heap(cone) for cone in ("pyramidal", "elliptic")},
    "tree, pyramidal": lambda: touching_tree(5, "pyramidal"),
    "tree, elliptic": lambda: touching_tree(8, "elliptic"),
    **{name: lambda xml=xml: xml for name, xml in mechanisms.MECHANISMS.items() if xml.count("joint")},
}
#: Distance (m, rad) of positions from the model's own; deformable bodies and heaps would turn inside out by more.
SPREAD = {
    "everything": 0.02,
    "cloth": 0.003,
    "elastic cloth": 0.003,
    "jelly": 0.01,
    "heap, pyramidal": 0.02,
    "heap, elliptic": 0.02,
}
#: Fields that both have under one name, and that follow from positions, velocities and forces without constraints.
POSITIONS = ("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "site_xpos")
POSITIONS += ("site_xmat", "subtree_com", "ten_length", "actuator_length", "flexvert_xpos")
FORCES = ("ten_velocity", "actuator_velocity", "actuator_force", "cvel", "qfrc_bias", "qfrc_spring", "qfrc_damper")
FORCES += ("qfrc_gravcomp", "qfrc_fluid", "qfrc_passive", "qfrc_actuator", "qfrc_smooth", "qacc_smooth", "act_dot")
FORCES += ("subtree_linvel", "subtree_angmom", "cacc", "cfrc_int", "cfrc_ext")


def compiled(name: str, integrator: str = "") -> mujoco.MjModel:
    """A world that is solved until rounding stops it, with one of MuJoCo's integrators."""
    m = tight(mujoco.MjModel.from_xml_string(WORLDS[name]()))
    if integrator:
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    return m


def states(m: mujoco.MjModel, sim: saltus.Simulation, count: int, spread: float, seed: int = 3):
    """Random states in MuJoCo, with everything computed, and in Saltus; one MjData serves all."""
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    for _ in range(count):
        mujoco.mj_resetData(m, d)
        sim.reset()
        for name, value in near(m, rng, spread).items():
            getattr(d, name)[:] = value
        d.act[:] = rng.uniform(-0.5, 1.0, m.na)
        d.qfrc_applied[:], d.xfrc_applied[1:] = rng.normal(size=m.nv), rng.normal(size=(m.nbody - 1, 6))
        mujoco.mj_forward(m, d)
        mujoco.mj_subtreeVel(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        put(sim, d)
        yield d


def worst_of_fields(sim: saltus.Simulation, d: mujoco.MjData) -> dict[str, float]:
    """Largest differences of fields, relative to the largest value or 1."""
    found = {}
    off = {"actuator_velocity"} if d.model.opt.disableflags & oracle.NO_ACTUATION else set()  # MuJoCo leaves zeros
    for name in {*POSITIONS, *FORCES} - off:
        wanted = getattr(d, name)
        mine = np.reshape(getattr(sim.data, name), wanted.shape)
        found[name] = np.max(np.abs(mine - wanted), initial=0.0) / max(np.max(np.abs(wanted), initial=0.0), 1.0)
    return found


def worst_of_states(m: mujoco.MjModel, sim: saltus.Simulation, d: mujoco.MjData) -> dict[str, float]:
    """Largest relative differences of fields, accelerations, constraint forces and sensors."""
    found = worst_of_fields(sim, d) | errors(m, sim, d)
    if m.nsensor:
        found["sensordata"] = sensors.worst(m, sim.sensordata, d.sensordata)[0]
    return found


def worst_of_steps(m: mujoco.MjModel, sim: saltus.Simulation, d: mujoco.MjData, count: int) -> dict[str, float]:
    """Largest relative differences of states after some steps."""
    mujoco.mj_step(m, d, count)
    sim.step(count)
    return {name: relative(getattr(sim, name), getattr(d, name)) for name in ("qpos", "qvel", "act")}
