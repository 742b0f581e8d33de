"""Recordings as figures show them."""

import numpy as np

from saltus.record import EVENT_DTYPE, Trajectory


def recorded(nv=2, count=30, **changes):
    time = np.linspace(0.0, 1.0, count)
    table = np.sin(np.outer(time, 1 + np.arange(nv)))
    given = {
        "energy": np.stack([np.cos(time) ** 2, np.sin(time) ** 2], 1),
        "names": {"qpos": [f"joint{i}" for i in range(nv)], "qvel": [f"joint{i}" for i in range(nv)]},
        "units": {"qpos": ["rad"] * nv, "qvel": ["rad/s"] * nv},
        "attrs": {"model_name": "pendulum", "integrator": "rk4", "timestep": 0.01},
    }
    return Trajectory(time, table, table, **{**given, **changes})


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def hybrid(count=31, **changes):
    """Two contact points: one sticks, then slips; the other only has impacts; a third never closes."""
    mode = np.zeros((count, 3), int)
    mode[10:20, 0], mode[20:25, 0] = 1, 2
    events = many_events(3)
    events["name"], events["other"], events["time"] = ["heel", "toe", "toe"], "floor", [0.1, 0.2, 0.7]
    given = {
        "contact_state": mode > 0,
        "contact_mode": mode,
        "contact_force": np.zeros((count, 3, 3)),
        "contact_pos": np.zeros((count, 3, 3)),
        "events": events,
        "names": {"contact": ["floor heel", "floor toe", "floor hand"]},
    }
    return recorded(count=count, **{**given, **changes})


def bouncing(count=25):
    """A ball that falls at 10 m/s², hits the floor after 0.5125 s and goes up as fast: velocities in closed form."""
    hit, time = 0.5125, np.linspace(0.0, 1.0, count)
    speed = np.where(time < hit, -10.0 * time, 10 * hit - 10.0 * (time - hit))[:, None]
    events = np.array([(hit, "impact")], dtype=[("time", "f8"), ("kind", "U16")])
    return hit, Trajectory(time, np.zeros_like(speed), speed, events=events)


def many_events(count):
    events = np.zeros(count, EVENT_DTYPE)
    events["time"], events["kind"] = np.linspace(0.0, 1.0, count), "impact"
    return events
