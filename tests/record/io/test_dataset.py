"""A recording as a data set of xarray. Reference: the recording itself."""

import numpy as np

from saltus.record import EVENT_DTYPE, Certificate, Trajectory


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
    """What a run with hard contact has besides."""
    rng = np.random.default_rng(3)
    return {
        "contact_mode": rng.integers(0, 3, (count, 3)),
        "contact_force": rng.normal(size=(count, 3, 3)),
        "contact_pos": rng.normal(size=(count, 3, 3)),
        "actuation_state": rng.normal(size=(count, 2)),
    }


def certificate(count):
    error = np.linspace(0.0, 1.0, count) / 3.0
    return Certificate(2, 1.99, error, float(error[-1]), float("nan"), (0.1, 0.05, 0.025), 0.025, ["a note"], False)


def test_xarray_carries_names_units_and_attributes():
    ds = recorded(certificate=certificate(50)).to_xarray()
    t = recorded()
    assert dict(ds.sizes) == {
        "time": 50,
        "qpos_name": 7,
        "qvel_name": 6,
        "act_name": 1,
        "ctrl_name": 2,
        "energy_kind": 2,
        "contact_name": 3,
        "event": 2,
        "event_impulse_1": 3,
        "event_point_1": 3,
    }
    np.testing.assert_array_equal(ds.qpos.sel(qpos_name="root.qw"), t.qpos[:, 3])
    np.testing.assert_array_equal(ds.energy.sel(energy_kind="kinetic"), t.energy[:, 1])
    assert ds.qpos_unit.sel(qpos_name="root.qw") == ""
    assert ds.qpos.attrs == {"long_name": "generalized positions", "units": "m, 1"}
    assert ds.ctrl.attrs["units"] == "N·m"
    assert ds.time.attrs["units"] == "s"
    assert ds.energy.attrs["units"] == "J"
    assert ds.event_kind.values.tolist() == ["impact", "Stoß·é"]
    assert ds.attrs["options"] == {"gravity": [0.0, 0.0, -9.81], "tolerance": 1e-8}
    assert "position error" in ds.attrs["certificate"]
    assert ds.certificate_error.dims == ("time",)


def test_xarray_says_what_modes_and_events_mean():
    ds = recorded(**contact_points(), names={"actuation": ["left", "right"]}).to_xarray()
    assert ds.contact_force.dims == ("time", "contact_name", "axis") and ds.contact_force.attrs["units"] == "N"
    assert ds.contact_mode.attrs["flag_meanings"] == "open sticking slipping"
    assert ds.contact_mode.dtype == np.int8 and ds.contact_pos.attrs["units"] == "m"
    assert ds.actuation_state.sel(actuation_name="right").shape == (50,)
    units = {field: ds[f"event_{field}"].attrs.get("units") for field in EVENT_DTYPE.names}
    assert units == {
        **{"time": "s", "gap": "m", "velocity": "m/s", "impulse": "N s", "energy_before": "J", "energy_after": "J"},
        **{"since": "s", "kind": None, "name": None, "other": None, "impacts": None},
    }
    assert "contact_mode" not in recorded().to_xarray()
