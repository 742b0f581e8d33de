"""Losses of elastic gears, whose twist is the length of a tendon: friction by the torque that they transmit.

With T the torque of the tendon on the motor, η the efficiency of the driving motor and η' that of the driven one, the
motor must bring T/η while it drives and keeps η' T while it is driven (for screws and worms: Budynas & Nisbett,
Shigley's Mechanical Engineering Design, 11th ed. (2020), sections 8-2 and 13-11). Both are dry friction of
(1/η - η') |T| / 2 about a torque of (1/η + η') T / 2, and a gear with η' <= 0 locks.
"""

from saltus.dynamics.awake.walks import awake_dof_frictions
from saltus.dynamics.tendon.force import spring_and_damper
from saltus.number.conditions import has
from saltus.number.kernels import kernel, only_with


@kernel
def motor_torque(m, d, t, i):
    """Torques (N m) of the spring and of the damper of tendon t on its motor, the degree of freedom i."""
    pull, drag = spring_and_damper(m, d, t)
    spring, damper = 0.0 * pull, 0.0 * drag
    for k in range(m.tendon_Jadr[t], m.tendon_Jadr[t] + m.tendon_Jnum[t]):
        if m.tendon_dof[k] == i:
            spring = d.ten_J[k] * pull
            damper = d.ten_J[k] * drag
    return spring, damper


@only_with("drive")
@kernel
def shift_gear_torques(m, d):
    """Take from motors the mean of the friction of both directions, in qfrc_spring and qfrc_damper [nv] (N m)."""
    if not has(m, "tendon_force"):
        return
    for k in awake_dof_frictions(m, d):
        t = m.friction_tendon[k]
        if t >= 0:
            i = m.friction_obj[k]
            spring, damper = motor_torque(m, d, t, i)
            d.qfrc_spring[i] = d.qfrc_spring[i] - m.friction_shift[k] * spring
            d.qfrc_damper[i] = d.qfrc_damper[i] - m.friction_shift[k] * damper
