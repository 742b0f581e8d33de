"""Recordings with something in every field."""

import numpy as np

from saltus.record import Certificate, Trajectory


def recorded(count=50, **changes):
    """A free body's run, with something in every field."""
    rng = np.random.default_rng(1)
    events = [("time", "f8"), ("kind", "U16"), ("point", "f4", (3,)), ("sticks", "?"), ("pair", "i4")]
    given = {
        "time": np.linspace(0.0, 2.0, count),
        "qpos": rng.normal(size=(count, 7)),
        "qvel": rng.normal(size=(count, 6)),
        "act": rng.normal(size=(count, 1)),
        "ctrl": rng.normal(size=(count, 2)),
        "energy": rng.random((count, 2)),
        "contact_state": rng.random((count, 3)) < 0.5,
        "events": np.array(
            [(0.5, "impact", (1, 2, 3), False, 1), (0.5, "Stoß·é", (0, np.nan, -0.0), True, -2)], dtype=events
        ),
        "names": {
            "qpos": ["root.x", "root.y", "root.z", "root.qw", "root.qx", "root.qy", "root.qz"],
            "qvel": [f"root.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")],
            "act": ["muscle"],
            "ctrl": ["motor", "motor"],
            "contact": ["foot/floor", "", "Fuß"],
        },
        "units": {"qpos": ["m"] * 3 + [""] * 4, "qvel": ["m/s"] * 3 + ["rad/s"] * 3, "ctrl": ["N·m", "N·m"]},
        "attrs": {
            "integrator": "rk4",
            "timestep": 0.1,
            "model_name": "free body",
            "model_xml": "<mujoco>é</mujoco>",
            "semantics": "mujoco-4.0",
            "ignored": ["contact", "equality"],
            "nothing ignored": [],
            "empty": "",
            "seed": 7,
            "large": 2**80,
            "certified": True,
            "not measured": None,
            "options": {"gravity": [0.0, 0.0, -9.81], "tolerance": 1e-8},
        },
    }
    return Trajectory(**{**given, **changes})


def contact_points(count=50):
    """Further columns of a run with hard contact."""
    rng = np.random.default_rng(3)
    return {
        "contact_mode": rng.integers(0, 3, (count, 3)),
        "contact_force": rng.normal(size=(count, 3, 3)),
        "contact_pos": rng.normal(size=(count, 3, 3)),
        "actuation_state": rng.normal(size=(count, 2)),
    }


def certificate(count):
    error = np.linspace(0.0, 1.0, count) / 3.0
    figures = (float(error[-1]), float("nan"), (0.1, 0.05, 0.025), 0.025, ["a note"], False)
    return Certificate(2, 1.99, error, *figures, bound=2 * error, rounding=1e-14)
