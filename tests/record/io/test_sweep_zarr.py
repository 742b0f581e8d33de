"""The store of a large sweep: names of its variables are those of folders, which not every system takes all of."""

import pytest

from saltus.errors import OptionError
from saltus.record.io import sweep_zarr
from saltus.record.io.sweep_zarr import SweepStore


def opened(path, value, measure):
    return SweepStore.open(path / "s.zarr", {"a": 1}, [{value: 0.1}, {value: 0.2}], [value], (), {measure: ""}, 8)


@pytest.mark.parametrize(
    ("value", "measure", "named"),
    [("body_mass[a:b]", "z.max", "body_mass[a:b]"), ("opt.timestep", "m*v.max", "m*v.max"), ("a", "why?", "why?")],
)
def test_names_that_windows_refuses_are_told_before_anything_is_written(tmp_path, monkeypatch, value, measure, named):
    """Naming Files, Paths, and Namespaces (Microsoft): none of < > : " | ? * and backslash, no point at the end."""
    monkeypatch.setattr(sweep_zarr, "WINDOWS", True)
    with pytest.raises(OptionError) as said:
        opened(tmp_path, value, measure)
    assert repr(named) in str(said.value) and "save the sweep as .json" in str(said.value)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(sweep_zarr, "WINDOWS", False)
    assert opened(tmp_path, value, measure).points(0, 2) == [{value: 0.1}, {value: 0.2}]
