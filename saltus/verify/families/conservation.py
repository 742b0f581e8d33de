"""Mechanisms without losses in long steps: `energy_momentum` keeps their energy and their momenta to rounding."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipk

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family, order_check, order_figure

benchmark = family("smooth")

EVERY = 100  # steps between samples
GONZALEZ = (
    "conserved quantities; Gonzalez, 'Time integration and discrete Hamiltonian systems', J. Nonlinear Sci. 6 (1996)"
)
ROUNDING = "what rounding and the tolerance of the iteration, 1e-13 of the velocities, leave of the steps"
BARE = '<default><geom contype="0" conaffinity="0"/></default>'
ARM = f"""<mujoco><option timestep="0.02"/>{BARE}<worldbody><body><joint axis="0 1 0.3"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><body pos="0.3 0 0"><joint type="ball" pos="0.01 0 0.02"/>
  <geom type="box" size="0.1 0.06 0.04" pos="0.1 0.02 0"/></body></body></worldbody></mujoco>"""
CHAIN = f"""<mujoco><option gravity="0 0 0" timestep="0.02"/>{BARE}<worldbody><body name="base" pos="0 0 1"><freejoint/>
  <geom type="box" size="0.1 0.05 0.04" pos="0.02 0.01 0"/><body pos="0.2 0 0"><joint axis="0 1 1"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/><body pos="0.3 0 0">
  <joint type="slide" axis="1 1 0" stiffness="20"/><joint type="ball"/>
  <geom type="box" size="0.1 0.05 0.04" pos="0.1 0.02 0"/></body></body></body></worldbody>
  <sensor><subtreelinvel body="base"/><subtreeangmom body="base"/></sensor></mujoco>"""
MASS, LENGTH, ACROSS, ALONG, SPIN, TILT = 0.5, 0.04, 1e-3, 3e-4, 40.0, np.pi / 6
TOP = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody><body><joint type="ball"/><inertial mass="{MASS}"
  pos="0 0 {LENGTH}" diaginertia="{ACROSS - MASS * LENGTH**2} {ACROSS - MASS * LENGTH**2} {ALONG}"/></body></worldbody>
  </mujoco>"""


def thrown(source: str | saltus.Model, integrator: str, timestep: float | None = None) -> saltus.Simulation:
    """A simulation with velocities of about 1 m/s and 1 rad/s."""
    sim = saltus.Simulation(source, integrator, timestep=timestep)
    sim.qvel[:] = np.random.default_rng(1).standard_normal(sim.model.nv)
    return sim


def kept(source: str | saltus.Model, timestep: float, steps: int = 10000) -> Result:
    """Energy over many steps, relative to the largest kinetic energy, beside that of rk4."""
    curves, worst = [], 0.0
    for name in ("rk4", "energy_momentum"):
        sim = thrown(source, name, timestep)
        energies = [sim.energy()]
        for _ in range(steps // EVERY):
            sim.step(EVERY)
            energies.append(sim.energy())
        total = np.sum(energies, axis=1)
        errors = np.abs(total - total[0]) / np.max(energies, axis=0)[1]
        worst = float(errors.max())
        curves.append(Curve(name, timestep * EVERY * np.arange(len(total)), np.maximum(errors, 1e-17)))
    figure = Figure("t (s)", "|E - E₀| / largest kinetic energy", curves, log_y=True)
    return Result([Check(f"largest change of energy in {steps} steps, relative", worst, 0.0, 1e-10)], figure)


@benchmark("energy-arm", "Energy of an arm in long steps", source=GONZALEZ, allowed=ROUNDING)
def energy_arm(data: Data) -> Result:
    """A rod on a hinge, with a box on a ball joint, for 200 s in steps of 20 ms; energy_momentum."""
    return kept(ARM, 0.02)


@benchmark("energy-double-pendulum", "Energy of a double pendulum in long steps", source=GONZALEZ, allowed=ROUNDING)
def energy_double_pendulum(data: Data) -> Result:
    """Two rods of 1 m for 500 s in steps of 50 ms; energy_momentum."""
    return kept(saltus.n_link(2, inertia=1 / 12), 0.05)


@benchmark("momenta-chain", "Energy and momenta of a chain in free flight", source=GONZALEZ, allowed=ROUNDING)
def momenta_chain(data: Data) -> Result:
    """Three bodies on a hinge, a slide with a spring and a ball joint, for 200 s in steps of 20 ms; energy_momentum."""
    sim = thrown(CHAIN, "energy_momentum")
    rows: list[NDArray[np.float64]] = []
    for k in range(101):
        if k:
            sim.step(EVERY)
        rows.append(np.array([*sim.sensordata, sum(sim.energy())]))
    changes = np.abs(np.array(rows) - rows[0])
    v, turning = np.linalg.norm(rows[0][:3]), np.linalg.norm(rows[0][3:6])
    linear, angular = changes[:, :3].max(axis=1) / v, changes[:, 3:6].max(axis=1) / turning
    energy = changes[:, 6] / rows[0][6]
    names = ("linear momentum", "angular momentum about the centre of mass", "energy")
    found = [
        Check(f"{name}, largest relative change", float(x.max()), 0.0, 1e-11)
        for name, x in zip(names, (linear, angular, energy), strict=True)
    ]
    t = 0.02 * EVERY * np.arange(101)
    lines = zip(names, (linear, angular, energy), strict=True)
    curves = [Curve(name, t, np.maximum(x, 1e-17)) for name, x in lines]
    return Result(found, Figure("t (s)", "relative change", curves, log_y=True))


# ---------------------------------------------------------------- Lagrange's top


def heavy_top(timestep: float) -> saltus.Simulation:
    """A top that is released with pure spin, tilted by 30 degrees."""
    sim = saltus.Simulation(TOP, "energy_momentum", timestep=timestep)
    sim.qpos[:] = [np.cos(TILT / 2), np.sin(TILT / 2), 0, 0]
    sim.qvel[:] = [0, 0, SPIN]
    return sim


def integrals(sim: saltus.Simulation) -> NDArray[np.float64]:
    """Energy (J), angular momentum about the vertical and about the top's axis (kg m²/s)."""
    w, x, y, z = sim.qpos
    p = np.array([ACROSS, ACROSS, ALONG]) * sim.qvel
    up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return np.array([sum(sim.energy()), up @ p, p[2]])


@benchmark(
    "top-integrals",
    "Lagrange's top, its three integrals",
    source="conserved quantities; Goldstein, Classical Mechanics, 3rd ed., section 5.7",
    allowed=ROUNDING,
)
def top_integrals(data: Data) -> Result:
    """0.5 kg on l = 0.04 m, spin 40 rad/s, for 200 s in steps of 20 ms, in which it turns by 46 degrees each;
    energy_momentum."""
    sim = heavy_top(0.02)
    rows = [integrals(sim)]
    for _ in range(100):
        sim.step(EVERY)
        rows.append(integrals(sim))
    changes = np.abs(np.array(rows) - rows[0]) / np.abs(rows[0])
    names = ("energy", "momentum about the vertical", "momentum about its axis")
    found = [
        Check(f"{name}, largest relative change", float(changes[:, k].max()), 0.0, 1e-11)
        for k, name in enumerate(names)
    ]
    curves = [Curve(name, 2.0 * np.arange(101), np.maximum(changes[:, k], 1e-17)) for k, name in enumerate(names)]
    return Result(found, Figure("t (s)", "relative change", curves, log_y=True))


def nutation_period() -> float:
    """Period (s) of the nutation after release with pure spin, with u = cos θ between the roots of (du/dt)².

    (du/dt)² = (u₀ - u) (β (1 - u²) - a² (u₀ - u)), β = 2 m g l/I₁, a = I₃ ω₃/I₁.
    """
    beta, a, top = 2 * MASS * 9.81 * LENGTH / ACROSS, ALONG * SPIN / ACROSS, np.cos(TILT)
    low, high = np.sort(np.roots([-beta, a * a, beta - a * a * top]))
    return float(4 / np.sqrt(beta * (high - low)) * ellipk((top - low) / (high - low)))


def reached_period(timestep: float, count: int = 3) -> float:
    """Period (s) over several nutations: between the first and a later smallest height of the top's axis."""
    sim = heavy_top(timestep)
    rates, lows = [], []
    while len(lows) <= count:
        w, x, y, z = sim.qpos
        # rate of the height of the axis: ω in body axes, e_z · (ω × e₃)
        up = (2 * (x * z - w * y), 2 * (y * z + w * x))
        rates.append(sim.qvel[1] * up[0] - sim.qvel[0] * up[1])
        if len(rates) > 4 and rates[-3] < 0 <= rates[-2]:
            # root of the cubic through four rates
            cubic = np.polyfit(np.arange(-2, 2), rates[-4:], 3)
            roots = np.roots(cubic)
            root = roots[np.argmin(np.abs(roots + 0.5))].real
            lows.append((len(rates) - 2 + root) * timestep)
        sim.step()
    return (lows[-1] - lows[0]) / count


@benchmark(
    "top-nutation-order",
    "Lagrange's top, period of its nutation",
    source="T = 4 K(m)/√(β (u₂ - u₁)), m = (u₀ - u₁)/(u₂ - u₁): Goldstein, Classical Mechanics, 3rd ed., section 5.7",
    allowed="0.2 around the declared order; at the finest step what the order leaves",
)
def top_nutation_order(data: Data) -> Result:
    """0.5 kg on l = 0.04 m, released with a spin of 40 rad/s; energy_momentum in steps of 8 to 1 ms."""
    steps = np.array([8e-3, 4e-3, 2e-3, 1e-3])
    exact = nutation_period()
    found = np.array([reached_period(h) for h in steps])
    errors = np.abs(found / exact - 1)
    limit = (found[-1] * 4 - found[-2]) / 3
    wanted = [order_check(steps, errors, 2), Check("period, extrapolated", float(limit), exact, 1e-5 * exact, "s")]
    return Result(wanted, order_figure(steps, errors, 2, y="error of the period, relative"))
