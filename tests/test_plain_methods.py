"""Single steps of fixed size in plain Python, each against the method's equations on MuJoCo's accelerations.

Law: Runge-Kutta methods of Munthe-Kaas, explicit on (q, v), and implicit on (q, p = M v) (Hairer, Lubich & Wanner,
Geometric Numerical Integration (2006), IV.8, VI.4); Verlet's methods; Simo & Tarnow's with its midpoint. Accelerations,
inertia and rates of activations are MuJoCo's, dexp is the series of Iserles et al., Lie-group methods (2000), (B.8).

Tolerances: the same numbers but for rounding; 1e-9 where dM/dt v is a difference of MuJoCo's inertia.
"""

import mujoco
import numpy as np
import pytest
from helpers import oracle
from helpers.discrete_steps import RIGID, assert_same_steps
from helpers.plain_python import fields, plain, plain_python

import saltus
from saltus.integrate.implicit import secants

H = 0.02
#: Every kind of joint, springs and dampers, tendons with inertia, and activations with a limit that a step reaches.
WORLD = """<mujoco><option timestep=".02" gravity="1 -2 -9"/><default><geom contype="0" conaffinity="0"/></default>
<worldbody><body><joint name="x" type="slide" axis="1 2 -1" stiffness="3" damping=".4"/><geom size=".1" mass="1"/>
<body pos=".2 0 .1"><joint name="d" type="ball" pos="-.1 .1 .05" damping=".2"/>
<geom type="box" size=".1 .2 .05" pos=".1 0 .2" mass="1.5"/><site name="s" pos=".1 .1 .2"/>
<body pos=".3 .1 0"><joint name="e" axis="1 0 2" stiffness="1"/><geom type="box" size=".1 .03 .05" pos="0 .1 .1"
mass=".7"/></body></body></body>
<body pos="2 0 1"><freejoint/><geom type="box" size=".1 .2 .05" mass="1" pos=".03 .02 0"/>
</body><site name="o" pos="0 1 1"/></worldbody>
<tendon><fixed armature=".3"><joint joint="x" coef="1"/><joint joint="e" coef="-.6"/></fixed>
<spatial armature=".4" stiffness="2" damping=".1"><site site="o"/><site site="s"/></spatial></tendon>
<actuator><general joint="x" dyntype="filter" dynprm=".3" gainprm="9"/>
<general joint="e" dyntype="integrator" gainprm="2" actlimited="true" actrange="-.1 .21"/></actuator></mujoco>"""
GAUSS = saltus.ButcherTableau([[0.25, 0.25 - 3**0.5 / 6], [0.25 + 3**0.5 / 6, 0.25]], [0.5, 0.5], name="gauss", order=4)
EXPLICIT = {
    "explicit_euler": ([[0.0]], [1.0]),
    "midpoint": ([[0.0, 0.0], [0.5, 0.0]], [0.0, 1.0]),
    "rk4": ([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1.0, 0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


class World:
    """MuJoCo's equations of `WORLD`, and a simulation at the same state in motion."""

    def __init__(self, integrator, xml=WORLD, **options):
        self.sim, rng = saltus.Simulation(xml, integrator, **options), np.random.default_rng(3)
        self.m = oracle.reference(self.sim.model)
        self.d = mujoco.MjData(self.m)
        self.q, self.v = self.moved(self.m.qpos0, 0.3 * rng.normal(size=self.m.nv)), 2.0 * rng.normal(size=self.m.nv)
        self.z, self.u = np.array([0.3, 0.2])[: self.m.na], np.array([0.7, 1.0])[: self.m.nu]
        self.sim.qpos[:], self.sim.qvel[:], self.sim.act[:], self.sim.ctrl[:] = self.q, self.v, self.z, self.u
        kinds = self.m.jnt_type, self.m.jnt_dofadr
        self.turns = [i + 3 * (kind == oracle.FREE) for kind, i in zip(*kinds, strict=True) if kind <= oracle.BALL]

    def moved(self, q, by):
        out = q.copy()
        mujoco.mj_integratePos(self.m, out, by, 1.0)
        return out

    def rates(self, q, v, z):
        """Accelerations and rates of activations."""
        d = self.d
        d.qpos[:], d.qvel[:], d.act[:], d.ctrl[:] = q, v, z, self.u
        mujoco.mj_forward(self.m, d)
        return d.qacc.copy(), d.act_dot.copy()

    def inertia(self, q):
        self.rates(q, self.v, self.z)
        return oracle.full_inertia(self.m, self.d)

    def momentum_rate(self, q, v, z):
        """d(M v)/dt = M a + dM/dt v."""
        a, eps = self.rates(q, v, z)[0], 1e-5
        change = (self.inertia(self.moved(q, eps * v)) - self.inertia(self.moved(q, -eps * v))) / (2 * eps)
        return self.inertia(q) @ a + change @ v

    def turned(self, turn, rate, invert=False):
        """dexp(turn) rate on joints that turn, or its inverse."""
        out = rate.copy()
        for i in self.turns:
            x, y, z = turn[i : i + 3]
            cross, power, total = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]), np.eye(3), np.eye(3)
            for k in range(2, 20):
                power = power @ -cross / k
                total = total + power
            out[i : i + 3] = np.linalg.solve(total, rate[i : i + 3]) if invert else total @ rate[i : i + 3]
        return out

    def check(self, q, v, z, close=1e-12):
        """A step of the simulation ends there; activations within their limits."""
        self.sim.step()
        limited = np.clip(z, [-np.inf, -0.1][: len(z)], [np.inf, 0.21][: len(z)])
        np.testing.assert_allclose(oracle.difference(self.m, q, self.sim.qpos), 0.0, atol=close)
        np.testing.assert_allclose(self.sim.qvel, v, atol=close * np.abs(v).max())
        np.testing.assert_allclose(self.sim.act, limited, atol=close)
        return limited


def mean(weights, values):
    return sum((c * x for c, x in zip(weights, values, strict=False)), 0.0 * values[0])


@pytest.mark.parametrize("name", EXPLICIT)
def test_explicit_runge_kutta(name):
    w, (a, b) = World(name), EXPLICIT[name]
    slopes, gains, rates = [0.0 * w.v], [0.0 * w.v], [0.0 * w.z]
    for s, row in enumerate([*a, b]):
        q, v, act = w.moved(w.q, H * mean(row, slopes)), w.v + H * mean(row, gains), w.z + H * mean(row, rates)
        acceleration, rate = w.rates(q, v, act)
        slope = w.turned(H * mean(row, slopes), v, invert=True)
        slopes, gains, rates = [*slopes[:s], slope], [*gains[:s], acceleration], [*rates[:s], rate]
    assert act[1] > 0.21
    w.check(q, v, act)


def test_velocity_verlet():
    w = World("velocity_verlet")
    a, rate = w.rates(w.q, w.v, w.z)
    q = w.moved(w.q, H * (w.v + 0.5 * H * a))
    after, rate_after = w.rates(q, w.v + H * a, w.z + H * rate)
    w.check(q, w.v + 0.5 * H * (a + after), w.z + 0.5 * H * (rate + rate_after))


def test_verlet():
    """The starting step, and the one after it."""
    w = World("verlet")
    q, v, act, going = w.q, w.v, w.z, None
    for _ in range(2):
        a, rate = w.rates(q, v, act)
        going = v + 0.5 * H * a if going is None else going + H * a
        q = w.moved(q, H * going)
        after, rate_after = w.rates(q, going + 0.5 * H * a, act + H * rate)
        v = going + 0.5 * H * after
        act = w.check(q, v, act + 0.5 * H * (rate + rate_after))


@pytest.mark.parametrize("name", ["implicit_midpoint", "gauss"])
def test_implicit_runge_kutta(name):
    """Slopes by fixed-point iteration, which contracts by h times the Lipschitz constant, 0.1 a turn."""
    w = World(GAUSS if name == "gauss" else name)
    a, b = (GAUSS.a, GAUSS.b) if name == "gauss" else ([[0.5]], [1.0])
    momentum = w.inertia(w.q) @ w.v
    slopes, rates, gains = [w.v] * len(b), [0.0 * w.v] * len(b), [0.0 * w.z] * len(b)
    for _ in range(16):
        ends = []
        for row in a:
            turn, act = H * mean(row, slopes), w.z + H * mean(row, gains)
            q = w.moved(w.q, turn)
            v = np.linalg.solve(w.inertia(q), momentum + H * mean(row, rates))
            ends.append((w.turned(turn, v, invert=True), w.momentum_rate(q, v, act), w.rates(q, v, act)[1]))
        slopes, rates, gains = zip(*ends, strict=True)
    q = w.moved(w.q, H * mean(b, slopes))
    v = np.linalg.solve(w.inertia(q), momentum + H * mean(b, rates))
    w.check(q, v, w.z + H * mean(b, gains), 1e-9)


def test_energy_momentum():
    """The midpoint rule, by fixed-point iteration, but for third order; its forces do the actuators' work."""
    away = []
    for h in (H, 0.5 * H):
        w = World("energy_momentum", timestep=h)
        act, a = w.z + 0.5 * h * w.rates(w.q, w.v, w.z)[1], 0.0 * w.v
        for _ in range(30):
            v = w.v + 0.5 * h * a
            a, rate = w.rates(w.moved(w.q, 0.5 * h * v), v, act)
        w.sim.step()
        away.append([*oracle.difference(w.m, w.moved(w.q, h * v), w.sim.qpos), *(w.v + h * a - w.sim.qvel)])
        np.testing.assert_allclose(w.sim.act, np.clip(w.z + h * rate, -np.inf, [np.inf, 0.21]), atol=1e-5)
    large, small = abs(np.array(away))
    assert np.all(small[large > 1e-6] < 0.16 * large[large > 1e-6]) and large.max() < 1e-2
    # hinges and slides move by the mean of their velocities
    mean = 0.5 * (w.v + w.sim.qvel)
    scalar = [0, 4]
    np.testing.assert_allclose(w.sim.qpos[[0, 5]] - w.q[[0, 5]], h * mean[scalar], atol=1e-14)
    limited = w.sim.act.copy()
    w.rates(w.moved(w.q, 0.5 * h * mean), mean, 0.5 * (w.z + limited))
    report = World("energy_momentum", timestep=h).sim.run(h, sample=h, ledger=True).energy_report()
    np.testing.assert_allclose(report["actuators"][-1], h * w.d.qfrc_actuator @ mean, rtol=1e-10)


#: Two branches, which a damped tendon joins with their trunk: M has no place for what couples them.
FORK = """<mujoco><option timestep=".02"/><default><geom contype="0" conaffinity="0" size=".05" mass=".1"/></default>
<worldbody><body><joint name="a" axis="0 1 0"/><geom pos="0 0 -.2"/><body pos=".1 0 -.3"><joint name="b" axis="0 1 0"/>
<geom pos="0 0 -.2"/></body><body pos="-.1 0 -.3"><joint name="c" axis="0 1 .5"/><geom pos="0 .1 -.2"/></body></body>
</worldbody><tendon><fixed damping="{damping}"><joint joint="a" coef="1"/><joint joint="b" coef="1"/>
<joint joint="c" coef="1"/></fixed></tendon></mujoco>"""


@pytest.mark.parametrize("damping", ["", "1e-3", "3"])
def test_moreau_jean(damping):
    """Three guesses of the velocity between; S as sparse as M, or diagonal if it made the sum indefinite."""
    xml = FORK.format(damping=damping) if damping else WORLD
    w = World("moreau_jean", xml, contact="hard")
    m, d, between, a = w.m, w.d, w.v, 0.0 * w.v
    q = w.moved(w.q, 0.5 * H * w.v)
    M, J = w.inertia(q), np.zeros((m.ntendon, m.nv))
    for t in range(m.ntendon):
        for k in range(m.ten_J_rowadr[t], m.ten_J_rowadr[t] + m.ten_J_rownnz[t]):
            J[t, m.ten_J_colind[k]] = d.ten_J[k]
    S = np.diag(m.dof_damping) + J.T @ np.diag(m.tendon_damping) @ J
    S *= M != 0.0
    if damping:
        S[1, 2] = S[2, 1] = 0.0
        lost = np.linalg.eigvalsh(M + 0.5 * H * S).min() < 0.0
        assert lost == (damping == "3")
        S = np.diag(np.diag(S)) if lost else S
    for _ in range(3):
        rate = w.rates(q, between, w.z)[1]
        force = d.qfrc_passive + d.qfrc_actuator - d.qfrc_bias
        a = np.linalg.solve(M + 0.5 * H * S, force + 0.5 * H * S @ a)
        between = w.v + 0.5 * H * a
    v = w.v + H * a
    w.check(w.moved(q, 0.5 * H * v), v, w.z + H * rate, 1e-11)


@pytest.mark.parametrize("name", RIGID)
def test_discrete(name):
    """MuJoCo's own, with its constraints at the end of a step and gyroscopic terms of free bodies."""
    assert assert_same_steps(RIGID[name], steps=2)[0] > 0


# ---------------------------------------------------------------- parts of implicit methods


@pytest.mark.parametrize("seed", range(4))
def test_steps_are_those_of_broydens_method(seed):
    """B += (y - B s) sᵀ / sᵀ s after each full step s with the change y of the residual (Broyden (1965)), densely."""
    rng, n = np.random.default_rng(seed), 4
    bodies = "".join('<body><joint type="slide"/><geom size=".1" contype="0"/></body>' for _ in range(n))
    sim = saltus.Simulation(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", "energy_momentum")
    m, d, view = fields(sim.engine.m), fields(sim.engine.d), sim.engine.d.views
    J, b, x, B = np.eye(n) + 0.2 * rng.normal(size=(n, n)), rng.normal(size=n), np.zeros(n), np.eye(n)
    for k in range(min(4, len(view["secant"]) // n)):
        residual = J @ x - b
        view["metric_change"][:n] = -residual  # of the simplified method, whose matrix is one
        plain(secants.improve_change)(m, d, k)
        wanted = np.linalg.solve(B, -residual)
        np.testing.assert_allclose(view["metric_change"][:n], wanted, rtol=1e-11, atol=1e-12)
        x = x + wanted
        B = B + np.outer(J @ x - b, wanted) / (wanted @ wanted)
    assert k > 1
