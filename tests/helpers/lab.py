"""Sessions without a thread, frames in numbers and clients, which tests of the lab share."""

import json
import math
import struct
import time
from contextlib import contextmanager

import numpy as np
from websockets.sync.client import connect

import saltus
from saltus.lab.controls.extras import Extras
from saltus.lab.data.recording import Downloads
from saltus.lab.making.setup import LabStart
from saltus.lab.messages.protocol import Command
from saltus.lab.scene.scenes import scenes
from saltus.lab.session import LiveSession

FRAME = 1 / 60
#: A message of each kind but `upload`.
MESSAGES = [
    *({"type": name} for name in ("play", "pause", "toggle", "release", "blur", "video", "take", "model", "from_here")),
    {"type": "path", "path": "~/robot.xml"},
    {"type": "link", "settings": {"integrator": "rk4", "qpos[theta]": "2"}},
    {"type": "ack", "frame": 4294967295},
    {"type": "step", "n": 1},
    {"type": "step", "n": 1000},
    {"type": "speed", "value": 0.01},
    {"type": "reset", "key": None},
    {"type": "reset", "key": "release"},
    {"type": "scene", "name": "pendularm"},
    {"type": "integrator", "name": "rk4"},
    {"type": "timestep", "value": 0.05},
    {"type": "contact", "name": "soft"},
    {"type": "restitution", "value": 0.5},
    {"type": "friction", "value": None},
    {"type": "gravity", "value": [0, 0, -9.81]},
    {"type": "slider", "id": "kp", "value": -1e9},
    {"type": "keydown", "key": "a"},
    {"type": "keyup", "key": "a"},
    {"type": "drag", "body": 1, "point": [0, 0, 0], "target": [1, 2.5, -3]},
    {"type": "ghosts", "on": True},
    {"type": "follow", "body": None},
    {"type": "record", "on": False},
    {"type": "plot", "signals": ["qpos[hinge]", "energy"]},
    {"type": "button", "id": "Push"},
    {"type": "seek", "time": 1.5},
]
SLIDE = """
<mujoco><option timestep="0.01" gravity="0 0 0"/>
  <worldbody><body name="cart"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body></worldbody>
  <actuator><motor name="motor" joint="x"/></actuator></mujoco>"""


def opened(name, options=None):
    """A session of a scene, compiled and ready."""
    return ready(scenes()[name].open(Downloads(), options or {}))


def ready(session, patience=300.0):
    """Wait until a session's simulations are those that it wants; no time passes in it."""
    until = time.monotonic() + patience
    while not session.ready or session.builder.busy:
        assert time.monotonic() < until, list(session.notices)
        time.sleep(0.005)
        session.tick(0.0)
    return session


def session_of(model, **setup):
    """A session of a model, compiled and ready."""
    return ready(LiveSession(LabStart("test", "Test", saltus.load(model), **setup), Downloads()))


def pendulum(**setup):
    """The pendulum under velocity Verlet with a step of three frames."""
    return session_of("pendulum", **{"integrator": "velocity_verlet", "timestep": 0.05, **setup})


def do(session, type, **fields):
    """A command, and everything that has to be built for it."""
    session.handle(Command(type, fields))
    return ready(session)


def run(session, seconds):
    """Let wall time pass in frames, exactly a whole number of them."""
    for _ in range(round(seconds / FRAME)):
        session.tick(FRAME)
    return session


def notices(session):
    """The texts of the notices so far, which are then gone."""
    texts = [text for _, text in session.notices]
    session.notices.clear()
    return texts


def decoded(data, scene):
    """A frame's bytes as arrays, by the text of `saltus.lab.messages.protocol` alone."""
    version, flags, ncontact, number, at = struct.unpack_from("<BBHId", data)
    assert version == 2
    numbers = np.frombuffer(data, "<f4", offset=16).astype(float)
    runs, bodies, dofs = 1 + len(scene["ghosts"]), len(scene["bodies"]), len(scene["dofs"])
    shapes = [("energy", (runs, 2)), ("bodies", (runs, bodies, 7)), ("dofs", (runs, dofs, 2))]
    shapes += [(f"tendon {i}", (1 + 3 * t["points"],)) for i, t in enumerate(scene["tendons"])]
    shapes += [(f"flex {i}", (f["nvert"], 3)) for i, f in enumerate(scene["flexes"])]
    shapes += [("motors", (len(scene["motors"]), 2)), ("cameras", (len(scene.get("cameras", ())), 7))]
    shapes += [("joints", (len(scene.get("joints", ())), 6)), ("com", (3,)), ("contacts", (ncontact, 8))]
    shapes += [("axes", (ncontact if flags & 4 else 0, 6)), ("cop", (3 if flags & 8 else 0,))]
    found, place = {"playing": bool(flags & 1), "replay": bool(flags & 2), "number": number, "time": at}, 0
    for name, shape in shapes:
        found[name] = numbers[place : place + math.prod(shape)].reshape(shape)
        place += math.prod(shape)
    assert place == len(numbers)
    return found


def decoded_samples(data, mark=128):
    """A message with samples as its fields: times [n], values [signals, n]; see `saltus.lab.messages.protocol`."""
    kind, flags, signals, revision, count = struct.unpack_from("<BBHII", data)
    assert kind == mark
    places = np.frombuffer(data, "<u2", signals, 12).tolist()
    first = -(-(12 + 2 * signals) // 8) * 8
    times = np.frombuffer(data, "<f8", count, first)
    values = np.frombuffer(data, "<f4", offset=first + 8 * count).reshape(signals, count).astype(float)
    return {"anew": bool(flags & 1), "revision": revision, "places": places, "times": times, "values": values}


class Page:
    """A client that speaks the protocol as the page does."""

    def __init__(self, lab, **options):
        base, _, self.query = lab.url.partition("/?")
        self.base = base
        given = {"origin": base, "max_size": None, "compression": None, "ping_interval": None, **options}
        self._open = connect(f"{base.replace('http', 'ws')}/ws?{self.query}", **given)
        self.socket = self._open.__enter__()
        self.scene, self.status, self.role, self.notices, self.frame = None, {"sliders": {}}, None, [], None
        self.hello, self.frames = {}, 0
        self.boards, self.samples = {}, None  # the newest messages of other types; all samples as `decoded_samples`
        self.course = []  # messages with the course of the run, likewise
        self.frames = 0

    def send(self, type, **fields):
        self.socket.send(json.dumps({"type": type, **fields}))

    def receive(self, timeout=60.0):
        """One message, understood and, if it is a frame, acknowledged."""
        message = self.socket.recv(timeout)
        if isinstance(message, bytes) and message[0] == 128:
            return self.sampled(decoded_samples(message))
        if isinstance(message, bytes) and message[0] == 129:
            self.course.append(decoded_samples(message, 129))
            return self.course[-1]
        if isinstance(message, bytes):
            self.frame = decoded(message, self.scene)
            self.frames += 1
            self.send("ack", frame=self.frame["number"])
            return self.frame
        return self.understand(json.loads(message))

    def understand(self, said):
        """A message that is JSON."""
        if said["type"] == "hello":
            self.hello, self.role = said, said["role"]
        elif said["type"] == "scene":
            self.scene, self.frame, self.boards, self.samples, self.course = said, None, {}, None, []
        elif said["type"] == "status":
            sliders = {**self.status["sliders"], **said["sliders"]}
            self.status = {**said, "sliders": sliders}
        elif said["type"] == "notice":
            self.notices.append(said["text"])
        else:
            self.boards[said["type"]] = said
        return said

    def sampled(self, new):
        """Samples that follow those before, or take their place."""
        assert new["revision"] == self.boards["signals"]["revision"]
        if new["anew"]:
            self.samples = new
        else:
            assert self.samples["places"] == new["places"]
            for name in ("times", "values"):
                self.samples[name] = np.concatenate([self.samples[name], new[name]], axis=-1)
        return new

    def plotted(self, id):
        """Samples [n] of a signal that is plotted."""
        ids = [signal["id"] for signal in self.boards["signals"]["signals"]]
        return self.samples["values"][self.samples["places"].index(ids.index(id))]

    def until(self, condition, patience=300.0):
        """Receive until something holds."""
        end = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < end, (self.status, self.notices)
            self.receive()
        return self

    def close(self):
        self._open.__exit__(None, None, None)


@contextmanager
def page(lab, **options):
    """A page that is open for a while."""
    client = Page(lab, **options)
    try:
        yield client
    finally:
        client.close()


def set_control(sim, value):
    sim.ctrl[0] = value


def with_extras(add, model=SLIDE, **setup):
    """A session with what a function adds to its extras, ready."""
    session = LiveSession(LabStart("test", "Test", saltus.load(model), **{"playing": False, **setup}), Downloads())
    extras = Extras()
    session.add(extras)
    add(extras)
    return ready(session), extras


def alone(session, steps):
    """The session's simulation by itself from its start."""
    sim = session.setup.simulation()
    sim.step(steps)
    return sim


def assert_same_state(one, other):
    """The states of two simulations are equal to the bit."""
    for name in ("time", "qpos", "qvel", "act"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def seen(session):
    """The next frame as the page decodes it; None if there is none."""
    frame = session.frame()
    return None if frame is None else decoded(frame.encode(1), session.scene())
