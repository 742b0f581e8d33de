"""With the integrator that a file asks for, Saltus moves as MuJoCo does.

Law: MuJoCo 4.0's own Euler (implicit in joint damping), RK4, implicit and implicitfast (its documentation,
"Computation: Numerical integration"), constraints off.

Tolerance: 1e-9 after a second of a motion that is not chaotic, relative to the largest coordinate. One step agrees to
some 1e-14; what is left is that a thousand of them are carried along.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.files import EVERYTHING, shared
from helpers.mechanisms import ACTUATORS, FREE, GRAVITY_COMPENSATION, REFERENCES_AND_SPRINGS, SEVERAL_TREES
from helpers.random_tree import random_tree

import saltus
from saltus.model.load import BUNDLED

INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
TOLERANCE = 1e-9

# a motor, a position and a velocity servo with strong velocity feedback, on a damped chain
SERVOS = """
<mujoco><option timestep="0.002"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.5"/><inertial pos="0 0 -0.3" mass="1" diaginertia="0.05 0.05 0.01"/>
    <body pos="0 0 -0.6"><joint name="b" axis="1 0 0" damping="2"/>
      <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.02 0.01"/>
      <body pos="0 0 -0.4"><joint name="c" axis="0 1 0"/>
        <inertial pos="0 0 -0.1" mass="0.2" diaginertia="0.001 0.001 0.001"/></body></body></body>
</worldbody><actuator>
  <motor joint="a" gear="2"/>
  <position joint="b" kp="20" kv="5" gear="1.5" forcerange="-4 4"/>
  <velocity joint="c" kv="1" gear="0.5"/>
</actuator></mujoco>"""
DAMPED_BALL = """
<mujoco><option timestep="0.002"/><worldbody>
  <body><joint type="ball" damping="0.3" stiffness="2"/>
    <inertial pos="0.05 0.1 0.3" mass="1" diaginertia="0.1 0.15 0.08"/>
    <body pos="0 0 0.6"><joint axis="1 0 0" damping="0.1"/>
      <inertial pos="0 0.1 0.1" mass="0.4" diaginertia="0.02 0.03 0.01"/></body></body>
</worldbody></mujoco>"""


def bundled(name):
    return (BUNDLED / f"{name}.xml").read_text(encoding="utf-8")


def with_integrator(xml, integrator, flags=0, timestep=None):
    """The compiled model with an integrator for its option, and more flags that disable."""
    spec = mujoco.MjSpec.from_string(xml)
    spec.option.integrator = INTEGRATORS[integrator]
    m = spec.compile()
    m.opt.disableflags |= flags
    if timestep is not None:
        m.opt.timestep = timestep
    return m


def assert_same_motion(m, qpos, qvel, steps, *, ctrl=None, ignore=(), tolerance=TOLERANCE):
    """`steps` steps of both programs from the same start, with the model's own integrator and step."""
    model = saltus.load(m, ignore=ignore)
    sim = saltus.Simulation(model, integrator=None)
    reference = oracle.reference(model)
    d = mujoco.MjData(reference)
    for state in (sim, d):
        state.qpos[:], state.qvel[:] = qpos, qvel
        if ctrl is not None:
            state.ctrl[:] = ctrl
    sim.step(steps)
    for _ in range(steps):
        mujoco.mj_step(reference, d)
    assert sim.time == pytest.approx(d.time, rel=1e-12)
    for found, wanted in ((sim.qpos, d.qpos), (sim.qvel, d.qvel)):
        assert np.max(np.abs(found - wanted)) <= tolerance * max(1.0, np.max(np.abs(wanted)))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("name", "key"),
    [("chain", "release"), ("chain", "straight"), ("top", "slow_precession"), ("free_body", "middle_axis")],
)
def test_one_second_of_the_bundled_models(name, key, integrator):
    m = with_integrator(bundled(name), integrator)
    k = m.key(key).id
    assert_same_motion(m, m.key_qpos[k], m.key_qvel[k], round(1 / m.opt.timestep))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_one_second_of_servos(integrator):
    """Velocity feedback, which the implicit methods treat implicitly, also where a force range is reached."""
    m = with_integrator(SERVOS, integrator)
    assert_same_motion(m, [0.5, -0.3, 0.2], [0.1, 0.5, 1.0], 500, ctrl=[0.5, 0.4, 3.0])
    # so far from its target that the second servo is at its force range
    assert_same_motion(m, [0.5, -0.3, 0.2], [0.1, 0.5, 1.0], 100, ctrl=[0.5, 3.0, -3.0])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_one_second_of_a_damped_ball_joint(integrator):
    m = with_integrator(DAMPED_BALL, integrator)
    assert_same_motion(m, [0.8, 0.36, -0.48, 0, 0.4], [1.0, -2.0, 3.0, 0.5], 500)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_one_second_of_a_free_body_off_its_centre_of_mass(integrator):
    """Alone in its tree, it keeps its gyroscopic term under implicitfast too."""
    m = with_integrator(FREE, integrator)
    assert_same_motion(m, [0, 0, 1, 0.8, 0.36, -0.48, 0], [0.5, 1, -0.3, 3, -2, 4], 500)


def test_rk4_turns_as_mujoco_does_in_huge_steps():
    """Steps of 1.7 rad, where every term of the rotation's differential counts."""
    m = with_integrator(FREE, "RK4", timestep=0.2)
    assert_same_motion(m, [0, 0, 1, 0.8, 0.36, -0.48, 0], [0.5, 1, -0.3, 2, -2, 8], 5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    "xml", [ACTUATORS, REFERENCES_AND_SPRINGS, GRAVITY_COMPENSATION, SEVERAL_TREES, random_tree(7)],
    ids=["actuators", "references and springs", "gravity compensation", "several trees", "random tree"],
)  # fmt: skip
def test_fifty_steps_of_everything(xml, integrator):
    """Motions that may be chaotic, over a time too short to matter."""
    m = with_integrator(xml, integrator)
    rng = np.random.default_rng(5)
    state = oracle.random_state(m, rng)
    assert_same_motion(m, state["qpos"], state["qvel"], 50, ctrl=rng.normal(size=m.nu))


def test_explicit_damping_where_the_file_asks_for_it():
    """With the flag eulerdamp off, Euler treats dampers explicitly."""
    no_eulerdamp = mujoco.mjtDisableBit.mjDSBL_EULERDAMP.value
    start = ([0.5, -0.3, 0.2], [0.1, 0.5, 1.0])
    m = with_integrator(SERVOS, "Euler", no_eulerdamp)
    assert_same_motion(m, *start, 500)
    ends = []
    for flags in (0, no_eulerdamp):
        sim = saltus.Simulation(with_integrator(SERVOS, "Euler", flags))
        sim.qpos[:], sim.qvel[:] = start
        sim.step(100)
        ends.append(sim.qpos.copy())
    assert np.max(np.abs(ends[0] - ends[1])) > 1e-4


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_shared_humanoid_falls_as_in_mujoco(integrator):
    """Without contacts, limits and friction, from its squat with controls; a fifth of a second."""
    m = mujoco.MjModel.from_xml_path(str(shared("mujoco/humanoid")))
    m.opt.integrator = INTEGRATORS[integrator]
    ctrl = 0.3 * np.sin(np.arange(m.nu))
    assert_same_motion(m, m.key_qpos[0], m.key_qvel[0], 40, ctrl=ctrl, ignore=EVERYTHING)
