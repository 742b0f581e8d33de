"""Mechanisms without losses in long steps: `energy_momentum` keeps their energy and their momenta to rounding."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipk

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family, order_check, order_figure

benchmark = family("smooth")

Link = tuple[float, float]

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
CRANK, COUPLER, ROCKER = (0.15, 0.2), (0.75, 0.35), (-0.1, 0.55)  # m: links of a four-bar, x and z
SWING = 0.5  # m: cranks of a parallelogram
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


# ---------------------------------------------------------------- closed loops


def four_bar(crank: Link, coupler: Link, rocker: Link) -> str:
    """Rods of 1 kg on hinges in a plane: a crank, a coupler on it, and a rocker that is connected to its tip."""
    ground = (crank[0] + coupler[0] - rocker[0], crank[1] + coupler[1] - rocker[1])

    def rod(at: Link, link: Link, name: str, inner: str = "") -> str:
        inertia = np.hypot(*link) ** 2 / 12
        return (
            f'<body name="{name}" pos="{at[0]} 0 {at[1]}"><joint axis="0 1 0"/>'
            f'<inertial pos="{link[0] / 2} 0 {link[1] / 2}" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>'
            f"{inner}</body>"
        )

    chain = rod((0.0, 0.0), crank, "crank", rod(crank, coupler, "coupler"))
    anchor = f"{coupler[0]} 0 {coupler[1]}"
    return f"""<mujoco><worldbody>{chain}{rod(ground, rocker, "rocker")}</worldbody><equality>
      <connect body1="coupler" body2="rocker" anchor="{anchor}"/></equality></mujoco>"""


@benchmark(
    "energy-four-bar",
    "Energy of a four-bar in long steps, its loop closed exactly",
    source="conserved quantities; Gonzalez, 'Mechanical systems subject to holonomic constraints', Physica D 132, 1999",
    allowed=ROUNDING + "; the loop to rounding at its length of 1 m",
    slow=True,
)
def energy_four_bar(data: Data) -> Result:
    """Three rods of 1 kg whose crank starts at 8 rad/s and turns round; 2000 s in steps of 20 ms; energy_momentum under
    hard contact's exact constraints."""
    sim = saltus.Simulation(four_bar(CRANK, COUPLER, ROCKER), "energy_momentum", contact="hard", timestep=0.02)
    sim.qvel[0] = 8.0
    sim.step()
    energies, gaps = [sim.energy()], []
    for _ in range(100):
        sim.step(1000)
        energies.append(sim.energy())
        tip = sim.body("coupler").xpos + sim.body("coupler").xmat.reshape(3, 3) @ (COUPLER[0], 0.0, COUPLER[1])
        end = sim.body("rocker").xpos + sim.body("rocker").xmat.reshape(3, 3) @ (ROCKER[0], 0.0, ROCKER[1])
        gaps.append(float(np.linalg.norm(tip - end)))
    total = np.sum(energies, axis=1)
    errors = np.abs(total - total[0]) / np.max(energies, axis=0)[1]
    found = [
        Check("largest change of energy in 100000 steps, relative", float(errors.max()), 0.0, 1e-10),
        Check("largest gap of the loop", max(gaps), 0.0, 1e-12, "m"),
    ]
    t = 20.0 * np.arange(1, 101)
    curves = [Curve("energy", t, np.maximum(errors[1:], 1e-17)), Curve("gap (m)", t, np.maximum(gaps, 1e-17))]
    return Result(found, Figure("t (s)", "relative change", curves, log_y=True))


@benchmark(
    "parallelogram-period",
    "Period of a parallelogram, its loop closed exactly",
    source="T = 4 K(sin²(θ₀/2))/ω, ω² = 2 m l g/(2 m l²/3 + m l²): Goldstein, Classical Mechanics, 3rd ed., pr. 3.10",
    allowed="0.2 around the declared order; at the finest steps what the order leaves",
)
def parallelogram_period(data: Data) -> Result:
    """Two cranks of l = 0.5 m and a coupler, rods of 1 kg each, released at 60 degrees: after two periods and a quarter
    they hang; energy_momentum under hard contact's exact constraints."""
    start = np.pi / 3
    crank = (float(SWING * np.sin(start)), float(-SWING * np.cos(start)))
    rate = np.sqrt(2.0 * 9.81 / (5.0 / 3.0 * SWING))
    period = 4.0 * ellipk(np.sin(start / 2) ** 2) / rate
    counts = np.array([90, 180, 360, 720])
    found = []
    for count in counts:
        h = 2.25 * period / count
        sim = saltus.Simulation(four_bar(crank, (1.0, 0.0), crank), "energy_momentum", contact="hard", timestep=h)
        sim.step(int(count))
        # the crank turns from its start about y, towards x for negative angles; early by its angle over its rate
        angle = start - np.abs(sim.qpos[0])
        found.append((2.25 * period + angle / np.abs(sim.qvel[0])) / 2.25)
    errors, steps = np.abs(np.array(found) / period - 1), 2.25 * period / counts
    limit = float((found[-1] * 4 - found[-2]) / 3)
    wanted = [order_check(steps, errors, 2), Check("period, extrapolated", limit, period, 1e-5 * period, "s")]
    return Result(wanted, order_figure(steps, errors, 2, y="error of the period, relative"))


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
