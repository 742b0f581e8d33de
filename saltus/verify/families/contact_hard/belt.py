"""Stick and slip on a moving belt: Coulomb's law with one coefficient, and with two, in closed form."""

import math

import numpy as np

import saltus
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


STATIC, SLOW = 0.8, 0.1  # -, m/s


@benchmark(
    "belt-static-friction",
    "Stick and slip on a belt, with static friction",
    source="closed form: with Δ = (μ_s - μ) m g/k the block sticks until k x = μ_s m g and slips for "
    "2 (π - arctan(ω Δ/V))/ω about x = μ m g/k, again and again (Leine & Nijmeijer, Dynamics and Bifurcations of "
    "Non-Smooth Mechanical Systems (2004), chapter 6)",
    allowed="the edge of the cone, 1e-9 of the friction, and the integrator's tolerance, 1e-8 relative",
)
def belt_static_friction(data: Data) -> Result:
    """The block of 1 kg on a belt of 0.1 m/s, at first with it, with μ = 0.4 in motion and 0.8 at rest: three cycles
    of stick and slip, which have no damping and no end, and then a slope of tan θ = 0.6 on which it stops and stays."""
    sim = start(_with_static_friction(SLOW, STIFFNESS), [SLOW])
    balance, omega = FRICTION * G / STIFFNESS, math.sqrt(STIFFNESS)
    excess = (STATIC - FRICTION) * G / STIFFNESS
    first = STATIC * G / STIFFNESS / SLOW
    slip = 2 * (math.pi - math.atan(omega * excess / SLOW)) / omega
    period = slip + 2 * excess / SLOW
    run = sim.run(first + 2.9 * period, sample=0.005, progress=False)
    t = np.asarray(run.time)
    phase = np.mod(t - first, period)
    moving = balance + excess * np.cos(omega * phase) + SLOW / omega * np.sin(omega * phase)
    wanted = np.where(t < first, SLOW * t, np.where(phase < slip, moving, balance - excess + SLOW * (phase - slip)))
    slips, sticks = instants(run.events, "slip"), instants(run.events, "stick")
    found = [
        Check("slips", float(len(slips)), 3.0, 0.0),
        Check("breaks away at, third time", float(slips[-1]), first + 2 * period, 1e-7, "s"),
        Check("sticks at, second time", float(sticks[1]), first + period + slip, 1e-7, "s"),
        Check("place, largest error", float(np.max(np.abs(run.qpos[:, 0] - wanted))), 0.0, 1e-7, "m"),
    ]
    found += _on_a_slope()
    curves = [Curve("reached", t, run.qpos[:, 0]), Curve("closed form", t[::60], wanted[::60], "marks")]
    return Result(found, Figure("t (s)", "x (m)", curves))


def _with_static_friction(speed: float, stiffness: float, tangent: float = 0.0) -> saltus.Model:
    """The block on a belt (m/s) with a spring (N/m), on a slope of some tangent up along x."""
    weight = G / math.hypot(1.0, tangent)
    text = f"""<mujoco><option timestep="0.001" gravity="{-weight * tangent!r} 0 {-weight!r}"/>
      <default><geom condim="3" friction="{FRICTION} 0 0"/></default>
      <worldbody><geom name="belt" type="box" size="50 1 0.1" pos="0 0 -0.1" surfacevel="{speed} 0 0 0 0 0"/>
      <body name="block" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" stiffness="{stiffness}"/>
        <joint name="z" type="slide" axis="0 0 1"/><geom name="block" size="0.1" mass="1"/>
      </body></worldbody></mujoco>"""
    return saltus.static_friction(text, "block", STATIC)


def _on_a_slope() -> list[Check]:
    """Checks of the block, without spring and belt, that slides up a slope between both coefficients and stays."""
    tangent, speed = 0.6, 1.0
    sim = start(_with_static_friction(0.0, 0.0, tangent), [speed])
    sim.run(10.0, sample=1.0, progress=False)
    way = speed**2 * math.hypot(1.0, tangent) / (2 * G * (tangent + FRICTION))
    return [
        Check("slope: way up", float(sim.qpos[0]), way, 1e-8, "m"),
        Check("slope: speed after 10 s", float(np.max(np.abs(sim.qvel))), 0.0, 1e-12, "m/s"),
    ]
