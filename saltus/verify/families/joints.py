"""Joints: motion and reactions of bars against ADAMS, as published with Project Chrono.

Tables: ADAMS results in Project Chrono's unit tests of joints (projectchrono/chrono, BSD licence), one bar of 1 kg,
4 m long, on a revolute or spherical joint 2 m from its centre of mass, inertia (0.04, 0.1, 0.1) kg m², g 9.80665, 5 s
every 0.01 s. Three instants of each stand here; the whole tables are compared where `--data` gives their folder.
Limits are those of Chrono's own comparison. ADAMS prints six digits.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Benchmark, Check, Curve, Data, Figure, Result, family

benchmark = family("joints")

G = 9.80665
SOURCE = "ADAMS, tables in Project Chrono's unit tests of joints (BSD licence)"
LIMITS = {"Pos": 1e-3, "Vel": 1e-4, "Acc": 2e-2, "Avel": 1e-4, "Aacc": 2e-2, "Rforce": 2e-2, "Rtorque": 2e-2}
# one table differs from ADAMS's own others of the same motion by 8e-4 m; at 2 m and up to 3.1 rad/s that is, in m/s
COARSE = {"Vel": 3e-3, "Avel": 1.5e-3}
UNITS = {"Pos": "m", "Vel": "m/s", "Acc": "m/s²", "Avel": "rad/s", "Aacc": "rad/s²", "Rforce": "N", "Rtorque": "N m"}
WORDS = {
    "Pos": "position",
    "Vel": "velocity",
    "Acc": "acceleration",
    "Quat": "attitude",
    "Avel": "angular velocity",
    "Aacc": "angular acceleration",
    "Rforce": "reaction force",
    "Rtorque": "reaction torque",
}
ALLOWED = "limits of Chrono's comparison with these tables: 1e-3 of positions, 1e-4 of velocities, 2e-2 of the others"
EXCEPTION = "; velocities 3e-3 and 1.5e-3, as this table is 8e-4 m from ADAMS's own others of the same motion"
INSTANTS = (1.0, 3.0, 5.0)  # s
Vectors = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Bar:
    """A bar on a joint: position of the joint, its MJCF, and ADAMS's values at the instants."""

    pivot: tuple[float, float, float]
    joint: str
    table: dict[str, Vectors]
    file: str
    own: dict[str, float] = field(default_factory=dict)  # limits where the table itself is less accurate

    def limit(self, quantity: str) -> float:
        """Tolerance of a quantity, compared with the table."""
        return self.own.get(quantity, LIMITS[quantity])


PLANAR = Bar(
    (0.0, 0.0, 0.0),
    '<joint type="hinge" axis="0 1 0"/>',
    {
        "Pos": ((-0.892381, 0, -1.78988), (1.86917, 0, -0.711481), (-1.99968, 0, -0.0355587)),
        "Vel": ((-5.23742, 0, 2.61123), (1.31259, 0, 3.44837), (-0.0146657, 0, 0.824742)),
        "Acc": ((11.4612, 0, 13.4207), (-9.54282, 0, -5.93509), (0.510225, 0, -9.55839)),
        "Avel": ((0, 2.92614, 0), (0, -1.84487, 0), (0, 0.412436, 0)),
        "Aacc": ((0, -2.13443, 0), (0, 4.47063, 0), (0, -4.78297, 0)),
        "Rforce": ((-11.4612, 0, -23.2273), (9.54282, 0, -3.87156), (-0.510225, 0, -0.248259)),
        "Rtorque": ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
    },
    "revolute_joint/Revolute_Case01",
)
INCLINED = Bar(
    (1.0, 2.0, 3.0),
    '<joint type="hinge" axis="0 1 1"/>',
    {
        "Pos": ((1.0421, 3.4139, 1.5861), (0.8738, 3.4114, 1.5886), (1.20996, 3.4064, 1.5936)),
        "Vel": ((-5.20028, 0.0774282, -0.0774282), (5.18646, 0.231873, -0.231873), (-5.15895, 0.385088, -0.385088)),
        "Acc": ((-0.427164, -9.56081, 9.56068), (1.2781, -9.51078, 9.51046), (-2.11895, -9.40977, 9.40974)),
        "Avel": ((0, 1.83898, 1.83898), (0, -1.83735, -1.83735), (0, 1.8341, 1.8341)),
        "Aacc": ((0, 0.0502448, 0.0502448), (0, -0.151282, -0.151282), (0, 0.250944, 0.250944)),
        "Rforce": ((0.427164, 9.56081, -19.3673), (-1.2781, 9.51078, -19.3171), (2.11895, 9.40977, -19.2164)),
        "Rtorque": (
            (-13.8654, 0.206446, -0.206446),
            (-13.8406, -0.618777, 0.618777),
            (-13.792, 1.0295, -1.0295),
        ),
    },
    "revolute_joint/Revolute_Case02",
)
BALL = Bar(
    (0.0, 0.0, 0.0),
    '<joint type="ball"/>',
    {
        "Pos": ((-0.892369, 0, -1.78988), (1.86912, 0, -0.711623), (-1.99967, 0, -0.0361929)),
        "Vel": ((-5.23737, 0, 2.61106), (1.31258, 0, 3.44746), (-0.0148923, 0, 0.822711)),
        "Acc": ((11.4609, 0, 13.4204), (-9.5404, 0, -5.93517), (0.511671, 0, -9.5582)),
        "Avel": ((0, 2.92608, 0), (0, -1.84444, 0), (0, 0.411423, 0)),
        "Aacc": ((0, -2.13467, 0), (0, 4.47073, 0), (0, -4.78295, 0)),
        "Rforce": ((-11.4609, 0, -23.227), (9.5404, 0, -3.87148), (-0.511671, 0, -0.248448)),
    },
    "spherical_joint/Spherical_Case01",
    COARSE,
)
BALL_AWAY = Bar(
    (1.0, 2.0, 3.0),
    '<joint type="ball"/>',
    {
        "Pos": ((0.107619, 2, 1.21012), (2.86917, 2, 2.28852), (-0.999684, 2, 2.96444)),
        "Vel": ((-5.23742, 0, 2.61123), (1.31259, 0, 3.44837), (-0.0146657, 0, 0.824742)),
        "Acc": ((11.4613, 0, 13.4207), (-9.54264, 0, -5.93516), (0.510211, 0, -9.5584)),
        "Avel": ((0, 2.92614, 0), (0, -1.84487, 0), (0, 0.412436, 0)),
        "Aacc": ((0, -2.13424, 0), (0, 4.47073, 0), (0, -4.78286, 0)),
        "Rforce": ((-11.4613, 0, -23.2273), (9.54264, 0, -3.87149), (-0.510211, 0, -0.248253)),
    },
    "spherical_joint/Spherical_Case02",
)


def model(bar: Bar) -> str:
    """Model of the bar along x, its centre of mass 2 m from the joint, with sensors of motion and reactions."""
    at = " ".join(map(str, bar.pivot))
    return f"""<mujoco><option gravity="0 0 -{G}" timestep="0.01"/><worldbody><body pos="{at}">{bar.joint}
      <inertial pos="2 0 0" mass="1" diaginertia="0.04 0.1 0.1"/><site name="joint"/><site name="centre" pos="2 0 0"/>
    </body></worldbody><sensor>
      <framepos objtype="site" objname="centre"/><framelinvel objtype="site" objname="centre"/>
      <framelinacc objtype="site" objname="centre"/><frameangvel objtype="site" objname="centre"/>
      <frameangacc objtype="site" objname="centre"/><force site="joint"/><torque site="joint"/>
    </sensor></mujoco>"""


def motion(bar: Bar, steps: int = 500) -> dict[str, NDArray[np.float64]]:
    """Columns [steps + 1, 3] every 0.01 s in ADAMS's conventions: reactions are those on the ground, in world axes."""
    sim = saltus.Simulation(model(bar), "dopri5", tolerance=(1e-12, 1e-13))
    rows, turns = [sim.sensordata.copy()], [sim.data.site_xmat[0].copy()]
    for _ in range(steps):
        sim.step()
        rows.append(sim.sensordata.copy())
        turns.append(sim.data.site_xmat[0].copy())
    columns: dict[str, NDArray[np.float64]] = {}
    for name, part in zip(LIMITS, np.split(np.array(rows), len(LIMITS), axis=1), strict=True):
        columns[name] = part
    columns["Acc"] = columns["Acc"] - [0.0, 0.0, G]  # the sensor is an accelerometer in world axes
    R = np.array(turns).reshape(-1, 3, 3)
    for name in ("Rforce", "Rtorque"):
        columns[name] = -np.einsum("tij,tj->ti", R, columns[name])
    return columns


def figure(columns: dict[str, NDArray[np.float64]], table: dict[str, Vectors]) -> Figure:
    """Figure of the reaction force over time, with ADAMS's values."""
    t = 0.01 * np.arange(len(columns["Rforce"]))
    curves = [Curve(axis, t, columns["Rforce"][:, i]) for i, axis in enumerate("xyz")]
    rows = zip(INSTANTS, table["Rforce"], strict=True)
    at, given = np.transpose([(time, value) for time, row in rows for value in row])
    return Figure("t (s)", "force on the ground (N)", [*curves, Curve("ADAMS", at, given, "marks")])


def _instants(name: str, title: str, bar: Bar, about: str) -> Benchmark:
    def measure(data: Data) -> Result:
        columns = motion(bar)
        found = []
        for quantity, rows in bar.table.items():
            at = columns[quantity][[round(t / 0.01) for t in INSTANTS]]
            place = np.unravel_index(np.argmax(np.abs(at - rows)), at.shape)
            label = f"{WORDS[quantity]} {'xyz'[place[1]]} at {INSTANTS[place[0]]:g} s"
            wanted = float(rows[place[0]][place[1]])
            found.append(Check(label, float(at[place]), wanted, bar.limit(quantity), UNITS[quantity]))
        return Result(found, figure(columns, bar.table))

    measure.__doc__ = f"{about} Of each quantity, the component that is furthest from ADAMS at 1, 3 and 5 s."
    return benchmark(name, title, source=SOURCE, allowed=ALLOWED + (EXCEPTION if bar.own else ""))(measure)


revolute = _instants("adams-revolute", "Revolute joint", PLANAR, "A bar falls from the horizontal about the axis y.")
revolute_inclined = _instants(
    "adams-revolute-inclined",
    "Revolute joint, inclined",
    INCLINED,
    "A bar falls from the horizontal about an axis that leans by 45 degrees, away from the origin.",
)
spherical = _instants("adams-spherical", "Spherical joint", BALL, "A bar falls from the horizontal on a ball joint.")
spherical_away = _instants(
    "adams-spherical-away",
    "Spherical joint, away from the origin",
    BALL_AWAY,
    "A bar falls from the horizontal on a ball joint at (1, 2, 3).",
)


@benchmark(
    "adams-tables", "All of ADAMS's tables", source=SOURCE, allowed=ALLOWED + "; in the first spherical case as above"
)
def tables(data: Data) -> Result:
    """Four bars on hinges and ball joints at all 501 instants, against the files of Project Chrono's tests,
    adams/revolute_joint and adams/spherical_joint in the folder of --data: the largest error of each quantity."""
    data.file(f"adams/{PLANAR.file}_ADAMS_Pos.txt")
    found, curves = [], []
    for bar in (PLANAR, INCLINED, BALL, BALL_AWAY):
        columns = motion(bar)
        case = bar.file.split("/")[1].replace("_", " ")
        for quantity, mine in columns.items():
            table = np.loadtxt(data.file(f"adams/{bar.file}_ADAMS_{quantity}.txt"), skiprows=3)
            error = np.max(np.abs(mine - table[:, 1:]), axis=1)
            name = f"{case}: {WORDS[quantity]}"
            found.append(Check(name, float(error.max()), 0.0, bar.limit(quantity), UNITS[quantity]))
            if quantity == "Pos":
                curves.append(Curve(case, table[1:, 0], np.maximum(error[1:], 1e-9)))
    return Result(found, Figure("t (s)", "error of position (m)", curves, log_y=True))
