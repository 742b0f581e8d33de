"""Actuators of every law and transmission in plain Python: forces, states, and their shares in implicit methods.

Law: MuJoCo 4.0's forces, rates, moment arms and steps at random states. Muscles with a rigid tendon by the geometry of
fibre and tendon; the curves that they read are compared with OpenSim's elsewhere. Sides of tendons before MuJoCo 4.0 by
points of contact, which the library does not use: it compares angles.

Tolerances: forces are differences of terms up to a thousand times larger, each right to 1e-14; moment arms, lengths and
their sums are right to some hundred roundings.
"""

import mujoco
import numpy as np
import pytest
from helpers import actuators, hill, oracle
from helpers.actuators import GENERAL, LAWS, ORIENTATIONS, SO3, TRANSMISSIONS, document, largest_error
from helpers.mechanisms import with_option
from helpers.plain_python import plain_python

import saltus


@pytest.fixture(autouse=True)
def _plain():
    with plain_python():
        yield


HINGE = {"hinge": TRANSMISSIONS["hinge"]}
SOME = {name: TRANSMISSIONS[name] for name in ("weak tendon", "rotation", "slider-crank")}
CIRCULAR = {"ball in parent": TRANSMISSIONS["ball in parent"]}
SERVOS = {name: law for name, law in LAWS.items() if any(x in name for x in ("position", "pid", "integral", "slew"))}
BALL = {"ball": ORIENTATIONS["ball joint"]}
SHORT = {"short": "cranksite='toe' slidersite='hand' cranklength='.02' gear='0.8'"}
#: Elements of <actuator>, and how large their controls and activations are.
SETS = {
    "laws": (actuators.actuators(LAWS, HINGE), 1.0),
    "laws elsewhere": (actuators.actuators(LAWS, SOME), 1.0),
    "mixtures": (actuators.actuators(GENERAL, HINGE), 1.0),
    "transmissions": (actuators.actuators({"position": LAWS["position"]}, TRANSMISSIONS), 1.0),
    "cranks that reach nothing": (actuators.actuators({"position": LAWS["position"]}, SHORT), 1.0),
    "setpoints on a circle": (actuators.actuators(SERVOS | GENERAL, CIRCULAR), 20.0),
    "orientations": (actuators.actuators(SO3, ORIENTATIONS), 1.0),
    "far orientations": (actuators.actuators(SO3, ORIENTATIONS), 20.0),
    "an orientation with states": (actuators.actuators({"integrated": SO3["integrated"]}, BALL), 1.0),
    "orientations at rest": (actuators.actuators(SO3, ORIENTATIONS), 0.0),
}
SETS["groups that are off"] = ([x.replace(" ", f" group='{k % 4}' ", 1) for k, x in enumerate(SETS["laws"][0])], 1.0)


def mujocos_states(xml, count, size=1.0, seed=0, speed=1.0):
    """A simulation at random states, one after the other, MuJoCo's data at the same, everything computed."""
    sim, rng = saltus.Simulation(xml), np.random.default_rng(seed)
    m = oracle.reference(sim.model)
    for _ in range(count):
        state = oracle.random_state(m, rng, speed=speed, force=0.0)
        state["ctrl"] *= size
        state["act"] = size * rng.normal(size=m.na)
        for name, value in state.items():
            getattr(sim, name)[:] = value
        sim.forward()
        yield sim, oracle.forward(m, state)


@pytest.mark.parametrize("name", SETS)
def test_forces(name):
    elements, size = SETS[name]
    option = '<option actuatorgroupdisable="1 3"/>' if name == "groups that are off" else "<option/>"
    for sim, d in mujocos_states(with_option(document(elements), option), 2, size, speed=2.0):
        m, found = d.model, sim.data
        for field in ("actuator_length", "actuator_velocity"):
            assert largest_error(getattr(found, field), getattr(d, field)) < 1e-11, field
        for field in ("actuator_force", "act_dot"):
            wanted = getattr(d, field).copy()
            if field == "act_dot":  # MuJoCo has rates of groups that are off, too, but does not use them
                wanted *= np.repeat(1 - (m.opt.disableactuator >> m.actuator_group & 1), m.actuator_actnum)
            error = np.abs(getattr(found, field) - wanted) / np.maximum(np.abs(wanted), 1e-3)
            assert np.max(error, initial=0.0) < 1e-9, (field, np.argmax(error))
        np.testing.assert_allclose(found.actuator_moment, actuators.dense_moment(m, d), rtol=0, atol=1e-11)
        for field in ("qfrc_actuator", "qacc"):
            assert largest_error(getattr(found, field), getattr(d, field)) < 1e-11, field


@pytest.mark.parametrize("where", [-1.2, -0.5, 0.0, 0.3, 0.6, 1.0, 1.4, 2.0, 3.0])
def test_curves_of_muscles(where):
    """Lengths and velocities over all pieces of the curves."""
    laws = {name: law for name, law in LAWS.items() if "muscle" in name}
    sim = saltus.Simulation(document(actuators.actuators(laws, HINGE)))
    m = oracle.reference(sim.model)
    d, hinge = mujoco.MjData(m), sim.model.id("joint", "hinge")
    for k, speed in enumerate((-4.0, -1.5, -0.3, 0.0, 0.2, 0.9, 4.0)):
        d.qpos[m.jnt_qposadr[hinge]], d.qvel[m.jnt_dofadr[hinge]] = where, speed
        d.act[:], d.ctrl[:] = (-0.2, 0.0, 0.4, 1.0, 1.2)[k % 5], (0.0, 0.45, 1.0)[k % 3]
        mujoco.mj_forward(m, d)
        sim.qpos[:], sim.qvel[:], sim.act[:], sim.ctrl[:] = d.qpos, d.qvel, d.act, d.ctrl
        sim.forward()
        np.testing.assert_allclose(sim.data.actuator_force, d.actuator_force, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(sim.data.act_dot, d.act_dot, rtol=1e-11, atol=1e-12)


# ---------------------------------------------------------------- steps

#: Of forces at a limit MuJoCo's derivatives depend on rounding.
SMOOTH = {name: law for name, law in SO3.items() if "forcerange" not in law}
WEAK = "<velocity tendon='weak' kv='{}'/><dcmotor tendon='weak' resistance='1.3' motorconst='0.4 0.5'/>"
OTHERS = ["<position joint='hinge' kp='9000' kv='4'/>", "<velocity tendon='fixed' kv='50'/>"]
OTHERS += ["<velocity tendon='weak' kv='90' group='1'/>"]  # off
STEPS = {
    "laws": actuators.actuators(LAWS, HINGE),
    "laws on a tendon": actuators.actuators(LAWS, {"fixed tendon": TRANSMISSIONS["fixed tendon"]}),
    "mixtures": actuators.actuators(GENERAL, HINGE),
    "transmissions": actuators.actuators({"position": LAWS["position"]}, TRANSMISSIONS),
    "circles": actuators.actuators(SERVOS, CIRCULAR),
    "orientations": actuators.actuators(SMOOTH, ORIENTATIONS),
    "groups that are off": SETS["groups that are off"][0],
    "a free joint": ["<position joint='hinge' kp='2' kv='1'/>", "<velocity joint='hinge' kv='.3'/>"],
    "a joint at its limit": ["<position joint='hinge' kp='9000' kv='30'/>", "<velocity joint='hinge' kv='.3'/>"],
    "a free tendon": [WEAK.format(0.2)],
    "a tendon at its limit": [WEAK.format(90)],
    "a free tendon beside others": [WEAK.format(0.2), *OTHERS],
    "a tendon at its limit beside others": [WEAK.format(90), *OTHERS],
}


def assert_mujocos_steps(xml, method, close, size=1.0):
    sim, rng = (
        saltus.Simulation(with_option(xml, f'<option timestep="0.004" integrator="{method}"/>')),
        np.random.default_rng(3),
    )
    m = oracle.reference(sim.model)
    d = mujoco.MjData(m)
    mujoco.mj_integratePos(m, d.qpos, 0.2 * rng.normal(size=m.nv), 1.0)
    d.qvel[:], d.act[:] = 0.3 * rng.normal(size=m.nv), size * np.abs(0.3 * rng.normal(size=m.na))
    sim.qpos[:], sim.qvel[:], sim.act[:] = d.qpos, d.qvel, d.act
    for _ in range(3):
        sim.ctrl[:] = d.ctrl[:] = 0.3 * rng.normal(size=m.nu)
        mujoco.mj_step(m, d)
        sim.step()
        for field in ("qpos", "qvel", "act"):
            assert largest_error(getattr(sim, field), getattr(d, field), 1.0) < close, field


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("method", ["Euler", "implicit", "implicitfast"])
def test_steps(method, name):
    xml = document(STEPS[name])
    if "group" in xml:
        xml = with_option(xml, '<option actuatorgroupdisable="1 3"/>')
    assert_mujocos_steps(xml, method, 1e-11)


@pytest.mark.parametrize(("method", "close"), [("Euler", 1e-11), ("implicitfast", 1e-11), ("RK4", 1e-5)])
@pytest.mark.parametrize("size", [10.0, 20.0, 30.0])
def test_setpoints_of_many_turns_end_as_the_nearest(method, close, size):
    """The representative of a rotation, or of an angle, that is kept at the end of a step."""
    kept = {name: SO3[name] for name in ("integrated", "early")}
    elements = actuators.actuators(kept, ORIENTATIONS)
    elements += actuators.actuators({"intvelocity": LAWS["intvelocity"].replace("-1.5 1", "-90 90")}, CIRCULAR)
    assert_mujocos_steps(document(elements), method, close * size, size)


@pytest.mark.parametrize("method", ["Euler", "implicit", "implicitfast"])
def test_steps_of_points_that_a_damper_joins(method):
    """Rows of the inertia that are known to be diagonal take only the diagonal of the damping."""
    slides = "".join(f'<joint type="slide" axis="{axis}" damping=".1"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    bodies = "".join(
        f'<body pos="{k} {k * k} 0">{slides}<geom size=".1" mass="{1 + k}" contype="0"/><site name="s{k}"/></body>'
        for k in range(3)
    )
    arm = '<body pos="0 3 0"><joint axis="0 1 0"/><joint axis="1 0 0"/><geom size=".1" pos=".2 .1 .3"/><site name="s3"'
    path = "".join(f'<site site="s{k}"/>' for k in (0, 1, 3, 2))
    xml = f"""<mujoco><option/><worldbody>{bodies}{arm} pos=".1 .2 .3"/></body></worldbody><tendon><spatial
    name="t" damping="40" stiffness="7">{path}</spatial></tendon><actuator><velocity tendon="t" kv="9"/></actuator>
    </mujoco>"""
    assert_mujocos_steps(xml, method, 1e-11)


@pytest.mark.parametrize("strong", [0.01, 500.0])
def test_slopes_of_orientation_servos_end_at_their_limit(strong):
    """There a step of an implicit method is explicit: v + h a, of a body whose forces do not depend on velocities."""
    servo = f"<orientation joint='ball' kp='40' kv='6' ctrlrange='-1 1' forcerange='0 {strong}'/>"
    xml = f"""<mujoco><option gravity="0 0 0" timestep=".004" integrator="implicitfast"/><worldbody><body>
    <joint name="ball" type="ball"/><geom size=".1" mass="1" contype="0"/></body></worldbody><actuator>{servo}
    </actuator>
    </mujoco>"""
    sim = saltus.Simulation(xml)
    sim.qvel[:], sim.ctrl[:] = [0.3, -0.5, 0.2], [0.9, -0.4, 0.6]
    v, a = sim.qvel.copy(), sim.data.qacc.copy()
    sim.step()
    inertia = 0.4 * 0.1**2
    assert np.linalg.norm(inertia * a) == pytest.approx(strong, rel=1e-9) or strong > 1.0
    implicit = 1.0 if strong < 1.0 else inertia / (inertia + 0.004 * 6.0)
    np.testing.assert_allclose(sim.qvel, v + 0.004 * implicit * a, rtol=1e-11)


@pytest.mark.parametrize("name", ["mixtures", "circles", "orientations"])
def test_steps_of_runge_kutta(name):
    """MuJoCo's method turns bodies in another chart: to the method's error. Exact filters are none here."""
    exact = "filterexact", "timeconst"
    elements = [element for element in STEPS[name] if not any(word in element for word in exact)]
    assert_mujocos_steps(document(elements), "RK4", 1e-5)


# ---------------------------------------------------------------- muscles with a rigid tendon

RIGID = saltus.HillMuscle(hill.FORCE, hill.OPTIMAL, hill.SLACK, hill.PENNATION, rigid_tendon=True)
ALONG = hill.OPTIMAL * np.array([0.3, 0.45, 0.6, 0.9, 1.1, 1.5])


def rigid_pull(model, activation, along, speed):
    """Tension (N) where width and tendon keep their lengths; no push, and no pull of a slack path."""
    length = np.hypot(along, hill.OPTIMAL * np.sin(hill.PENNATION))
    v = speed * along / length / (hill.OPTIMAL * RIGID.max_contraction_velocity)
    active, passive = (hill.curve(model, name, length / hill.OPTIMAL)[0][0] for name in ("active", "passive"))
    fibre = min(activation, 1.0) * active * hill.curve(model, "velocity", v)[0][0] + passive + RIGID.fiber_damping * v
    slack = along < 0.35 * hill.OPTIMAL
    return 0.0 if slack else hill.FORCE * max(fibre, 0.0) * along / length


@pytest.mark.parametrize("speed", [-0.9, -0.1, 0.01, 0.2, 1.5])
@pytest.mark.parametrize("activation", [0.0, 0.4, 1.3])
def test_muscles_with_a_rigid_tendon(activation, speed):
    """Forces, and a step v + h F / (m + h dF/dv) with the slope of the tension F by differences."""
    h, mass, eps = 1e-3, 0.5, 1e-5
    sim, pulled = saltus.Simulation(hill.load(RIGID, mass), "implicitfast", timestep=h), 0
    for along in ALONG:
        sim.qpos[0], sim.qvel[0], sim.act[0], sim.ctrl[0] = hill.SLACK + along, speed, activation, activation
        sim.forward()
        wanted = rigid_pull(sim.model, activation, along, speed)
        assert -sim.data.actuator_force[0] == pytest.approx(wanted, rel=1e-12, abs=1e-10)
        pulled += wanted > 0.0
        ends = (rigid_pull(sim.model, activation, along, speed + sign * eps) for sign in (1, -1))
        slope = np.subtract(*ends) / (2 * eps)
        sim.step()
        assert sim.qvel[0] == pytest.approx(speed - h * wanted / (mass + h * slope), abs=1e-7)
    assert pulled >= 2 or speed < 0.0


@pytest.mark.parametrize("off", [False, True])
def test_fibres_of_muscles_that_are_off_stay(off):
    muscles = {"muscle": saltus.HillMuscle(hill.FORCE, hill.OPTIMAL, hill.SLACK, hill.PENNATION)}
    xml = f"""<mujoco><option timestep="1e-3" actuatorgroupdisable="{2 if off else 3}"/><worldbody><site name="o"/>
    <body><joint type="slide" axis="1 0 0"/><geom size=".02" mass="20"/><site name="i"/></body></worldbody><tendon>
    <spatial name="path"><site site="o"/><site site="i"/></spatial></tendon><actuator>
    <general name="muscle" tendon="path" group="2"/></actuator></mujoco>"""
    sim = saltus.Simulation(saltus.load(xml, muscles=muscles), "rk4")
    sim.qpos[0], sim.act[:], sim.ctrl[0] = hill.PATH, [0.5, 0.9], 1.0
    sim.step()
    assert (sim.act[1] == 0.9) == off and (sim.data.actuator_force[0] == 0.0) == off


GIVEN = """<mujoco><worldbody><body name="trunk" gravcomp=".4"><joint name="knee" axis="0 1 0" {by}
actuatorfrcrange="-2 3"/><geom size=".1" pos=".2 0 0" mass="1"/><body pos=".4 0 0" gravcomp="1">
<joint name="ankle" axis="0 1 0" {by}/><joint name="turn" axis="1 0 0"/><geom size=".1" pos=".2 .1 0" mass="2"/></body>
</body></worldbody><actuator><motor joint="knee" gear="40"/><motor joint="ankle" forcerange="-1 1"/>{more}</actuator>
</mujoco>"""


@pytest.mark.parametrize("by", ["", 'actuatorgravcomp="true"'])
@pytest.mark.parametrize("more", ["", '<general joint="turn" dyntype="filter" dynprm=".1"/>'])
def test_gravity_compensated_by_actuators_or_not(by, more):
    for sim, d in mujocos_states(GIVEN.format(by=by, more=more), 3):
        for field in ("qfrc_gravcomp", "qfrc_passive", "qfrc_actuator", "qacc"):
            np.testing.assert_allclose(getattr(sim.data, field), getattr(d, field), atol=1e-11, err_msg=field)


# ---------------------------------------------------------------- sides of tendons before MuJoCo 4.0

SIDES = """<mujoco><worldbody><body name="p" mocap="true"><site name="p"/></body>
<body name="q" mocap="true"><site name="q"/></body><body name="side" mocap="true"><site name="side"/></body>
<body><joint type="slide"/><geom name="rod" type="cylinder" size=".3 1"/></body></worldbody><tendon>
<spatial><site site="p"/><geom geom="rod" sidesite="side"/><site site="q"/></spatial></tendon></mujoco>"""
R = 0.3


def meet(a, b, c, e):
    """Whether segments ab and ce have a point in common."""
    s = np.linalg.solve(np.transpose([b - a, c - e]), c - a)
    return (s >= 0.0).all() and (s <= 1.0).all()


def by_the_side(p, q, side):
    """Planar length from p to q by way of the circle, by points of contact; straight where it clears it."""
    n = np.array([side[0], side[1]])
    s = np.clip(p @ (p - q) / ((q - p) @ (q - p)), 0.0, 1.0)
    near = p + s * (q - p)
    if near @ near > R * R and n @ near >= 0.0:
        return np.linalg.norm(q - p)
    found = []
    for way in (1.0, -1.0):
        points = []
        for x, sign in ((p, way), (q, -way)):
            angle = np.arctan2(x[1], x[0]) + sign * np.arccos(R / np.linalg.norm(x))
            points.append(R * np.array([np.cos(angle), np.sin(angle)]))
        first, last = points
        if not meet(p, first, q, last):
            turn = way * (np.arctan2(last[1], last[0]) - np.arctan2(first[1], first[0])) % (2 * np.pi)
            middle = first + last
            reach = sum(np.sqrt(x @ x - R * R) for x in (p, q)) + R * turn
            found.append((n @ middle / np.linalg.norm(middle), reach))
    return max(found)[1] if found else np.linalg.norm(q - p)


def test_sides_by_the_half_plane():
    """Of both ways round, the one whose points of contact lie towards the side site."""
    sim, rng, around, other = (
        saltus.Simulation(saltus.load(SIDES, semantics="mujoco-3.17")),
        np.random.default_rng(1),
        0,
        0,
    )
    for k in range(150):
        places = rng.normal(size=(3, 3)) * ((0.5, 0.5, 0.6) if k % 3 else (0.35, 0.35, 0.1))
        if (np.linalg.norm(places[:, :2], axis=1) < 1.02 * R).any():
            continue
        sim.data.mocap_pos[:] = places
        sim.forward()
        p, q, side = places[:, :2]
        flat = by_the_side(p, q, side)
        wanted = np.hypot(flat, places[1, 2] - places[0, 2])
        assert sim.data.ten_length[0] == pytest.approx(wanted, rel=1e-12), k
        around += flat > np.linalg.norm(q - p) * (1 + 1e-9)
        other += abs(flat - by_the_side(p, q, -side)) > 1e-9
    assert around > 20 and other > 20


# ---------------------------------------------------------------- controls that are held over steps

HELD = """<mujoco><option timestep=".01" gravity="0 0 0"/><worldbody>
<body><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2" contype="0"/></body>
<body><joint name="y" type="slide" axis="0 1 0"/><geom size=".1" mass="3" contype="0"/></body></worldbody>
<tendon><fixed name="t"><joint joint="x" coef="1"/><joint joint="y" coef="-.5"/></fixed></tendon>
<actuator><motor name="of x" joint="x" gear="2"/><motor name="of t" tendon="t"/>
<general joint="y" dyntype="integrator"/></actuator>
<sensor><jointpos joint="x"/></sensor></mujoco>"""
H, KP, KI, KD, TARGET = 0.01, 5.0, 3.0, 0.7, np.array([0.4, -0.3])
MASS, ARMS = np.array([2.0, 3.0]), np.array([[2.0, 0.0], [1.0, -0.5]])  # kg; generalised force of each control


@pytest.mark.parametrize("contact", ["soft", "hard"])
@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dopri5"])
def test_a_pid_that_is_held(integrator, contact):
    """Motion at what acts within each step in closed form; integrals of the error by Euler's method.

    Polynomials of third degree, which rk4 and dopri5 integrate exactly.
    """
    law = saltus.PID(KP, KI, KD, target=TARGET.tolist() + [0.0], hold=True, actuators=["of x", "of t"])
    sim = saltus.Simulation(HELD, integrator, contact=contact, control=law)
    q, v, integral, own = np.array([0.1, 0.2]), np.array([-0.3, 0.5]), np.zeros(2), 0.6
    sim.qpos, sim.qvel, sim.ctrl[2], sim.act[0] = q, v, 0.8, own
    for _ in range(6):
        length, speed = np.array([q[0], q[0] - 0.5 * q[1]]), np.array([v[0], v[0] - 0.5 * v[1]])
        u = KP * (TARGET - length) + KI * integral - KD * speed
        integral = integral + H * (TARGET - length)
        # an integrator's state grows at its constant rate: force own + 0.8 t on y
        fixed, jerk = (u @ ARMS + [0.0, own]) / MASS, np.array([0.0, 0.8]) / MASS
        q, v = q + H * v + H**2 * (fixed / 2 + H * jerk / 6), v + H * (fixed + H * jerk / 2)
        own += 0.8 * H
        sim.step()
        close = 1e-13 if integrator == "rk4" else 2e-5 if integrator == "midpoint" else 1e-9
        np.testing.assert_allclose([*sim.qpos, *sim.qvel], [*q, *v], rtol=0, atol=close)
        np.testing.assert_allclose(sim.ctrl[:2], u, rtol=0, atol=30 * close)
        np.testing.assert_allclose(sim.act[[0, -3, -2]], [own, *integral], rtol=0, atol=close)
