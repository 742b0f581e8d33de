"""Closed loops: the four-bar mechanism of IFToMM's library and Andrews' squeezing mechanism.

Hard contact's solver closes loops exactly, up to the error of the integrator; MuJoCo's soft constraints give a little.
"""

import math

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family

benchmark = family("loops")

EXTENDED = "digits from integration of the constrained equations in extended precision"
G = 9.81

# ---------------------------------------------------------------- the four-bar mechanism A02

FOUR_BAR = {
    1: (-0.1950203019494351, -0.9807992056621738),
    5: (-0.8113104610051074, -0.5846155453489755),
    10: (0.3284581115408154, 0.944518538178601),
}
IFTOMM = "IFToMM library of multibody benchmarks, A02 (N four-bar mechanism, N = 2); " + EXTENDED


def four_bar(solref: str = "0.02 1") -> str:
    """Three cranks and two couplers, uniform rods of 1 kg and 1 m; the cranks upright."""
    i = 1 / 12

    def rod(name: str, along: str, inner: str = "") -> str:
        x, y = (0.5, 0) if along == "x" else (0, 0.5)
        inertia = f"1e-9 {i} {i}" if along == "x" else f"{i} 1e-9 {i}"
        at = "0 1 0" if along == "x" else f"{name[-1]} 0 0"
        joint = f'<joint name="{name}" type="hinge" axis="0 0 1"/>'
        inertial = f'<inertial pos="{x} {y} 0" mass="1" diaginertia="{inertia}"/>'
        return f'<body name="{name}" pos="{at}">{joint}{inertial}{inner}</body>'

    chain = "".join(
        rod(f"crank{k}", "y", '<site name="B0" pos="0 1 0"/>' * (k == 0) + rod(f"coupler{k}", "x")) for k in (0, 1)
    )
    closed = "".join(
        f'<connect body1="coupler{k}" body2="crank{k + 1}" anchor="1 0 0" solref="{solref}" solimp=".9999 .9999 1e-3"/>'
        for k in (0, 1)
    )
    return f"""<mujoco><option gravity="0 -{G} 0" timestep="0.001"/><worldbody>{chain}{rod("crank2", "y")}</worldbody>
      <equality>{closed}</equality></mujoco>"""


def swing(sim: saltus.Simulation, duration: int, every: float = 0.02) -> tuple[NDArray[np.float64], float]:
    """Places of B0 every 0.02 s for some seconds from a velocity of 1 m/s, and the largest change of energy, J."""
    sim.qvel = [-1.0, 1.0, -1.0, 1.0, -1.0]
    energy = sum(sim.energy())
    places, lost = [sim.data.site_xpos[0, :2].copy()], 0.0
    for _ in range(round(duration / every)):
        sim.step(round(every / sim.timestep))
        places.append(sim.data.site_xpos[0, :2].copy())
        lost = max(lost, abs(sum(sim.energy()) - energy))
    return np.array(places), lost


def _four_bar(sim: saltus.Simulation, place: float, energy: float) -> Result:
    places, lost = swing(sim, 10)
    found: list[Check] = []
    for t, wanted in FOUR_BAR.items():
        found += checks([f"x of B₀ at {t} s", f"y of B₀ at {t} s"], places[round(t / 0.02)], wanted, place, "m")
    found.append(Check("energy, largest change", lost, 0.0, energy, "J"))
    t = 0.02 * np.arange(len(places))
    at, given = np.transpose([(time, value) for time, point in FOUR_BAR.items() for value in point])
    curves = [Curve("x", t, places[:, 0]), Curve("y", t, places[:, 1])]
    return Result(found, Figure("t (s)", "B₀ (m)", [*curves, Curve("reference", at, given, "marks")]))


@benchmark(
    "four-bar",
    "Four-bar mechanism, loops closed exactly",
    source=IFTOMM,
    allowed="1e-5 m, what exact closure reaches in the library; rk4 at 2 ms is far below",
    slow=True,
)
def four_bar_exact(data: Data) -> Result:
    """Five uniform rods of 1 m and 1 kg, three cranks and two couplers, start upright at 1 m/s; 10 s. When all are
    horizontal, the mechanism is singular. rk4 in steps of 2 ms, under hard contact's constraint solver."""
    sim = saltus.Simulation(four_bar(), "rk4", contact="hard", timestep=0.002)
    return _four_bar(sim, 1e-5, 1e-5)


@benchmark(
    "four-bar-soft",
    "Four-bar mechanism, loops closed by soft constraints",
    source=IFTOMM,
    allowed="what the library accepts: 0.1 J; 1e-3 m",
)
def four_bar_soft(data: Data) -> Result:
    """Three cranks and two couplers, uniform rods of 1 m and 1 kg, start upright at 1 m/s with MuJoCo's soft
    constraints (solref 2e-3 1); 10 s in steps of 1 ms with rk4."""
    return _four_bar(saltus.Simulation(four_bar("2e-3 1"), "rk4"), 1e-3, 0.1)


# ---------------------------------------------------------------- Andrews' squeezing mechanism A03

# Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VI.9: lengths (m), masses (kg), inertias (kg m²)
ANGLES = {
    "beta": -0.0617138900142764496358948458001,
    "theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
BETA = {"beta at 0.03 s": 15.810771195153707, "beta at 0.05 s": 33.82586776695452}
RATE, WORK = 1139.920302259106, 1.4378329575321399
TORQUE = 0.033  # N m


def andrews() -> str:
    """Seven planar bodies on pins O, A and B, joined in E, and a spring from D to C; a torque drives the first."""

    def body(
        name: str,
        at: tuple[float, float],
        angle: float,
        centre: tuple[float, float],
        mass: float,
        inertia: float,
        inner: str = "",
    ) -> str:
        about = f"{inertia / 2!r} {inertia / 2!r} {inertia!r}"
        half = angle / 2
        return (
            f'<body name="{name}" pos="{at[0]} {at[1]} 0" quat="{math.cos(half)!r} 0 0 {math.sin(half)!r}">'
            f'<joint name="{name}" type="hinge" axis="0 0 1"/>'
            f'<inertial pos="{centre[0]} {centre[1]} 0" mass="{mass}" diaginertia="{about}"/>{inner}</body>'
        )

    a = ANGLES
    k2 = body("K2", (0.007, 0), a["theta"], (-0.0115, 0), 0.00365, 4.410e-7)
    k1 = body("K1", (0, 0), a["beta"], (0.00092, 0), 0.04325, 2.194e-6, k2)
    k3 = body(
        "K3",
        (-0.03635, 0.03273),
        a["gamma"],
        (0.01043, -0.01874),
        0.02373,
        5.255e-6,
        '<site name="D" pos="0.02 -0.018 0"/>',
    )
    k4 = body("K4", (0.04, 0), a["phi"], (0, -0.00579), 0.00706, 5.667e-7)
    k5 = body("K5", (-0.06934, -0.00227), a["delta"], (0.02308, 0.00916), 0.0705, 1.169e-5, k4)
    k6 = body("K6", (0, -0.04), a["omega"], (0.00579, 0), 0.00706, 5.667e-7)
    k7 = body("K7", (-0.06934, -0.00227), a["epsilon"], (-0.00449, -0.01228), 0.05498, 1.912e-5, k6)
    pins = "".join(
        f'<connect body1="{name}" body2="K2" anchor="{anchor}"/>'
        for name, anchor in (("K3", "0 -0.035 0"), ("K4", "0 -0.02 0"), ("K6", "0.02 0 0"))
    )
    return f"""<mujoco><option gravity="0 0 0" timestep="0.0005"/><worldbody><site name="C" pos="0.014 0.072 0"/>
      {k1}{k3}{k5}{k7}</worldbody><equality>{pins}</equality>
      <tendon><spatial stiffness="4530" springlength="0.07785"><site site="D"/><site site="C"/></spatial></tendon>
      <actuator><motor joint="K1"/></actuator></mujoco>"""


@benchmark(
    "andrews",
    "Andrews' squeezing mechanism",
    source="IFToMM library of multibody benchmarks, A03; IVP test set (Bari), 'Andrews' squeezing mechanism'; Hairer & "
    "Wanner, Solving ODEs II, VI.9; " + EXTENDED + " (the test set's 15.81077119629904 is 1.2e-9 off)",
    allowed="the integrator's tolerance, 1e-12 a step of angles of some 10 rad, times the growth over 5 turns, 1e4",
    slow=True,
)
def andrews_mechanism(data: Data) -> Result:
    """Seven bodies in three loops, driven by a constant torque of 0.033 N m against a stiff spring; 0.05 s, in which
    the crank turns five times. dopri5 under hard contact's constraint solver. Energy less the torque's work stays."""
    sim = saltus.Simulation(andrews(), "dopri5", contact="hard", tolerance=(1e-12, 1e-13))
    sim.ctrl = TORQUE
    angles, rates, kept = [ANGLES["beta"]], [0.0], []
    for _ in range(100):
        sim.step()
        angles.append(ANGLES["beta"] + float(sim.qpos[0]))
        rates.append(float(sim.qvel[0]))
        kept.append(float(sum(sim.energy())) - TORQUE * angles[-1])
    found = checks(list(BETA), [angles[60], angles[100]], list(BETA.values()), 1e-8, "rad")
    found += checks(["rate at 0.03 s"], [rates[60]], [RATE], 1e-6, "rad/s")
    furthest = max(kept, key=lambda energy: abs(energy - WORK))
    found.append(Check("energy less work, worst", furthest, WORK, 1e-9, "J"))
    t = 5e-4 * np.arange(101)
    marks = Curve("reference", [0.03, 0.05], list(BETA.values()), "marks")
    return Result(found, Figure("t (s)", "β (rad)", [Curve("reached", t, angles), marks]))
