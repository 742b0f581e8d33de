"""`Trajectory`: the recording of a run, with files, figures, films and reports."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from saltus.arguments import several
from saltus.compat.humans import HumansNames
from saltus.draw.scene.view import ViewOptions
from saltus.errors import OptionError
from saltus.record.energy_figure import energy_figure
from saltus.record.energy_report import EnergyReport
from saltus.record.film.options import FilmOptions, ReportOptions
from saltus.record.io.store import StreamedTable
from saltus.record.table.lookup import NamedColumns
from saltus.record.table.trajectory_table import TrajectoryTable
from saltus.terminal.display import count, notebook_html
from saltus.terminal.progress import ProgressChoice

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from saltus.record.film.video import Video


class Trajectory(HumansNames, NamedColumns):
    """A recorded run.

    Attributes:
        time [T]: s.
        qpos [T, nq]: positions (rad, m, quaternion parts).
        qvel [T, nv]: velocities (rad/s, m/s).
        act [T, na]: actuator activations.
        ctrl [T, nu]: controls.
        energy [T, 2]: potential and kinetic energy, J; nan where not recorded.
        contact_state [T, n]: whether each contact point is closed, bool. Recordings of deformable bodies, and of models
            with more than 1000 points, have pairs of geoms here and none of the next three; those of models in which
            more than 20 000 pairs may touch have geoms, closed where they touch anything.
        contact_mode [T, n]: 0 open, 1 sticking, 2 slipping, int8.
        contact_force [T, n, 3]: force on the second geom of each contact point, N, world axes; with `moreau_jean` the
            mean over the last step.
        contact_pos [T, n, 3]: where each closed contact point is, m, world axes, nan while it is open.
        actuation_state [T, k]: discrete state of actuation, where there is any.
        ledger [T, n]: energies and work since the start, J, in the order of `saltus.record.table.ledger.ACCOUNTS`; in
            runs that keep a ledger (`sim.run(..., ledger=True)`), otherwise [T, 0]. See `energy_report`.
        tree_asleep [T, ntree]: which kinematic trees sleep, int32, of models whose trees may: the next of those that
            sleep together, or below 0 for those awake; otherwise [T, 0].
        prescribed_force [T, k]: forces that prescribed motions of joints need (N m, N), in the order of
            `names["motion"]`; [T, 0] without any.
        restarts [T, 2]: how often the integrator has started anew at a located event or a break since the run's start:
            with its memory (the step size of `dopri5`), and from nothing; [T, 0] where no events are located.
        solver_niter [T, 1]: iterations of the constraint solver in the step that led to the sample, 0 before the first
            one; [T, 0] without a solver, where events are located, in adaptive steps and in sweeps of many runs.
        sensordata [T, nsensordata]: readings of all sensors, in the order of the file (units["sensor"]), without noise;
            nan where forces cannot be computed; [T, 0] without any.
        signals [T, k]: what `sim.run(..., record=...)` was asked for, one number after the other, with labels in
            names["signal"]; `trajectory["xpos[hand]"]` gives one of them.
        mocap_pos [T, nmocap, 3], mocap_quat [T, nmocap, 4]: poses of bodies that are moved from outside (m).
        end: the row at the run's end, by the names of these columns, where no sample lies there; otherwise None.
        events: structured array [E] with the fields of `saltus.record.EVENT_DTYPE`: time (s), kind ("impact",
            "liftoff", "stick", "slip", ...), name, other, gap (m), velocity (m/s), impulse [3] (N s), energy_before
            and energy_after (J), nan or "" where not known; and the user's own fields.
        names: labels of the columns, by group: qpos, qvel, act, ctrl, contact, mocap, actuation, tree, motion,
            sensor, signal.
        units: units of the columns, by the same groups; "" for a quaternion part.
        attrs: provenance: model text, integrator, timestep, options, versions, ...; plain Python values.
        certificate: accuracy of the run, where it was measured, otherwise None.

    T, Q, QDOT, Z, ACTUATIONSTATE, CONTACTSTATE and LAMBDA are these columns as the HuMAnS toolbox has them.
    """

    @classmethod
    def of(cls, table: TrajectoryTable) -> Trajectory:
        """Recording made from a table, whose columns it shares."""
        if isinstance(table, Trajectory):
            return table
        if not isinstance(table, TrajectoryTable):
            raise OptionError(f"table must be the table of a recording, got {type(table).__name__}")
        if isinstance(table, StreamedTable):
            return StreamedTrajectory(table.store)
        made = cls.__new__(cls)
        vars(made).update(vars(table))
        return made

    def energy_report(self) -> EnergyReport:
        """Report the energy balance of a run that kept a ledger: where the energy is and where it went.

        Raises:
            OptionError: the run kept no ledger.
        """
        return EnergyReport(self)

    def __repr__(self) -> str:
        integrator = self.attrs.get("integrator")
        parts = [f"{self.simulated_time:.4g} s", count(len(self), "sample"), *([str(integrator)] if integrator else [])]
        if len(self.events):
            parts.append(count(len(self.events), "event"))
        if figure := energy_figure(self):
            parts.append(f"{figure.name} {figure.value}")
        return f"<Trajectory: {', '.join(parts)}>"

    _repr_html_ = notebook_html

    def __add__(self, other: Trajectory) -> Trajectory:
        """Join this recording and one that continues it: of the same model, and from the time at which this one ends.

        Where both have a sample at the join, it is the second's. Work in a ledger goes on; a certificate, which holds
        for one run, is left out. `attrs["parts"]` says how each part was simulated.

        Raises:
            OptionError: the recordings do not continue each other.
        """
        from saltus.record.join import joined

        if not isinstance(other, Trajectory):
            return NotImplemented
        return Trajectory(**joined(self, other))

    def to_xarray(self) -> xarray.Dataset:
        """Return the recording as a dataset; variables have the names of these attributes, with units and long names.

        `time` is the first dimension; the columns of `qpos` lie along `qpos_name`, whose coordinate holds the labels
        (`ds.qpos.sel(qpos_name="elbow")`), those of `energy` along `energy_kind`; events along `event`. Signals that
        were asked for are variables of their own (`ds["xpos[hand]"]`).
        """
        from saltus.record.io.dataset import to_dataset

        return to_dataset(self, apart=True)

    def to_pandas(self, columns: str | Iterable[str] | None = None) -> pandas.DataFrame:
        """Return the samples as a data frame: a column for each number, by full name, over `time` (s).

        `columns`: names as `trajectory[...]` takes them; None: all. Units are in `attrs["units"]` of the frame.

        Raises:
            OptionError: a name is unknown or ambiguous, or pandas is not installed.
        """
        from saltus.record.io.export import to_pandas

        return to_pandas(self, columns)

    def to_csv(self, path: str | os.PathLike[str], columns: str | Iterable[str] | None = None) -> None:
        """Write the samples as a table of numbers separated by commas, below a line of full names, `time` first.

        Numbers have the digits that restore them exactly. `columns`: names as `trajectory[...]` takes them; None: all.

        Raises:
            OptionError: a name is unknown or ambiguous.
            RecordError: the file cannot be written; a previous file at `path` is untouched.
        """
        from saltus.record.io.export import to_csv

        to_csv(self, path, columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to a file, whole or not at all, in the format of the suffix.

        .nc (netCDF4): `load` restores every bit of it. .zarr: a Zarr store like those of streamed runs, which `load`
        reads, too; nothing may exist there yet. Tables of numbers for other programs: .csv and .parquet, as of
        `to_csv` and `to_pandas`; .mat (MATLAB, Octave) and .npz (NumPy) with each column as an array, its labels and
        units, and the events.

        Raises:
            OptionError: another suffix.
            RecordError: the file cannot be written; a previous file at `path` is untouched.
        """
        from saltus.record.io.file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read a recording that `save` or a streamed run wrote; of a run that was cut short, the committed samples.

        Raises:
            RecordError: there is no such file, or it is not a recording.
        """
        from saltus.record.io.file import load

        return cls.of(load(path))

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        signals: str | Iterable[str] | None = None,
        others: Iterable[Trajectory] = (),
    ) -> Figure:
        """Draw positions, velocities and energies over time; written to `path` too (.png, .svg, .pdf) where given.

        Args:
            signals: what to draw instead, by names as `trajectory[...]` takes them ("theta", "ctrl", "gyro",
                "contact_force[floor ball]"): a panel for each.
            others: further recordings, drawn into the same panels with broken lines; with them, `signals` are positions
                and controls unless given.

        Raises:
            OptionError: `path` has another suffix, or a name is unknown in one of the recordings.
            RecordError: the file cannot be written.
        """
        from saltus.record.plot.trajectory import plot

        others = several("others", others)
        if signals is None and not others:
            return plot(self, path)
        from saltus.record.plot.signals import plot_signals

        return plot_signals([self, *others], signals, path)

    def video(
        self,
        path: str | os.PathLike[str],
        fps: float | None = None,
        *,
        speed: float = 1.0,
        renderer: str = "saltus",
        text: bool | str = True,
        ghosts: Sequence[Trajectory] = (),
        progress: ProgressChoice = None,
        **view: Unpack[ViewOptions],
    ) -> None:
        """Write a film: MP4 (H.264), WebM (VP9) or GIF by the suffix, whole or not at all.

        Frame k shows the motion at k speed / fps seconds after the first sample, and ceil(duration fps / speed) frames
        are drawn, whatever the step and the sampling were; see `saltus.record.film.frames` for states between samples.

        Args:
            fps: frames per second (None: 60; for a GIF 50, since browsers slow down faster ones).
            speed: simulated seconds per second of the film.
            renderer: "saltus", which needs no graphics library, or "mujoco", MuJoCo's, where OpenGL works.
            text: whether to write time, integrator and timestep into the picture; or a text to put before them.
            ghosts: other recordings of the same model, drawn translucent.
            progress: True or False to show a bar or not, or a function of the fraction done; None: in a terminal.
            view: width, height (even for MP4 and WebM), camera, follow, contacts, com, ... of
                `saltus.draw.scene.view.View`. `contacts` are computed anew from the recorded states, without forces
                applied from outside, which are not recorded; with hard contact they are those of the nearest sample.

        Raises:
            OptionError: an argument that cannot be used.
            RecordError: the recording has no model, or the file cannot be written; a previous one is untouched.
        """
        from saltus.record.film.video import write_video

        options = {"speed": speed, "renderer": renderer, "text": text, "ghosts": ghosts, "progress": progress}
        write_video(self, path, fps, **options, **view)

    def show(self, fps: float = 30, **options: Unpack[FilmOptions]) -> Video:
        """Make a film to be seen in a notebook; options as of `video`. Its `save` writes it to a file (.mp4)."""
        from saltus.record.film.video import make_video

        return make_video(self, fps, **options)

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        time: float | None = None,
        *,
        renderer: str = "saltus",
        text: bool | str = False,
        ghosts: Sequence[Trajectory] = (),
        **view: Unpack[ViewOptions],
    ) -> Image:
        """Draw the state at a time (s, as in `time`; None: the last); written to `path` too (.png, .jpg) where given.

        The other options are those of `video`. Returns a Pillow image, which notebooks show.
        """
        from saltus.record.film.picture import trajectory_picture

        options = {"renderer": renderer, "text": text, "ghosts": several("ghosts", ghosts)}
        return trajectory_picture(self, path, time, **options, **view)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        video: bool = True,
        progress: ProgressChoice = None,
        **options: Unpack[ReportOptions],
    ) -> None:
        """Write one HTML page about the run: plots, accuracy, events, options, and a film unless `video` is False.

        The page is self-contained and opens without a network. `options`: those of `video`.
        """
        from saltus.record.report.report import write_report

        write_report(self, path, video=video, progress=progress, **options)


class StreamedTrajectory(StreamedTable, Trajectory):
    """A recording in a Zarr store whose columns are each read on first access."""

    def __reduce__(self) -> Any:
        return Trajectory.load, (self.store.path,)
