"""A recording as a data set of xarray. Reference: the recording itself."""

import numpy as np
from helpers.recordings import certificate, contact_points, recorded

from saltus.record import EVENT_DTYPE


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
    assert ds.certificate_error.dims == ds.certificate_bound.dims == ("time",)


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
