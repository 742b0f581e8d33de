"""The table of a run: states, controls and energies over time, with names, units and where it comes from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus.arguments import mapping, several
from saltus.errors import OptionError
from saltus.record.certificate import Certificate, energy_drift
from saltus.record.columns import POINTS, dtype_of
from saltus.record.energy_figure import energy_figure
from saltus.record.events import EVENT_DTYPE, event_table
from saltus.record.humans import HumansNames
from saltus.record.ledger import ACCOUNTS, EnergyReport
from saltus.record.stored_model import StoredModel, described
from saltus.terminal.display import count

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from saltus.model.model import Model
    from saltus.record.video import Video

_GROUPS = {
    **{group: group for group in ("qpos", "qvel", "act", "ctrl")},
    **{"contact": "contact_state", "mocap": "mocap_pos", "actuation": "actuation_state"},
}
_END = (
    "time",
    "qpos",
    "qvel",
    "act",
    "ctrl",
    "energy",
    "mocap_pos",
    "mocap_quat",
    *POINTS,
    "actuation_state",
    "ledger",
)


class Trajectory(HumansNames):
    """What a run recorded.

    Attributes:
        time [T]: s.
        qpos [T, nq]: positions (rad, m, quaternion parts).
        qvel [T, nv]: velocities (rad/s, m/s).
        act [T, na]: actuator activations.
        ctrl [T, nu]: controls.
        energy [T, 2]: potential and kinetic energy, J; nan where not recorded.
        contact_state [T, n]: whether each contact point is closed, bool. Recordings of deformable bodies, and of models
            with more than 1000 points, have pairs of geoms here and none of the next three.
        contact_mode [T, n]: 0 open, 1 sticking, 2 slipping, int8.
        contact_force [T, n, 3]: force on the second geom of each contact point, N, world axes; with `moreau_jean` the
            mean over the last step.
        contact_pos [T, n, 3]: where each closed contact point is, m, world axes, nan while it is open.
        actuation_state [T, k]: discrete state of actuation, where there is any.
        ledger [T, n]: energies and work since the start, J, in the order of `saltus.record.ledger.ACCOUNTS`; in runs
            that keep a ledger (`sim.run(..., ledger=True)`), otherwise [T, 0]. See `energy_report`.
        mocap_pos [T, nmocap, 3], mocap_quat [T, nmocap, 4]: poses of bodies that are moved from outside (m).
        end: the row at the run's end, by the names of these columns, where no sample lies there; otherwise None.
        events: structured array [E] with the fields of `saltus.record.EVENT_DTYPE`: time (s), kind ("impact",
            "liftoff", "stick", "slip", ...), name, other, gap (m), velocity (m/s), impulse [3] (N s), energy_before
            and energy_after (J), nan or "" where not known; and fields of one's own.
        names: labels of the columns, by group: qpos, qvel, act, ctrl, contact, mocap, actuation.
        units: units of the columns, by the same groups; "" for a quaternion part.
        attrs: where it comes from: model text, integrator, timestep, options, versions, ...; plain Python values.
        certificate: how accurate it is, where that was measured, otherwise None.

    T, Q, QDOT, Z, ACTUATIONSTATE, CONTACTSTATE and LAMBDA are these columns as the HuMAnS toolbox has them.
    """

    def __init__(
        self,
        time: ArrayLike,
        qpos: ArrayLike,
        qvel: ArrayLike,
        act: ArrayLike | None = None,
        ctrl: ArrayLike | None = None,
        energy: ArrayLike | None = None,
        contact_state: ArrayLike | None = None,
        *,
        mocap_pos: ArrayLike | None = None,
        mocap_quat: ArrayLike | None = None,
        contact_mode: ArrayLike | None = None,
        contact_force: ArrayLike | None = None,
        contact_pos: ArrayLike | None = None,
        actuation_state: ArrayLike | None = None,
        ledger: ArrayLike | None = None,
        end: Mapping[str, Any] | None = None,
        events: NDArray[Any] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, Sequence[str]] | None = None,
        attrs: Mapping[str, Any] | None = None,
        certificate: Certificate | None = None,
        model: Model | StoredModel | None = None,
    ) -> None:
        """Take the columns; what is left out is empty, energies are nan, names are numbered ("qpos[0]", ...).

        `model`: what moved, for pictures and videos.

        Raises:
            OptionError: a field has the wrong shape or type; the message names it.
        """
        self.time: NDArray[np.float64] = _column("time", time)
        count = len(self.time)
        nothing = np.empty((count, 0))
        self.qpos: NDArray[np.float64] = _table("qpos", qpos, count)
        self.qvel: NDArray[np.float64] = _table("qvel", qvel, count)
        self.act: NDArray[np.float64] = _table("act", nothing if act is None else act, count)
        self.ctrl: NDArray[np.float64] = _table("ctrl", nothing if ctrl is None else ctrl, count)
        unknown = np.full((count, 2), np.nan)
        self.energy: NDArray[np.float64] = _table("energy", unknown if energy is None else energy, count, width=2)
        closed = nothing if contact_state is None else contact_state
        self.contact_state: NDArray[np.bool_] = _table("contact_state", closed, count, dtype=np.bool_)
        self.mocap_pos, self.mocap_quat = _poses(mocap_pos, mocap_quat, count)
        points = _points((contact_mode, contact_force, contact_pos), self.contact_state.shape)
        self.contact_mode: NDArray[np.int8] = points[0]
        self.contact_force: NDArray[np.float64] = points[1]
        self.contact_pos: NDArray[np.float64] = points[2]
        discrete = nothing if actuation_state is None else actuation_state
        self.actuation_state: NDArray[np.float64] = _table("actuation_state", discrete, count)
        self.ledger: NDArray[np.float64] = _table("ledger", nothing if ledger is None else ledger, count)
        if self.ledger.shape[1] not in (0, len(ACCOUNTS)):
            raise OptionError(f"ledger must have shape [{count}, {len(ACCOUNTS)}], got {list(self.ledger.shape)}")
        self.end: dict[str, NDArray[np.float64]] | None = None if end is None else self._end_row(mapping("end", end))
        self.events: NDArray[Any] = event_table(np.empty(0, EVENT_DTYPE) if events is None else events)
        self.names: dict[str, list[str]] = self._labels("names", names)
        self.units: dict[str, list[str]] = self._labels("units", units)
        self.attrs: dict[str, Any] = _attributes({} if attrs is None else mapping("attrs", attrs))
        self._model: Model | StoredModel | None = model
        self.certificate: Certificate | None = certificate
        if certificate is not None and not isinstance(certificate, Certificate):
            raise OptionError(f"certificate must be a Certificate, got {certificate!r}")
        if certificate is not None and np.shape(certificate.error) != (count,):
            raise OptionError(f"certificate: error must have shape [{count}], got {list(np.shape(certificate.error))}")

    def _labels(self, what: str, given: Mapping[str, Sequence[str]] | None) -> dict[str, list[str]]:
        given = {} if given is None else mapping(what, given)
        if unknown := set(given) - set(_GROUPS):
            raise OptionError(f"{what}: unknown group {sorted(unknown)[0]!r} (known: {', '.join(_GROUPS)})")
        labels: dict[str, list[str]] = {}
        for group, variable in _GROUPS.items():
            width = getattr(self, variable).shape[1]
            default = [f"{group}[{i}]" for i in range(width)] if what == "names" else [""] * width
            labels[group] = [str(label) for label in given.get(group, default)]
            if len(labels[group]) != width:
                raise OptionError(f"{what}['{group}'] must have {width} entries, got {len(labels[group])}")
        return labels

    def _end_row(self, end: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
        row = {}
        for name in _END:
            shape = getattr(self, name).shape[1:]
            if name not in end and math.prod(shape) and dtype_of(name) is not np.float64:
                raise OptionError(f"end['{name}'] is missing")
            given = end.get(name, np.full(shape, np.nan if dtype_of(name) is np.float64 else 0))
            row[name] = _array(f"end['{name}']", given, dtype_of(name))
            if row[name].size == 0:
                row[name] = row[name].reshape(shape)
            if row[name].shape != shape:
                raise OptionError(f"end['{name}'] must have shape {list(shape)}, got {list(row[name].shape)}")
        return row

    @property
    def model(self) -> Model | None:
        """What moved, rebuilt from the recording when first asked for; None where it is not known.

        Raises:
            RecordError: the recording holds a model that cannot be read here.
        """
        stored = self._model if self._model is not None else described(self.attrs)
        if isinstance(stored, StoredModel):
            self._model = stored = stored.restore()
        return stored

    @property
    def stored_model(self) -> StoredModel | None:
        """The model as files hold it; None where it is not known."""
        if self._model is None or isinstance(self._model, StoredModel):
            return self._model
        return StoredModel.of(self._model)

    @property
    def total_energy(self) -> NDArray[np.float64]:
        """Potential plus kinetic energy [T], J."""
        return self.energy[:, 0] + self.energy[:, 1]

    @property
    def energy_drift(self) -> float:
        """Largest relative change of the energy over the run, nan if unknown; see `saltus.record.energy_drift`.

        Work of motors, dampers and given equations is part of it; `energy_report` tells the integrator's error from it.
        """
        return energy_drift(self.energy)

    def energy_report(self) -> EnergyReport:
        """Where the energy is and where it went, of a run that kept a ledger.

        Raises:
            OptionError: it did not.
        """
        return EnergyReport(self)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        integrator = self.attrs.get("integrator")
        parts = [f"{self.duration:.4g} s", count(len(self), "sample"), *([str(integrator)] if integrator else [])]
        if len(self.events):
            parts.append(count(len(self.events), "event"))
        if figure := energy_figure(self):
            parts.append(f"{figure.name} {figure.value}")
        return f"<Trajectory: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from saltus.record.html import trajectory_table

        return trajectory_table(self)

    def to_xarray(self) -> xarray.Dataset:
        """The recording as a dataset whose variables carry these attributes' names, with units and long names.

        `time` is the first dimension; the columns of `qpos` lie along `qpos_name`, whose coordinate holds the labels
        (`ds.qpos.sel(qpos_name="elbow")`), those of `energy` along `energy_kind`; events along `event`.
        """
        from saltus.record.dataset import to_dataset

        return to_dataset(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording as netCDF4, whole or not at all; `load` brings back every bit of it.

        With the suffix .zarr it becomes a Zarr store, as streamed runs make them, where there is none yet.

        Raises:
            RecordError: it cannot be written; a previous file at `path` is untouched.
        """
        from saltus.record.file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read a recording that `save` or a streamed run wrote; of one that was cut short, what was committed.

        Raises:
            RecordError: there is no such file, or it is not a recording.
        """
        from saltus.record.file import load

        return load(path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw positions, velocities and energies over time; written to `path` too (.png, .svg, .pdf) where given.

        Raises:
            OptionError: another suffix.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot import plot

        return plot(self, path)

    def video(
        self,
        path: str | os.PathLike[str],
        fps: float | None = None,
        *,
        speed: float = 1.0,
        renderer: str = "saltus",
        text: bool | str = True,
        ghosts: Sequence[Trajectory] = (),
        progress: Any = None,
        **view: Any,
    ) -> None:
        """Write a film: MP4 (H.264), WebM (VP9) or GIF by the suffix, whole or not at all.

        Frame k shows the motion at k speed / fps seconds after the first sample, and ceil(duration fps / speed) frames
        are drawn, whatever the step and the sampling were; see `saltus.record.frames` for states between samples.

        Args:
            fps: frames a second (None: 60, of a GIF 50, since browsers slow down what is faster).
            speed: simulated seconds that a second of the film shows.
            renderer: "saltus", which needs no graphics library, or "mujoco", MuJoCo's, where OpenGL works.
            text: whether to write time, integrator and timestep into the picture; or a text to put before them.
            ghosts: other recordings of the same model, drawn translucent.
            progress: True or False to show a bar or not, or a function of the fraction done; None: in a terminal.
            view: width, height (even for MP4 and WebM), camera, follow, contacts, com, ... of
            `saltus.draw.scene.view.View`.
                `contacts` are computed anew from the recorded states (forces that were applied from outside are not
                recorded, and not in them); with hard contact they are those of the nearest sample.

        Raises:
            OptionError: an argument that cannot be used.
            RecordError: the recording has no model, or the file cannot be written; a previous one is untouched.
        """
        from saltus.record.video import write_video

        options = {"speed": speed, "renderer": renderer, "text": text, "ghosts": ghosts, "progress": progress}
        write_video(self, path, fps, **options, **view)

    def show(self, fps: float = 30, **options: Any) -> Video:
        """A film to be seen in a notebook; options as of `video`. Its `save` writes it to a file (.mp4)."""
        from saltus.record.video import make_video

        return make_video(self, fps, **options)

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        time: float | None = None,
        *,
        renderer: str = "saltus",
        text: bool | str = False,
        ghosts: Sequence[Trajectory] = (),
        **view: Any,
    ) -> Image:
        """Draw the state at a time (s, as in `time`; None: the last); written to `path` too (.png, .jpg) where given.

        The other options are those of `video`. Returns a Pillow image, which notebooks show.
        """
        from saltus.record.picture import trajectory_picture

        options = {"renderer": renderer, "text": text, "ghosts": several("ghosts", ghosts)}
        return trajectory_picture(self, path, time, **options, **view)

    def report(self, path: str | os.PathLike[str], *, video: bool = True, progress: Any = None, **options: Any) -> None:
        """Write one HTML page about the run: plots, accuracy, events, options, and a film unless `video` is False.

        The page holds all that it shows and opens without a network. `options`: those of `video`.
        """
        from saltus.record.report import write_report

        write_report(self, path, video=video, progress=progress, **options)


def _column(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = _array(name, values, np.float64)
    if array.ndim != 1:
        raise OptionError(f"{name} must have shape [T], got {list(array.shape)}")
    return array


def _table(
    name: str, values: ArrayLike, count: int, width: int | None = None, dtype: type = np.float64
) -> NDArray[Any]:
    array = _array(name, values, dtype)
    if array.ndim != 2 or len(array) != count or width not in (None, array.shape[1]):
        raise OptionError(f"{name} must have shape [{count}, {width or 'n'}], got {list(array.shape)}")
    return array


def _poses(pos: ArrayLike | None, quat: ArrayLike | None, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mocap poses [count, n, 3] and [count, n, 4]."""
    if (pos is None) != (quat is None):
        raise OptionError("mocap_pos and mocap_quat go together, got one of them")
    if pos is None or quat is None:
        return np.empty((count, 0, 3)), np.empty((count, 0, 4))
    poses = _array("mocap_pos", pos, np.float64), _array("mocap_quat", quat, np.float64)
    if poses[0].shape != (count, *poses[0].shape[1:2], 3) or poses[1].shape != (*poses[0].shape[:2], 4):
        shapes = f"{list(poses[0].shape)} and {list(poses[1].shape)}"
        raise OptionError(
            f"mocap_pos and mocap_quat must have shapes [{count}, n, 3] and [{count}, n, 4], got {shapes}"
        )
    return poses


def _points(given: tuple[ArrayLike | None, ...], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Modes, forces and places of contact points, all of them or none, as many as `contact_state` has of a shape."""
    if all(values is None or np.shape(values)[1:2] in ((), (0,)) for values in given):
        count = shape[0]
        return [np.empty((count, 0), np.int8), np.empty((count, 0, 3)), np.empty((count, 0, 3))]
    found = []
    for name, values in zip(POINTS, given, strict=True):
        if values is None:
            raise OptionError(f"contact_mode, contact_force and contact_pos go together; {name} is missing")
        expected = shape if name == "contact_mode" else (*shape, 3)
        array = _array(name, values, dtype_of(name))
        if array.shape != expected:
            raise OptionError(f"{name} must have shape {list(expected)}, as contact_state, got {list(array.shape)}")
        found.append(array)
    return found


def _array(name: str, values: ArrayLike, dtype: type) -> NDArray[Any]:
    try:
        return np.ascontiguousarray(values, dtype=dtype) if np.ndim(values) else np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name} is not an array of numbers: {error}") from error


def _attributes(given: Mapping[str, Any]) -> dict[str, Any]:
    attributes = {}
    for key, value in given.items():
        name = str(key)
        if not name or "/" in name or name.startswith(("_", "trajectory_")):
            raise OptionError(f"attrs: the name {name!r} cannot be recorded (empty, with '/', or reserved)")
        attributes[name] = _plain(f"attrs['{name}']", value)
    return attributes


def _plain(name: str, value: Any) -> Any:
    """The value in plain Python types, which a file brings back as they are."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(f"{name}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(f"{name}['{key}']", item) for key, item in value.items()}
    raise OptionError(f"{name}: {type(value).__name__} cannot be recorded (text, numbers, lists and mappings can)")
