"""Transmissions: belts, differentials, screws, cams, gears that are not round, ropes over posts and pulleys."""

import warnings
from typing import Any

import numpy as np

import saltus
from saltus.verify.case import Curve, Data, Figure, Result, checks, family, order_check, order_figure

benchmark = family("transmissions")

TIGHT = (1e-12, 1e-12)
SHIGLEY = "Budynas & Nisbett, Shigley's Mechanical Engineering Design, 11th ed. (2020)"
NORTON = "Norton, Cam Design and Manufacturing Handbook, 2nd ed. (2009)"
G = 9.81


def shafts(inertias: Any, rest: str, gravity: float = 0.0) -> str:
    """MJCF of shafts s1, s2, ... about one axis with motors, and what couples them."""
    body = '<body><joint name="s{0}" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="{1} {1} {1}"/></body>'
    bodies = "".join(body.format(k + 1, float(i)) for k, i in enumerate(inertias))
    motors = "".join(f'<motor joint="s{k + 1}"/>' for k in range(len(inertias)))
    return f"""<mujoco><compiler angle="radian"/><option gravity="0 0 {-gravity}" timestep="0.001"/><worldbody>
      {bodies}</worldbody><actuator>{motors}</actuator>{rest}</mujoco>"""


# ---------------------------------------------------------------- belts and differentials


@benchmark(
    "belt-acceleration",
    "Acceleration of two pulleys under a belt",
    source="closed form: α₁ = (τ₁ + i τ₂) / (I₁ + i² I₂), α₂ = i α₁, with i = r₁/r₂: effective inertia",
    allowed="rounding of the constrained solve",
)
def belt_acceleration(data: Data) -> Result:
    """I₁ = 0.01 kg m², I₂ = 0.2 kg m², a motor of 1 N m and a load of 0.8 N m; the belt as a joint equality."""
    names, found, wanted = [], [], []
    ratios = np.array([0.25, 0.5, 1.0, 2.0])
    for i in ratios:
        rest = f'<equality><joint joint1="s2" joint2="s1" polycoef="0 {i} 0 0 0"/></equality>'
        sim = saltus.Simulation(shafts([0.01, 0.2], rest), "dopri5", contact="hard")
        sim.ctrl[:] = 1.0, -0.8
        sim.forward()
        closed = (1.0 - 0.8 * i) / (0.01 + i * i * 0.2)
        names += [f"α₁, i = {i:g}", f"α₂, i = {i:g}"]
        found += sim.data.qacc.tolist()
        wanted += [closed, i * closed]
    line = np.linspace(0.2, 2.1, 60)
    curves = [Curve("closed form", line, (1.0 - 0.8 * line) / (0.01 + line * line * 0.2))]
    curves += [Curve("reached", ratios, found[::2], "marks")]
    return Result(checks(names, found, wanted, 1e-9, "rad/s²"), Figure("ratio", "α₁ (rad/s²)", curves))


@benchmark(
    "belt-vibration",
    "Vibration of two pulleys on an elastic belt",
    source="closed form: ω² = k (r₁²/I₁ + r₂²/I₂), two inertias on a spring",
    allowed="the integrator's tolerance, 1e-12 a step",
)
def belt_vibration(data: Data) -> Result:
    """r = 0.1 and 0.25 m, I = 0.01 and 0.2 kg m², k = 2000 N/m; a fixed tendon has the length r₁ θ₁ - r₂ θ₂."""
    rest = """<tendon><fixed name="belt" stiffness="2000" springlength="0"><joint joint="s1" coef="0.1"/>
      <joint joint="s2" coef="-0.25"/></fixed></tendon>"""
    omega = np.sqrt(2000.0 * (0.1**2 / 0.01 + 0.25**2 / 0.2))
    sim = saltus.Simulation(shafts([0.01, 0.2], rest), "dopri5", tolerance=TIGHT)
    sim.qpos[0] = 0.1
    track = sim.run(4.0 * np.pi / omega, 0.05 / omega)
    stretch = 0.1 * track.qpos[:, 0] - 0.25 * track.qpos[:, 1]
    closed = 0.01 * np.cos(omega * track.time)
    at = [60, 120, 200]
    curves = [Curve("closed form", track.time, closed, "dashed"), Curve("reached", track.time, stretch)]
    names = [f"stretch after {track.time[k]:.4f} s" for k in at]
    return Result(checks(names, stretch[at], closed[at], 1e-10, "m"), Figure("time (s)", "stretch (m)", curves))


@benchmark(
    "differential",
    "A differential under unequal loads",
    source="closed form of ω₁ + ω₂ = 2 ω₃: λ = (2 τ₃/I₃ - τ₁/I₁ - τ₂/I₂) / (1/I₁ + 1/I₂ + 4/I₃), torque of each wheel",
    allowed="rounding of the constrained solve",
)
def differential(data: Data) -> Result:
    """Wheels of 0.1 and 0.3 kg m², a cage of 0.05 kg m² with 5 N m; loads of 1 and 3, 4 and -1, 0 and 2.5 N m."""
    rest = """<tendon><fixed name="gears"><joint joint="s1" coef="1"/><joint joint="s2" coef="1"/>
      <joint joint="s3" coef="-2"/></fixed></tendon><equality><tendon tendon1="gears"/></equality>"""
    i1, i2, i3, drive = 0.1, 0.3, 0.05, 5.0
    names, found, wanted = [], [], []
    loads = [(1.0, 3.0), (4.0, -1.0), (0.0, 2.5)]
    for one, two in loads:
        sim = saltus.Simulation(shafts([i1, i2, i3], rest), "dopri5", contact="hard")
        sim.ctrl[:] = -one, -two, drive
        sim.forward()
        torque = (2.0 * drive / i3 + one / i1 + two / i2) / (1.0 / i1 + 1.0 / i2 + 4.0 / i3)
        names += [f"α of {of}, loads {one:g} and {two:g} N m" for of in ("wheel 1", "wheel 2", "cage")]
        found += sim.data.qacc.tolist()
        wanted += [(torque - one) / i1, (torque - two) / i2, (drive - 2.0 * torque) / i3]
    curves = [Curve("closed form", np.arange(9), wanted, "dashed"), Curve("reached", np.arange(9), found, "marks")]
    return Result(checks(names, found, wanted, 1e-9, "rad/s²"), Figure("case", "acceleration (rad/s²)", curves))


# ---------------------------------------------------------------- screws

PITCH_DIAMETER, LOAD = 0.02, 500.0  # m, N
ANGLE_OF_FRICTION = np.arctan(0.12)


@benchmark(
    "screw-torques",
    "Torques that raise and lower a load on a screw",
    source=f"{SHIGLEY}, section 8-2: F d/2 tan(λ + ρ) raises, F d/2 tan(λ - ρ) lowers; efficiency tan λ / tan(λ + ρ)",
    allowed="dry friction of the screw that a gear needs, 1e-9 N m, over its inertia",
)
def screw_torques(data: Data) -> Result:
    """Pitch diameter 20 mm, friction 0.12, leads of 2 to 40 mm, 500 N; torques by the screw's acceleration."""
    leads = np.array([0.002, 0.005, 0.01, 0.02, 0.04])
    angles = np.arctan(leads / (np.pi * PITCH_DIAMETER))
    inertia, found = 1e-4, {"raise": [], "lower": []}
    source = f"""<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="nut" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="{LOAD / G}" diaginertia="1 1 1"/></body></worldbody>
      <actuator><motor joint="nut"/></actuator></mujoco>"""
    for lead, angle in zip(leads, angles, strict=True):
        ratio = 2.0 * np.pi / lead
        up = float(np.tan(angle) / np.tan(angle + ANGLE_OF_FRICTION))
        down = float(np.tan(angle - ANGLE_OF_FRICTION) / np.tan(angle))
        gear = saltus.Gear(ratio, up, down, stiffness=1e7, rotor_inertia=inertia)
        model = saltus.drive(source, "nut", gear)
        for name, speed in (("raise", 1.0), ("lower", -1.0)):
            sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=TIGHT)
            sim.qfrc_applied[0] = -LOAD
            sim.qpos[1], sim.qvel[:] = ratio * LOAD / 1e7, [speed / ratio, speed]
            sim.forward()
            found[name].append(float(-inertia * sim.data.qacc[1]))
    radius = 0.5 * PITCH_DIAMETER
    wanted = {"raise": LOAD * radius * np.tan(angles + ANGLE_OF_FRICTION)}
    wanted["lower"] = LOAD * radius * np.tan(angles - ANGLE_OF_FRICTION)
    checked = [
        check
        for name, values in found.items()
        for check in checks([f"{name}, lead {1e3 * x:.0f} mm" for x in leads], values, wanted[name], 1e-7, "N m")
    ]
    curves = [Curve(f"{name}, closed form", 1e3 * leads, wanted[name], "dashed") for name in found]
    curves += [Curve(name, 1e3 * leads, values, "marks") for name, values in found.items()]
    return Result(checked, Figure("lead (mm)", "torque (N m)", curves))


# ---------------------------------------------------------------- cams

RISE, BETA = 0.02, np.pi / 2  # m, rad


def cycloid(angle: Any, derivative: int = 0) -> Any:
    """Lift (m) of a cycloidal rise, or a derivative of it by the cam's angle."""
    turn = 2.0 * np.pi * np.asarray(angle) / BETA
    if derivative == 0:
        return RISE * (turn - np.sin(turn)) / (2.0 * np.pi)
    return RISE / BETA * (1.0 - np.cos(turn)) if derivative == 1 else 2.0 * np.pi * RISE / BETA**2 * np.sin(turn)


def cam_shaft(points: int, inertia: float = 0.01, mass: float = 0.5) -> saltus.Model:
    """A follower on a cam with a cycloidal rise, which goes on in the next quarters: a table of `points` a quarter."""
    angles = np.linspace(0.0, BETA, points)
    curve = saltus.CamCurve(angles, cycloid(angles), advances=True)
    follower = f"""<body><joint name="follower" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="{mass}"
      diaginertia="1 1 1"/></body></worldbody>"""
    return saltus.cam(shafts([inertia], "", G).replace("</worldbody>", follower), "follower", "s1", curve)


@benchmark(
    "cam-acceleration",
    "Acceleration of a follower on a cycloidal cam",
    source=f"{NORTON}, chapter 3; closed form: a = s″(θ) ω² + s′(θ) α, (I + m s′²) α = τ - m s′ (g + s″ ω²)",
    allowed="error of the spline's second derivative, h² s⁗/12 < 5e-4 of the greatest, at 91 points",
)
def cam_acceleration(data: Data) -> Result:
    """A rise of 20 mm over 90°, ω = 30 rad/s, τ = 2 N m, m = 0.5 kg, I = 0.01 kg m²."""
    model, omega = cam_shaft(91), 30.0
    angles = np.radians([5.0, 15.0, 30.0, 45.5, 60.0, 80.0])
    found, wanted = [], []
    for angle in angles:
        sim = saltus.Simulation(model, "dopri5", contact="hard")
        sim.qpos[:] = angle, cycloid(angle)
        sim.qvel[:] = omega, omega * cycloid(angle, 1)
        sim.ctrl[0] = 2.0
        sim.forward()
        slope, bend = cycloid(angle, 1), cycloid(angle, 2)
        alpha = (2.0 - 0.5 * slope * (G + bend * omega**2)) / (0.01 + 0.5 * slope**2)
        found.append(float(sim.data.qacc[1]))
        wanted.append(float(bend * omega**2 + slope * alpha))
    greatest = 2.0 * np.pi * RISE / BETA**2 * omega**2
    curves = [Curve("closed form", np.degrees(angles), wanted, "dashed")]
    curves += [Curve("reached", np.degrees(angles), found, "marks")]
    names = [f"a at {x:.1f}°" for x in np.degrees(angles)]
    figure = Figure("angle of the cam (°)", "acceleration (m/s²)", curves)
    return Result(checks(names, found, wanted, 5e-4 * greatest, "m/s²"), figure)


@benchmark(
    "cam-table",
    "Acceleration on a cam by the points of its table",
    source="de Boor, A Practical Guide to Splines (1978), chapter V: second derivatives of cubic splines have order 2",
    allowed="0.2 around the order",
)
def cam_table(data: Data) -> Result:
    """The follower's acceleration at constant speed 1/7 of a segment beyond 30°, with 16 to 121 points a quarter."""
    steps, errors = [], []
    for segments in (15, 30, 60, 120):
        step = BETA / segments
        angle = BETA / 3.0 + step / 7.0
        sim = saltus.Simulation(cam_shaft(segments + 1), "rk4", contact="hard", motions={"s1": turning(angle)})
        sim.qpos[1], sim.qvel[1] = cycloid(angle), 30.0 * cycloid(angle, 1)
        with warnings.catch_warnings():  # the closed form is not on the spline, onto which positions are projected
            warnings.simplefilter("ignore", saltus.SaltusWarning)
            sim.forward()
        steps.append(step)
        errors.append(abs(float(sim.data.qacc[1]) - 900.0 * float(cycloid(angle, 2))))
    figure = order_figure(steps, errors, 2.0, "distance of points (rad)", "error (m/s²)")
    return Result([order_check(steps, errors, 2.0)], figure)


def turning(angle: float) -> Any:
    """A cam's motion at 30 rad/s from an angle (rad)."""
    return lambda t: angle + 30.0 * t


@benchmark(
    "elliptic-gears",
    "Speed of elliptic gears",
    source="Litvin & Fuentes, Gear Geometry and Applied Theory, 2nd ed. (2004): tan(θ₂/2) = (1-e)/(1+e) tan(θ₁/2), "
    "ω₂/ω₁ = (1-e²)/(1+e²+2e cos θ₁), about their foci",
    allowed="error of the spline's slope with 361 points, 1e-6 of the speed",
)
def elliptic_gears(data: Data) -> Result:
    """Eccentricity 0.4; both gears coast with I = 0.01 kg m², and their energy is that of the start."""
    e = 0.4
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    driven = 2.0 * np.arctan2((1.0 - e) * np.sin(turn / 2.0), (1.0 + e) * np.cos(turn / 2.0))
    model = saltus.cam(shafts([0.01, 0.01], ""), "s2", "s1", saltus.CamCurve(turn, driven, advances=True))
    ratio = lambda x: (1.0 - e * e) / (1.0 + e * e + 2.0 * e * np.cos(x))  # noqa: E731
    sim = saltus.Simulation(model, "dopri5", contact="hard", tolerance=(1e-10, 1e-10))
    sim.qvel[:] = 10.0, 10.0 * ratio(0.0)
    track = sim.run(1.5, 0.01)
    energy = 10.0**2 * (1.0 + ratio(0.0) ** 2)
    at = [30, 75, 140]
    angle = track.qpos[:, 0]
    first = np.sqrt(energy / (1.0 + ratio(angle) ** 2))
    names = [f"{what} after {track.time[k]:.2f} s" for k in at for what in ("ω₁", "ω₂")]
    wanted = [x for k in at for x in (first[k], first[k] * ratio(angle[k]))]
    curves = [Curve("closed form", track.time, first * ratio(angle), "dashed")]
    curves += [Curve("reached", track.time, track.qvel[:, 1])]
    figure = Figure("time (s)", "ω₂ (rad/s)", curves)
    return Result(checks(names, track.qvel[at].ravel(), wanted, 1e-4, "rad/s"), figure)


# ---------------------------------------------------------------- ropes

EYTELWEIN = "Johnson, Contact Mechanics (1985), section 8.3; closed form of Euler and Eytelwein, T₁/T₂ = exp(μφ)"


def rope(friction: float, mass: float, wheel: float | None = None) -> saltus.Model:
    """Two weights, one of 1 kg, on a stiff rope over a post, or over a pulley with a mass."""
    post = '<geom name="post" type="cylinder" size="0.1 0.2" euler="90 0 0" {}/>'
    if wheel is None:
        over = post.format('pos="0 0 2"')
    else:
        given = post.format(f'mass="{wheel}"')
        over = f'<body pos="0 0 2"><joint axis="0 1 0"/>{given}</body>'
    hanging = (
        '<body pos="{} 0 1"><joint type="slide" axis="0 0 1"/><geom size="0.02" mass="{}"/><site name="{}"/></body>'
    )
    source = f"""<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>{over}<site name="side"
      pos="0 0 2.3"/>{hanging.format(-0.1, 1, "a")}{hanging.format(0.1, mass, "b")}</worldbody><tendon>
      <spatial name="rope" stiffness="1e4" damping="200" springlength="2.3"><site site="a"/>
      <geom geom="post" sidesite="side"/><site site="b"/></spatial></tendon></mujoco>"""
    return saltus.capstan(source, "rope", friction)


def accelerations(model: saltus.Model) -> list[float]:
    """Accelerations after 0.3 s, when the rope's length does not change any more."""
    sim = saltus.Simulation(model, "dopri5", contact="hard")
    sim.run(0.3)
    sim.forward()
    return sim.data.qacc.tolist()


@benchmark(
    "capstan",
    "Weights on a rope over a post",
    source=f"{EYTELWEIN}: a = g (m₂ - m₁ q)/(m₂ + m₁ q), q = exp(μπ), and 0 below m₂/m₁ = q",
    allowed="1e-6 g: the rope's stretch settles with exp(-t/16 ms)",
)
def capstan(data: Data) -> Result:
    """μ = 0.3, half a turn, q = 2.566; ratios of the weights from 2 to 5."""
    ratios, q = np.array([2.0, 2.5, 2.65, 3.5, 5.0]), np.exp(0.3 * np.pi)
    found = [accelerations(rope(0.3, mass))[0] for mass in ratios]
    closed = lambda x: G * np.maximum(x - q, 0.0) / (x + q)  # noqa: E731
    line = np.linspace(1.9, 5.1, 80)
    curves = [Curve("closed form", line, closed(line)), Curve("reached", ratios, found, "marks")]
    names = [f"a at m₂/m₁ = {x:g}" for x in ratios]
    figure = Figure("ratio of the weights", "acceleration (m/s²)", curves)
    return Result(checks(names, found, closed(ratios), 1e-5, "m/s²"), figure)


@benchmark(
    "rope-and-pulley",
    "A pulley that turns with its rope, or slips",
    source=f"{EYTELWEIN}; without slip a = g (m₂ - m₁)/(m₁ + m₂ + I/r²), else I α = (T₂ - T₁) r",
    allowed="1e-6 g: the rope's stretch settles with exp(-t/16 ms)",
)
def pulley(data: Data) -> Result:
    """Weights of 1 and 2 kg, pulleys of 1 to 16 kg and 0.1 m, μ = 0.1: heavy ones slip."""
    wheels, q = np.array([1.0, 2.0, 8.0, 16.0]), np.exp(0.1 * np.pi)
    names, found, wanted = [], [], []
    for wheel in wheels:
        turn, fall, _ = accelerations(rope(0.1, 2.0, wheel))
        a = G / (3.0 + 0.5 * wheel)
        alpha = a / 0.1
        if 2.0 * (G - a) > q * (G + a):
            a = G * (2.0 - q) / (2.0 + q)
            alpha = (q - 1.0) * (G + a) * 0.1 / (0.5 * wheel * 0.01)
        names += [f"a, {wheel:g} kg", f"r α, {wheel:g} kg"]
        found += [fall, 0.1 * turn]
        wanted += [a, 0.1 * alpha]
    curves = [Curve("a, closed form", wheels, wanted[::2], "dashed"), Curve("a", wheels, found[::2], "marks")]
    curves += [Curve("r α, closed form", wheels, wanted[1::2], "dashed"), Curve("r α", wheels, found[1::2], "marks")]
    figure = Figure("mass of the pulley (kg)", "acceleration (m/s²)", curves)
    return Result(checks(names, found, wanted, 1e-5, "m/s²"), figure)
