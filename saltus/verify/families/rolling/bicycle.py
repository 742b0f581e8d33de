"""Whipple's bicycle: two wheels of no width, a frame and a fork, which roll since their contacts stick."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family
from saltus.verify.families.rolling.scenes import CONTROLLED, STICKS, G, about, inertial, wheel, world

benchmark = family("rolling")
Vector = NDArray[np.float64]

SOURCE = (
    "Meijaard, Papadopoulos, Ruina & Schwab, 'Linearized dynamics equations for the balance and steer of a bicycle', "
    "Proc. R. Soc. A 463 (2007): parameters of Table 1, M, C₁, K₀, K₂ of its benchmark, eigenvalues of Table 2"
)
# Table 1, in axes x forwards, y left, z up (the paper's y and z point the other way)
BASE, TRAIL, TILT = 1.02, 0.08, math.pi / 10  # m, m, rad
REAR, FRONT = 0.3, 0.35  # radii, m
STEER = np.array([-math.sin(TILT), 0.0, math.cos(TILT)])  # the paper's steer is about the opposite
# the benchmark's matrices, of lean and steer
MASS = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
DAMPING = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])  # times the speed
STIFFNESS = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])  # times g
CENTRIFUGAL = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])  # times the speed squared
# Table 2: weave (real and imaginary part, or two real ones), capsize, castering
EIGENVALUES: dict[float, tuple[complex, complex, complex, complex]] = {
    0.0: (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393),
    **{
        speed: (castering, capsize, complex(re, -im), complex(re, im))
        for speed, re, im, capsize, castering in (
            (1.0, 3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
            (2.0, 2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
            (3.0, 1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
            (4.0, 0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
            (5.0, -0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
            (6.0, -1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
            (8.0, -2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
            (10.0, -3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
        )
    },
}


def table_matrix(speed: float) -> Vector:
    """d/dt of (lean, steer, lean rate, steer rate) over these, [4, 4], by the paper's matrices; speed in m/s."""
    stiff, damped = G * STIFFNESS + speed**2 * CENTRIFUGAL, speed * DAMPING
    below = -np.linalg.solve(MASS, np.hstack([stiff, damped]))
    return np.asarray(np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), below]), float)


def bicycle() -> str:
    """Model of frame with rider, fork and both wheels; the frame's origin is on the ground below the rear wheel."""
    turn, axle = 'zaxis="0 1 0"', '<joint name="{}" axis="0 1 0"/>'
    rear = axle.format("rear") + inertial(2.0, (0.0603, 0.12, 0.0603)) + wheel("rear", REAR, turn)
    front = axle.format("front") + inertial(3.0, (0.1405, 0.28, 0.1405)) + wheel("front", FRONT, turn)
    fork = inertial(4.0, (0.05892, 0.06, 0.00708), (0.9 - BASE - TRAIL, 0, 0.7), 0.00756)
    axis = " ".join(map(repr, map(float, STEER)))
    return world(
        f"""<body name="frame"><freejoint/>{inertial(85.0, (9.2, 11, 2.8), (0.3, 0, 0.9), -2.4)}
          <body name="rear" pos="0 0 {REAR}">{rear}</body>
          <body name="fork" pos="{BASE + TRAIL!r} 0 0"><joint name="steer" axis="{axis}"/>{fork}
            <body name="front" pos="{-TRAIL!r} 0 {FRONT}">{front}</body></body></body>""",
        STICKS,
    )


def contacts(frame: Vector, steer: float) -> tuple[Vector, Vector]:
    """Lowest points of both wheels, [2, 3] (m, from the frame's origin), and their velocities over qvel, [6, 9]."""
    half = steer / 2
    x, y, z = STEER * math.sin(half)
    w = math.cos(half)
    steered = frame @ (np.eye(3) + 2 * w * _cross((x, y, z)) + 2 * _cross((x, y, z)) @ _cross((x, y, z)))
    head = frame @ (BASE + TRAIL, 0, 0)
    hubs = (frame @ (0, 0, REAR), head + steered @ (-TRAIL, 0, FRONT))
    points, rows = [], np.zeros((6, 9))
    for k, (hub, turn, radius) in enumerate(zip(hubs, (frame, steered), (REAR, FRONT), strict=True)):
        axle = turn[:, 1]
        down = np.array([0, 0, -1.0]) + axle[2] * axle
        arm = radius * down / np.linalg.norm(down)
        points.append(hub + arm)
        own = rows[3 * k : 3 * k + 3]
        own[:, :3] = np.eye(3)
        own[:, 3:6] = -_cross(points[k]) @ frame  # the frame's angular velocity is in its own axes
        own[:, 6 + 2 * k] = np.cross(axle, arm)
    rows[3:, 7] = np.cross(frame @ STEER, points[1] - head)
    return np.array(points), rows


def _cross(a: Sequence[float] | Vector) -> Vector:
    """The matrix of the cross product a × ."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def disturbed(sim: saltus.Simulation, speed: float, state: Sequence[float]) -> None:
    """Set lean, steer (rad) and their rates as the paper has them; both wheels roll on the floor."""
    lean, steer, lean_rate, steer_rate = state
    pitch = 0.0
    for _ in range(4):  # the pitch at which both wheels are equally low, by Newton's method
        low = [contacts(about(0, lean) @ about(1, pitch + h), -steer)[0][:, 2] for h in (0.0, 1e-6)]
        pitch -= (low[0][1] - low[0][0]) * 1e-6 / (low[1][1] - low[1][0] - low[0][1] + low[0][0])
    frame = about(0, lean) @ about(1, pitch)
    points, rows = contacts(frame, -steer)
    a, b = lean / 2, pitch / 2
    sim.reset()
    sim.qpos[2] = -points[0, 2]
    sim.qpos[3:7] = [
        math.cos(a) * math.cos(b),
        math.sin(a) * math.cos(b),
        math.cos(a) * math.sin(b),
        math.sin(a) * math.sin(b),
    ]
    sim.qpos[8] = -steer
    given = np.zeros((3, 9))
    given[[0, 1, 2], [0, 3, 7]] = 1.0
    wanted = np.concatenate([np.zeros(6), [speed, lean_rate, -steer_rate]])
    sim.qvel[:] = np.linalg.solve(np.vstack([rows, given]), wanted)


def flow_matrix(sim: saltus.Simulation, speed: float, size: float = 1e-5) -> Vector:
    """`table_matrix` from accelerations of lean and steer, by central differences over disturbances of this size."""
    found = np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), np.zeros((2, 4))])
    for k in range(4):
        pushed = []
        for side in (size, -size):
            disturbed(sim, speed, side * np.eye(4)[k])
            sim.begin()
            sim.forward()
            pushed.append(sim.data.qacc[[3, 7]] * (1.0, -1.0))
        found[2:, k] = (pushed[0] - pushed[1]) / (2 * size)
    return found


@benchmark(
    "whipple-bicycle",
    "Whipple's bicycle",
    source=SOURCE,
    allowed="central differences over 1e-5 rad: 1e-10 of the third derivatives (1e2) and rounding, 1e-12/1e-5: 1e-7",
)
def whipple_bicycle(data: Data) -> Result:
    """Two wheels of no width, frame and fork; nothing but hard contact with friction holds the wheels. Eigenvalues of
    the motion about upright at nine speeds from 0 to 10 m/s, from the accelerations after small disturbances: the
    largest error of the four."""
    sim = saltus.Simulation(bicycle(), contact="hard")
    found, reached = [], []
    for speed, wanted in EIGENVALUES.items():
        values = np.sort_complex(np.linalg.eigvals(flow_matrix(sim, speed)))
        error = float(np.max(np.abs(values - np.sort_complex(np.array(wanted)))))
        found.append(Check(f"{speed:g} m/s: eigenvalues, largest error", error, 0.0, 1e-7, "1/s"))
        reached.append(values.real)
    speeds = np.linspace(0, 10, 101)
    lines = np.array([np.sort_complex(np.linalg.eigvals(table_matrix(v))).real for v in speeds])
    curves = [Curve(f"λ{k + 1}, matrices of the paper", speeds, lines[:, k], "dashed") for k in range(4)]
    points = [Curve(f"λ{k + 1}, reached", list(EIGENVALUES), np.array(reached)[:, k], "points") for k in range(4)]
    return Result(found, Figure("speed (m/s)", "real part of the eigenvalues (1/s)", [*curves, *points]))


@benchmark(
    "whipple-weave",
    "Whipple's bicycle, weaving",
    source=SOURCE + "; the exponential of their matrix",
    allowed="terms of third order: disturbances of 1e-3, cubed, times their coefficients, up to 1e2; " + CONTROLLED,
)
def whipple_weave(data: Data) -> Result:
    """The benchmark bicycle at 5 m/s, which stabilises itself, after a lean of 1e-3 rad: lean and steer over 2 s."""
    sim = saltus.Simulation(bicycle(), contact="hard")
    first = [1e-3, 0.0, 0.0, 0.0]
    disturbed(sim, 5.0, first)
    run = sim.run(2.0, sample=0.02, progress=False)
    w, x, y, z = run.qpos[:, 3:7].T
    lean, steer = np.arcsin(2 * (y * z + w * x)), -run.qpos[:, 8]
    wanted = np.array([expm(table_matrix(5.0) * t) @ first for t in run.time])
    found = [
        Check("lean, largest error", float(np.max(np.abs(lean - wanted[:, 0]))), 0.0, 1e-7, "rad"),
        Check("steer, largest error", float(np.max(np.abs(steer - wanted[:, 1]))), 0.0, 1e-7, "rad"),
        Check("events", float(len(run.events)), 0.0, 0.0),
    ]
    curves = [Curve("lean", run.time, lean), Curve("steer", run.time, steer)]
    curves += [
        Curve(f"{name}, linear", run.time[::5], wanted[::5, k], "marks") for k, name in enumerate(("lean", "steer"))
    ]
    return Result(found, Figure("t (s)", "rad", curves))
