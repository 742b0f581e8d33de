"""A step of a pendulum under the semi-implicit Euler method, whose derivatives by parameters are closed forms."""

import numpy as np

import saltus

MASS, LENGTH, INERTIA, GRAVITY, DAMPING, STIFFNESS, ARMATURE, GEAR = 1.3, 0.4, 0.05, 9.7, 0.3, 0.8, 0.02, 2.5
PENDULUM = f"""
<mujoco><compiler angle="radian"/><option timestep="0.01" gravity="0 0 -{GRAVITY}"/><worldbody><body name="bob">
  <joint name="q" axis="0 1 0" damping="{DAMPING}" stiffness="{STIFFNESS}" springref="0.2" armature="{ARMATURE}"/>
  <inertial pos="0 0 -{LENGTH}" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} 0.01"/>
</body></worldbody><actuator><motor name="motor" joint="q" gear="{GEAR}"/></actuator></mujoco>"""
Q, V, U, H = 0.7, 1.1, 0.6, 0.01


def pendulum(**options):
    """The pendulum in a state of its own."""
    sim = saltus.Simulation(PENDULUM, "euler", **options)
    sim.qpos[:], sim.qvel[:], sim.ctrl[:] = Q, V, U
    return sim


def slopes():
    """d(acceleration)/dp of the pendulum, (M + h B) a = f, for each parameter."""
    s, c = np.sin(Q), np.cos(Q)
    whole = INERTIA + MASS * LENGTH**2 + ARMATURE + H * DAMPING
    force = -MASS * GRAVITY * LENGTH * s - DAMPING * V - STIFFNESS * (Q - 0.2) + GEAR * U
    a = force / whole
    return a, {
        "body_mass[bob]": (-GRAVITY * LENGTH * s - LENGTH**2 * a) / whole,
        "body_ipos[bob][0]": MASS * GRAVITY * c / whole,
        "body_ipos[bob][2]": (MASS * GRAVITY * s + 2 * MASS * LENGTH * a) / whole,
        "body_inertia[bob][1]": -a / whole,
        "dof_armature[q]": -a / whole,
        "opt.gravity[2]": MASS * LENGTH * s / whole,
        "opt.gravity[0]": -MASS * LENGTH * c / whole,
        "dof_damping[q]": (-V - H * a) / whole,
        "jnt_stiffness[q]": -(Q - 0.2) / whole,
        "qpos_spring[q]": STIFFNESS / whole,
        "actuator_gear[motor][0]": U / whole,
        "actuator_gainprm[motor][0]": GEAR * U / whole,
    }
