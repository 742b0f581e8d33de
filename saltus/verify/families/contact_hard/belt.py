"""Stick and slip on a moving belt: Coulomb's law with one coefficient, in closed form."""

import math

import numpy as np

from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.contact_hard.scenes import LOCATED, G, instants, start

benchmark = family("contact_hard")

STIFFNESS, FRICTION, SPEED, STRETCH = 100.0, 0.4, 0.5, 0.08  # N/m, -, m/s, m


@benchmark(
    "belt",
    "Stick and slip on a belt",
    source="closed form: x = μ m g/k + A cos ω t until v = V, then x + V t until k x = μ m g, then an oscillation of "
    "V/ω, whose speed comes up to the belt's and no more (den Hartog, Mechanical Vibrations (1956), 7.3)",
    allowed=LOCATED,
)
def belt(data: Data) -> Result:
    """A block of 1 kg on a belt that moves at 0.5 m/s, held by a spring of 100 N/m, μ = 0.4, starts 0.08 m beyond the
    place where the spring balances friction. The belt is a mocap body with a velocity. It sticks once, slips again,
    and then oscillates for ever: static and sliding friction are the same, so it does not stick again."""
    model = f"""<mujoco><option timestep="0.001" gravity="0 0 -{G}"/>
      <default><geom condim="3" friction="{FRICTION} 0 0"/></default>
      <worldbody><body name="belt" mocap="true"><geom name="belt" type="box" size="50 1 0.1" pos="0 0 -0.1"/></body>
      <body name="block" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" stiffness="{STIFFNESS}"/>
        <joint name="z" type="slide" axis="0 0 1"/><geom name="block" size="0.1" mass="1"/>
      </body></worldbody></mujoco>"""
    sim = start(model)
    sim.mocap_vel[0, 0] = SPEED
    balance, omega = FRICTION * G / STIFFNESS, math.sqrt(STIFFNESS)
    sim.qpos[0] = balance + STRETCH
    part = SPEED / (STRETCH * omega)
    sticks = (math.pi + math.asin(part)) / omega
    slips = sticks + STRETCH * math.sqrt(1 - part**2) / SPEED
    end = slips + 6.5 * math.pi / omega  # three oscillations and a quarter
    run = sim.run(end, sample=0.005, progress=False)
    t = np.asarray(run.time)
    first = balance + STRETCH * np.cos(omega * t)
    second = balance + SPEED * (t - slips)
    third = balance + SPEED / omega * np.sin(omega * (t - slips))
    wanted = np.where(t < sticks, first, np.where(t < slips, second, third))
    found = [
        Check("sticks at", float(instants(run.events, "stick")[0]), sticks, 1e-8, "s"),
        Check("slips at", float(instants(run.events, "slip")[0]), slips, 1e-8, "s"),
        Check("place, largest error", float(np.max(np.abs(run.qpos[:, 0] - wanted))), 0.0, 1e-7, "m"),
        Check("place at the end, from the balance", float(sim.qpos[0]) - balance, SPEED / omega, 1e-7, "m"),
        Check("events", float(len(run.events)), 2.0, 0.0),
    ]
    curves = [Curve("reached", t, run.qpos[:, 0]), Curve("closed form", t[::20], wanted[::20], "marks")]
    return Result(found, Figure("t (s)", "x (m)", curves))
