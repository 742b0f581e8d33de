"""Closed loops in long steps: `energy_momentum` closes them to rounding, by forces that do no work."""

import numpy as np
from scipy.special import ellipk

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family, order_check, order_figure

benchmark = family("loops")

Link = tuple[float, float]

CRANK, COUPLER, ROCKER = (0.15, 0.2), (0.75, 0.35), (-0.1, 0.55)  # m: links of a four-bar, x and z
SWING = 0.5  # m: cranks of a parallelogram
ROUNDING = "what rounding and the tolerance of the iteration, 1e-13 of the velocities, leave of the steps"


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
