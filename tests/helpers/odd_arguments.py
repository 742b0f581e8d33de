"""Odd arguments, the public callables of Saltus, and a call of each that works."""

import functools
import inspect

import numpy as np

import saltus
from saltus.errors import SaltusError

ODD = {
    "None": None,
    "an empty list": [],
    "an empty dict": {},
    "an empty string": "",
    "x": "x",
    "a string of numbers": "1 2",
    "-1": -1,
    "0": 0,
    "nan": float("nan"),
    "inf": float("inf"),
    "1e300": 1e300,
    "a huge whole number": 10**30,
    "True": True,
    "an object": object(),
    "a wrong shape": np.zeros((3, 2)),
    "a list of anything": [None, "x"],
    "a dict of anything": {"x": None},
}


@functools.cache
def model():
    return saltus.load("pendulum")


@functools.cache
def simulation():
    return saltus.Simulation("pendulum", "rk4", timestep=0.01)


@functools.cache
def batch():
    return saltus.Batch("pendulum", 3, threads=1)


@functools.cache
def trajectory():
    sim = saltus.Simulation("pendulum", "rk4", timestep=0.01)
    return sim.run(0.1, 0.02, progress=False, certify=True)


@functools.cache
def comparison():
    return saltus.compare("pendulum", ["rk4"], duration=0.1, progress=lambda *_: None)


@functools.cache
def swept():
    return saltus.sweep("pendulum", {"qpos[theta]": [0.1]}, duration=0.1, workers=1, progress=False)


@functools.cache
def equations():
    return saltus.derive("pendulum")


LAW = saltus.contact_law()
MUSCLE = dict(max_isometric_force=100.0, optimal_fiber_length=0.1, tendon_slack_length=0.2)
ROPE = """<mujoco><worldbody><geom name="post" type="cylinder" size=".1 .2"/><site name="b" pos="-1 0 0"/>
  <body pos="1 0 0"><joint axis="0 0 1"/><geom size=".1"/><site name="a"/></body></worldbody>
  <tendon><spatial name="rope"><site site="a"/><geom geom="post"/><site site="b"/></spatial></tendon></mujoco>"""
CAM = saltus.CamCurve([0.0, 1.0], [0.0, 1.0])
SHORT = dict(duration=0.1, progress=False)
GOOD = {  # what a call needs to be one, by name
    "load": dict(source="pendulum"),
    "n_link": dict(n=2),
    "HillMuscle": MUSCLE,
    "Gear": {},
    "Motor": dict(resistance=1.0, torque_constant=0.05),
    "TorqueCurve": dict(speeds=[0.0, 1.0], torques=[1.0, 0.0]),
    "CamCurve": dict(angles=[0.0, 1.0], lifts=[0.0, 1.0]),
    "cam": dict(model="double_pendulum", follower="theta2", cam="theta1", curve=CAM),
    "capstan": dict(model=ROPE, tendon="rope", friction=0.3),
    "static_friction": dict(model="bouncing_ball", geom="ball", friction=2.0),
    "Stribeck": dict(coulomb=1.0, static=2.0, velocity=0.1),
    "LuGre": dict(stiffness=1e4, damping=10.0, coulomb=1.0, static=2.0, velocity=0.1),
    "Dahl": dict(stiffness=1e4, coulomb=1.0),
    "drive": dict(model="pendulum", joint="theta"),
    "Simulation": dict(model="pendulum"),
    "Batch": dict(model="pendulum", n=2, threads=1),
    "PID": dict(kp=1.0),
    "Controller": dict(law=print),
    "Dynamics": dict(inertia=print, bias=print),
    "controller": {},
    "Event": dict(function=lambda sim: 1.0),
    "Actuation": dict(law=print),
    "resume": dict(path="nowhere.zarr"),
    "compare": dict(model="pendulum", integrators=["rk4"], duration=0.1),
    "sweep": dict(model="pendulum", values={"qpos[theta]": [0.1]}, duration=0.1, workers=1, progress=False),
    "refine": dict(
        model="pendulum",
        ranges={"qpos[theta]": (0.1, 0.2)},
        measures="energy_drift",
        duration=0.1,
        runs=9,
        workers=1,
        progress=False,
    ),
    "contact_law": {},
    "contact_parameters": dict(penetration=1e-3, restitution=0.5),
    "ContactLaw": dict(solref=(0.02, 1.0), solimp=(0.9, 0.95, 0.001, 0.5, 2.0)),
    "Soft": {},
    "Compliant": dict(force=print),
    "HuntCrossley": dict(stiffness=1e5),
    "KelvinVoigt": dict(stiffness=1e5),
    "Hard": {},
    "friction_contact": dict(W=np.eye(3), q=np.ones(3), mu=[0.5]),
    "Trajectory": dict(time=[0.0, 1.0], qpos=np.zeros((2, 1)), qvel=np.zeros((2, 1))),
    "Trajectory.to_csv": dict(path="samples.csv"),
    "Trajectory.row_shape": dict(column="qpos"),
    "Trajectory.load": dict(path="nowhere.nc"),
    "ButcherTableau": dict(a=[[0]], b=[1]),
    "derive": dict(model="pendulum"),
    "integrate_ode": dict(f=lambda t, y, *params: -y, y0=[1.0], t=1.0),
    "identify": dict(
        model="pendulum",
        recordings=dict(time=[0, 0.1, 0.2], qpos=np.zeros((3, 1))),
        parameters={"body_mass[bob]": (0.1, 2.0)},
        iterations=2,
    ),
    "regressor": dict(model=model(), q=[0.1], v=[0.2], a=[0.3]),
    "inertial_parameters": dict(model=model()),
    "base_parameters": dict(model="pendulum"),
    "inverse_dynamics": dict(model="pendulum", trajectory=dict(time=np.arange(7) / 10, qpos=np.zeros((7, 1)))),
    "static_optimization": dict(forces=None),
    "excite": dict(model="pendulum", velocity=1.0, acceleration=3.0, harmonics=1, starts=1),
    "casadi": dict(model="pendulum"),
    "computed_torque": dict(kp=1.0, kd=1.0),
    "operational_space": dict(site="hand", kp=1.0, kd=1.0, target=0.0),
    "follow": dict(control=None, motion=None),
    "minimum_jerk": dict(model="pendulum", points=[[0.0], [1.0]], times=[0.0, 1.0]),
    "spline": dict(model="pendulum", points=[[0.0], [1.0]], times=[0.0, 1.0]),
    "gait": dict(model="pendulum", points=[[0.0], [1.0], [0.5]], phases=[0.0, 0.3, 0.6], period=1.0),
    "read_motion": dict(model="pendulum", table={"time": [0, 1], "theta": [0, 1]}),
    "gravity_compensation": {},
    "lqr": dict(sim=None, Q=1.0, R=1.0),
    "equilibrium": dict(sim=None, iterations=2),
    "modes": dict(sim=None),
    "bode": dict(sim=None),
    "controllability": dict(sim=None),
    "observability": dict(sim=None),
    "mppi": dict(sim=None, cost=print, horizon=2, noise=1.0, threads=1),
    "kalman": dict(sim=None, process_noise=1e-4, measurement_noise=1e-2),
    "smooth": dict(filtered=None),
    "moving_horizon": dict(sim=None, process_noise=1e-4, measurement_noise=1e-2),
    "ilqr": dict(sim=None, cost=print, horizon=2),
    "ik": dict(model="pendulum", targets={"tip": [0.0, 0.0, -2.0]}, restarts=0, threads=1),
    "Pose": {},
    "run_gradient": dict(sim=None, duration=0.02, loss=print, wrt=("qpos",)),
    "simulate": dict(model="pendulum", t0=0.0, tf=0.1, sampling_period=0.02, q0=[0.1], v0=[0.0], progress=False),
    "Model.changed": dict(values={"body_mass[bob]": 1.0}),
    "Model.id": dict(kind="joint", name="theta"),
    "Model.names": dict(kind="joint"),
    "Simulation.inverse": dict(qacc=[0.0]),
    "Simulation.jacobian": dict(body=1),
    "Simulation.linearize_data": dict(fields="qacc"),
    "Simulation.restore": dict(snapshot=None),
    "Simulation.certify": dict(start=None, trajectory=None, duration=0.1),
    "Simulation.run": SHORT,
    "Simulation.sensor": dict(name="x"),
    "Batch.run": dict(duration=0.02),
    "Batch.rollout": dict(controls=np.zeros((2, 1))),
    "Batch.set_from": dict(sim=None),
    "Batch.contact_force": dict(on=0),
    "Batch.read": dict(name="qpos"),
    "Batch.sensor": dict(name="x"),
    "Batch.write": dict(name="qpos", values=0.0),
    "Comparison.label": dict(name="rk4", contact="soft"),
    "Sweep.label": dict(k=0),
    "Motor.of_speed_and_torque": dict(voltage=12.0, no_load_speed=500.0, stall_torque=0.4),
    "HuntCrossley.fitted": dict(restitution=0.5, penetration=1e-3, mass=1.0, speed=1.0),
    "HuntCrossley.restitution": dict(speed=1.0),
    "HuntCrossley.penetration": dict(mass=1.0, speed=1.0),
    "KelvinVoigt.fitted": dict(restitution=0.5, penetration=1e-3, mass=1.0, speed=1.0),
    "KelvinVoigt.restitution": dict(mass=1.0),
    "KelvinVoigt.penetration": dict(mass=1.0, speed=1.0),
    "ContactLaw.force": dict(r=-1e-3),
    "ContactLaw.unclipped_force": dict(r=-1e-3),
    "ContactLaw.impedance": dict(r=-1e-3),
    "ContactLaw.shortest_time_at": dict(d=0.9),
    "page": dict(what="pendulum", path="page.html", integrators=["euler"]),
    "Model.page": dict(path="page.html", integrators=["euler"]),
    "Simulation.page": dict(path="page.html", integrators=["euler"]),
    "Equations.acceleration": dict(q=[0.1], v=[0.0]),
    "Equations.multipliers": dict(q=[0.1], v=[0.0]),
    "Equations.from_joint": dict(qpos=[0.1], qvel=[0.0]),
    "Equations.to_joint": dict(q=[0.1], v=[0.0]),
    "Equations.generalised_force": dict(body="bob", force=(1, 0, 0)),
    "Equations.solve": dict(duration=0.1, q=[0.1], v=[0.0]),
}


def motion():
    """A motion of the pendulum."""
    return saltus.minimum_jerk("pendulum", [[0.0], [1.0]], [0.0, 1.0])


OBJECTS = {
    "Motor": lambda: saltus.Motor(1.0, 0.05),
    "HuntCrossley": lambda: saltus.HuntCrossley(1e5, 0.3),
    "KelvinVoigt": lambda: saltus.KelvinVoigt(1e5, 30.0),
    "Model": model,
    "Simulation": simulation,
    "Batch": batch,
    "Trajectory": trajectory,
    "Comparison": comparison,
    "Sweep": swept,
    "ContactLaw": lambda: LAW,
    "Equations": equations,
    "Certificate": lambda: trajectory().certificate,
    "ReferenceMotion": motion,
}
RESULT = "made by Saltus alone: what others are handed, not what they make"
ERROR = "an error, which Saltus raises"
INSIDE = "called by a simulation, with its own model"
WRITES = "draws and writes files: seconds each; its options are those of tests/record and tests/draw"
EXEMPT = {
    **dict.fromkeys(
        (
            *("OdeSolution", "Model", "Comparison", "Sweep", "Certificate", "FrictionContact", "Equations"),
            "ReferenceMotion",
        ),
        RESULT,
    ),
    "Integrator": "a record of what an integrator promises, made by `saltus.integrators` and tableaus",
    "Model.struct": "what kernels see, for those who write kernels",
    "Model.sensing_struct": "what kernels see, for those who write kernels",
    "Batch.engine_of": "what is below a simulation",
    **dict.fromkeys(("Trajectory.report", "Trajectory.show", "Trajectory.video", "Equations.page"), WRITES),
    "Equations.simplify": "rewrites formulas for as long as its limit says",
    **dict.fromkeys(("Equations.latex", "Equations.c"), "formulas of the pendulum as text, seconds"),
}
INSIDES = ("parameters", "states_of", "settled", "check", "numbers", "law_timestep", "memory", "data_sizes")
INSIDES += ("coefficients", "differs", "with_values_of")


def public(kind):
    """Names and values of what a class has in public."""
    return [(name, value) for name, value in inspect.getmembers(kind) if not name.startswith("_")]


def walked():
    """{name: (callable, parameters)} of all that is public, and {name: (object, attribute)} of what can be set."""
    calls, attributes = {}, {}
    for name in saltus.__all__:
        thing = getattr(saltus, name)
        if not callable(thing) or (inspect.isclass(thing) and issubclass(thing, SaltusError | Warning)):
            continue
        calls[name] = thing
        for member, value in public(thing) if inspect.isclass(thing) else ():
            if isinstance(value, property) and value.fset is not None:
                attributes[f"{name}.{member}"] = (OBJECTS[name], member)
            elif callable(value) and not isinstance(value, property) and member not in INSIDES:
                calls[f"{name}.{member}"] = value
    return {name: call for name, call in calls.items() if name not in EXEMPT}, attributes


CALLS, ATTRIBUTES = walked()


LONG = {  # what a user may well mean, and what takes its time
    ("compare", "duration"): ("1e300", "a huge whole number"),
    ("compare", "integrators"): ("None",),
    ("sweep", "duration"): ("1e300", "a huge whole number"),
    ("refine", "duration"): ("1e300", "a huge whole number"),
    ("simulate", "tf"): ("1e300", "a huge whole number"),
    ("excite", "harmonics"): ("1e300", "a huge whole number"),
    ("excite", "starts"): ("1e300", "a huge whole number"),
    ("Simulation.run", "duration"): ("1e300", "a huge whole number"),
    ("Equations.solve", "duration"): ("1e300", "a huge whole number"),
}


def odd_values(name, parameter):
    return {odd: value for odd, value in ODD.items() if odd not in LONG.get((name, parameter), ())}


def parameters_of(name):
    found = inspect.signature(CALLS[name]).parameters.values()
    return [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]


def called(name, arguments):
    call = CALLS[name]
    kind, _, member = name.partition(".")
    if member and not isinstance(inspect.getattr_static(getattr(saltus, kind), member), classmethod | staticmethod):
        call = getattr(OBJECTS[kind](), member)
    return call(**arguments)


PAIRS = [(name, parameter) for name in CALLS for parameter in parameters_of(name)]


def instead_of_compiling(*_):
    raise SaltusError("these arguments would be compiled")
