"""Friction with many contacts: given friction-contact problems, and balls that roll on a box that is pulled."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, checks, family

benchmark = family("friction")

G = 9.81
SICONOS = (
    "Siconos, collection of friction-contact problems (Apache 2.0); Acary, Brémond & Huber, 'On solving contact "
    "problems with Coulomb friction: formulations and numerical comparisons' (2018)"
)
SOLVED = "the solver's tolerance, 1e-10; what is solved in closed form, rounding"
RAISIM = (
    "SimBenchmark (leggedrobotics), rolling test: analytic accelerations; errors of MuJoCo's Newton solver there, "
    "0.00692691 (Euler) and 0.0027148 (RK4), and of Bullet, 5.7e-9"
)

# ---------------------------------------------------------------- given problems


def violation(W: NDArray[np.float64], q: NDArray[np.float64], mu: NDArray[np.float64], r: NDArray[np.float64]) -> float:
    """Violation of u = W r + q with cones and complementarity, relative to the largest entry of q or r.

    With de Saxcé's ũ = u + μ |u_T| n, r in the cone K and ũ in its dual, orthogonal: r is the projection of r - ũ on
    K; the projection is written out here for a cone of slope μ.
    """
    forces, u = r.reshape(-1, 3), (W @ r + q).reshape(-1, 3)
    worst = 0.0
    for mu_i, r_i, u_i in zip(mu, forces, u, strict=True):
        shifted = u_i + np.array([mu_i * np.hypot(u_i[1], u_i[2]), 0.0, 0.0])
        n, t = (r_i - shifted)[0], (r_i - shifted)[1:]
        size = np.linalg.norm(t)
        if size <= mu_i * n:
            nearest = np.array([n, *t])
        elif mu_i * size <= -n:
            nearest = np.zeros(3)
        else:
            normal = (n + mu_i * size) / (1 + mu_i**2)
            nearest = np.array([normal, *(mu_i * normal * t / size)])
        worst = max(worst, float(np.max(np.abs(r_i - nearest))))
    return worst / max(1.0, float(np.max(np.abs(q))), float(np.max(np.abs(r))))


@benchmark(
    "friction-block",
    "Pulled block as a friction-contact problem",
    source="closed form: μ N against the slip",
    allowed=SOLVED,
)
def friction_block(data: Data) -> Result:
    """One contact of 2 kg, W = 1/2, q = (-9.81, 3, 4): it slips along (3, 4)/5, for several μ."""
    q, frictions, found = np.array([-9.81, 3.0, 4.0]), [0.05, 0.1, 0.2, 0.4], []
    slips = []
    for mu in frictions:
        solution = saltus.friction_contact(np.eye(3) / 2, q, [mu])
        force = min(mu * 19.62, 10.0)
        names = [f"μ = {mu}: r{axis}" for axis in ("ₙ", "₁", "₂")]
        found += checks(names, solution.r, [19.62, -0.6 * force, -0.8 * force], 1e-12, "N s")
        slips.append(float(np.hypot(*solution.u[1:])))
    line = np.linspace(0, 0.4, 50)
    curves = [
        Curve("reached", frictions, slips, "points"),
        Curve("closed form", line, np.maximum(5 - 9.81 * line, 0), "dashed"),
    ]
    return Result(found, Figure("μ", "slip (m/s)", curves))


@benchmark(
    "friction-siconos-small", "Siconos' smallest problem", source=SICONOS + ", FrictionContact3D_1c", allowed=SOLVED
)
def siconos_small(data: Data) -> Result:
    """One contact with a full matrix W; the published solution has a residual of 4e-16."""
    W = np.array([[15.0, -1.0, -2.0], [-1.0, 14.0, 1.0], [-2.0, 1.0, 16.0]])
    q, mu = np.array([-1.0, 2.0, 3.0]), np.array([0.1])
    solution = saltus.friction_contact(W, q, mu)
    r = [0.06569568289773832, -0.00367861490680676, -0.005443070813559288]
    u = [2.220446049250313e-16, 1.8773606375934078, 2.777840886280768]
    found = checks(["rₙ", "r₁", "r₂"], solution.r, r, 1e-10, "N s")
    found += checks(["uₙ", "u₁", "u₂"], solution.u, u, 1e-9, "m/s")
    found.append(Check("violation of the conditions", violation(W, q, mu, solution.r), 0.0, 1e-10))
    turn = np.linspace(0, 2 * np.pi, 100)
    cone = mu[0] * solution.r[0]
    curves = [
        Curve("edge of the cone", cone * np.cos(turn), cone * np.sin(turn), "dashed"),
        Curve("published", [r[1]], [r[2]], "marks"),
        Curve("reached", [0, solution.r[1]], [0, solution.r[2]]),
    ]
    return Result(found, Figure("r₁ (N s)", "r₂ (N s)", curves, equal=True))


@benchmark(
    "friction-siconos",
    "Siconos' collection",
    source=SICONOS,
    allowed="the problems' own criterion: 1e-10; forces 1e-9",
    slow=True,
)
def siconos(data: Data) -> Result:
    """Problems friction/*.npz in the folder of --data (W, q, mu and a solution r): the conditions are met, and
    forces are those of the solution where W has full rank."""
    found, sizes, reached = [], [], []
    for path in data.files("friction/*.npz"):
        with np.load(path) as given:
            W, q, mu, r = (given[name] for name in ("W", "q", "mu", "r"))
        solution = saltus.friction_contact(W, q, mu)
        sizes.append(len(mu))
        reached.append(violation(W, q, mu, solution.r))
        found.append(Check(f"{path.stem}: violation", reached[-1], 0.0, 1e-10))
        values = np.linalg.svd(W, compute_uv=False)
        if values[-1] > 1e-11 * values[0]:
            error = float(np.max(np.abs(solution.r - r)) / np.max(np.abs(r)))
            found.append(Check(f"{path.stem}: forces", error, 0.0, 1e-9))
    shown = np.maximum(reached, 1e-18)
    return Result(found, Figure("contacts", "violation", [Curve("reached", sizes, shown, "points")], log_y=True))


# ---------------------------------------------------------------- SimBenchmark's rolling test

PULLED = (150 - 0.4 * 35 * G) / (10 + 25 * 2 / 7)  # m/s², of the box; of the balls 2/7 of that
ALONG = np.array([0.5, 0.8660254, 0.0])


def rolling() -> str:
    """A box of 10 kg with 25 balls on it."""
    balls = "".join(
        f'<body pos="{x} {y} 1.5"><freejoint/>'
        '<geom type="sphere" size="0.5" mass="1" friction="0.8 0 0" priority="1"/></body>'
        for x in range(-4, 5, 2)
        for y in range(-4, 5, 2)
    )
    return f"""<mujoco><option timestep="0.001"/><worldbody>
      <geom type="plane" size="50 50 1" friction="0.4 0 0"/>
      <body pos="0 0 0.5"><freejoint/><geom type="box" size="10 10 0.5" mass="10" friction="0.4 0 0"/></body>{balls}
    </worldbody></mujoco>"""


def rolled(sim: saltus.Simulation, steps: int = 4000) -> tuple[float, NDArray[np.float64]]:
    """The mean over the steps of |Δv_box|² + |Δv_ball|², m²/s², and (t, v_box, v_ball) along the pull, now and then."""
    sim.xfrc_applied[1, :3] = 150 * ALONG
    total, path = 0.0, []
    for k in range(steps):
        sim.step()
        v = sim.qvel[: 26 * 6].reshape(26, 6)[:, :3]
        wanted = PULLED * sim.time * ALONG
        total += float(((v[0] - wanted) ** 2).sum() + ((v[13] - 2 / 7 * wanted) ** 2).sum())
        if k % 40 == 0:
            path.append((sim.time, v[0] @ ALONG, v[13] @ ALONG))
    return total / steps, np.array(path)


def _rolling(sim: saltus.Simulation, reference: float, tolerance: float) -> Result:
    error, path = rolled(sim)
    t, box, ball = path.T
    curves = [
        Curve("box", t, box),
        Curve("ball", t, ball),
        Curve("analytic", np.concatenate([t[::10]] * 2), PULLED * np.concatenate([t[::10], 2 / 7 * t[::10]]), "marks"),
    ]
    return Result(
        [Check("mean squared error", error, reference, tolerance, "m²/s²")], Figure("t (s)", "speed (m/s)", curves)
    )


@benchmark(
    "rolling-hard", "Rolling balls, hard contact", source=RAISIM, allowed="1e-6, what the best engines reach", slow=True
)
def rolling_hard(data: Data) -> Result:
    """A box of 10 kg, μ = 0.4, is pulled by 150 N for 4 s with 25 balls of 1 kg on it that roll, μ = 0.8; Moreau-Jean
    time stepping in steps of 1 ms. The box accelerates at 0.7385 m/s², the balls at 2/7 of that."""
    return _rolling(saltus.Simulation(rolling(), "moreau_jean", contact="hard"), 0.0, 1e-6)


@benchmark(
    "rolling-soft",
    "Rolling balls, soft contact",
    source=RAISIM,
    allowed="soft contact creeps: no worse than the published errors of MuJoCo with the same integrator",
    slow=True,
)
def rolling_soft(data: Data) -> Result:
    """A box of 10 kg pulled by 150 N with 25 rolling balls of 1 kg on it: soft contact, elliptic cones, steps of 1 ms,
    with semi-implicit Euler and with rk4."""
    model = rolling().replace("<option ", '<option cone="elliptic" ')
    euler = _rolling(saltus.Simulation(model, "euler"), 0.0, 0.00692691)
    rk4 = _rolling(saltus.Simulation(model, "rk4"), 0.0, 0.0027148)
    named = [
        replace(one.checks[0], name=f"{name}: mean squared error") for name, one in (("euler", euler), ("rk4", rk4))
    ]
    return Result(named, rk4.figure)
