"""What integrators do to the energy of a pendulum.

The lecture's pendulum (2 kg at 2 m) is released at rest at the horizontal and swings without friction for 100 s, in
steps of 0.05 s. Its energy, measured from the lowest point, should stay what it was. Explicit Euler multiplies it by
13; midpoint gains 3 %; semi-implicit Euler and velocity Verlet are symplectic and stay in a band for ever; RK4 loses
3e-5.

    python examples/pendulum_energy.py [figure.png]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import saltus

INTEGRATORS = {
    "explicit_euler": ("explicit Euler", "#D55E00"),
    "euler": ("semi-implicit Euler", "#56B4E9"),
    "midpoint": ("midpoint", "#CC79A7"),
    "velocity_verlet": ("velocity Verlet", "#009E73"),
    "rk4": ("Runge-Kutta 4", "#000000"),
}
MASS, LENGTH, GRAVITY, STEP = 2.0, 2.0, 9.81, 0.05


def energy_ratio(integrator, duration):
    """Times (s) and E/E0 after each step."""
    trajectory = saltus.Simulation("pendulum", integrator, timestep=STEP).run(duration, sample=STEP)
    angle, rate = trajectory.qpos[:, 0], trajectory.qvel[:, 0]
    energy = 0.5 * MASS * (LENGTH * rate) ** 2 + MASS * GRAVITY * LENGTH * (1 - np.cos(angle))
    return trajectory.time, energy / energy[0]


def draw(ratios, path):
    """All of them above, the good ones in detail below; each line is named at its end, with its last value."""
    figure, (whole, detail) = plt.subplots(
        2, 1, figsize=(9, 6.2), dpi=150, sharex=True, height_ratios=(1, 1.5), layout="constrained"
    )
    for name, (time, ratio) in ratios.items():
        label, colour = INTEGRATORS[name]
        weight = {"color": colour, "linewidth": 0.9 if name == "euler" else 1.6}
        whole.plot(time, ratio, **weight)
        detail.plot(time, ratio, **weight)
        print(f"{label:20s} E/E0 at the end {ratio[-1]:9.5f}, between {ratio.min():.5f} and {ratio.max():.5f}")
    detail.set_ylim(0.945, 1.058)
    whole.set_ylim(0, None)
    for axes in (whole, detail):
        axes.set_ylabel("E / E₀")
        axes.grid(True, color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0)
    detail.set_xlabel("time (s)")
    whole.set_title("Energy of a frictionless pendulum, steps of 0.05 s", loc="left", fontsize=12)
    _name(whole, {"explicit_euler": ratios["explicit_euler"]})
    _name(detail, {name: line for name, line in ratios.items() if name != "explicit_euler"})
    figure.savefig(path)
    plt.close(figure)


def _name(axes, ratios):
    """Write the name of each line where it ends, without overlap."""
    low, high = axes.get_ylim()
    gap, used = 0.085 * (high - low), []
    for name, (time, ratio) in sorted(ratios.items(), key=lambda item: item[1][1][-1]):
        label, colour = INTEGRATORS[name]
        place = max([ratio[-1], *(y + gap for y in used)])
        used.append(place)
        style = {"color": colour, "fontsize": 9, "va": "center", "clip_on": False}
        axes.text(time[-1] * 1.008, place, f"{label}  {ratio[-1]:.5g}", **style)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", default="pendulum.png")
    parser.add_argument("--duration", type=float, default=100.0, help="seconds to simulate")
    options = parser.parse_args()
    draw({name: energy_ratio(name, options.duration) for name in INTEGRATORS}, options.path)


if __name__ == "__main__":
    main()
