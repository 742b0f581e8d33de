"""The frames of a film of a recording: their times, states and pictures.

Frame k shows the time k speed / fps after the first sample. There are ceil(duration fps / speed) of them: the film of
5 s at 60 frames a second has 300, the last of which is shown until 5 s are over.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import text_of, usable_cores
from saltus.draw.scene.framing import motion_camera
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View
from saltus.errors import OptionError
from saltus.record.table.interpolate import Interpolator

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.record.table.trajectory_table import TrajectoryTable

POSITIONS = ("qpos", "mocap_pos", "mocap_quat")  # columns that say where everything is
RENDERERS = ("saltus", "mujoco")
BLOCK = 256  # frames whose states are computed at a time
AHEAD = 3  # frames that a thread draws before they are asked for
THREADS = 4  # threads that draw
WORTH = 20  # frames for which another thread is worth its renderer


def frame_rate(fps: Any) -> Fraction:
    """Frames per second as a ratio of whole numbers; OptionError for an unusable rate."""
    try:
        rate = Fraction(fps).limit_denominator(100_000)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise OptionError(f"fps must be a number of frames per second, got {fps!r}") from None
    if not (0 < rate <= 1000) or isinstance(fps, bool):
        raise OptionError(f"fps must be above 0 and at most 1000, got {fps!r}")
    return rate


def frame_count(duration: float, rate: Fraction, speed: float = 1.0) -> int:
    """Number of frames in a film of so many simulated seconds; at least one."""
    exact = duration * float(rate) / speed
    nearest = round(exact)
    # 0.1 s 30 times is slightly more than 3 s: rounding must not add a frame
    count = nearest if abs(exact - nearest) <= 1e-9 * max(1.0, exact) else math.ceil(exact)
    return max(count, 1)


@dataclass(frozen=True, eq=False)
class Film:
    """Contents of a film; made by `Film.of`, which checks its arguments."""

    trajectory: TrajectoryTable
    model: Model
    view: View
    renderer: str
    text: bool | str
    ghosts: tuple[TrajectoryTable, ...]
    rate: Fraction
    speed: float
    count: int

    @classmethod
    def of(
        cls,
        trajectory: TrajectoryTable,
        fps: Any = 60,
        *,
        speed: float = 1.0,
        renderer: str = "saltus",
        text: bool | str = True,
        ghosts: Sequence[TrajectoryTable] = (),
        **view: Any,
    ) -> Film:
        """A film with the arguments of `Trajectory.video`, checked."""
        if text_of("renderer", renderer) not in RENDERERS:
            raise OptionError.unknown("renderer", renderer, RENDERERS)
        if not isinstance(text, bool | str):
            raise OptionError(f"text must be True, False or a text, got {text!r}")
        if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed < math.inf:
            raise OptionError(f"speed must be positive, got {speed!r}")
        if not len(trajectory):
            raise OptionError("there are no samples to render")
        model, rate, seen = model_of(trajectory), frame_rate(fps), View.of(**view)
        for ghost in ghosts:
            if not hasattr(ghost, "qpos"):
                raise OptionError(f"each of ghosts must be a Trajectory, got {ghost!r}")
            if not len(ghost) or ghost.qpos.shape[1] != model.nq:
                raise OptionError(
                    f"a ghost has {ghost.qpos.shape[1]} positions, {len(ghost)} samples; needs {model.nq}"
                )
        if seen.camera is None and seen.follow is None:
            seen = replace(seen, camera=_of_motion(model, seen, trajectory, *ghosts))
        last = trajectory.time[-1] if trajectory.end is None else trajectory.end["time"]
        count = frame_count(float(last - trajectory.time[0]), rate, speed)
        return cls(trajectory, model, seen, renderer, text, tuple(ghosts), rate, float(speed), count)

    def times(self, frames: range) -> NDArray[np.float64]:
        """Times of some frames (s after the first sample)."""
        return np.array([float(k / self.rate) for k in frames]) * self.speed

    def moments(self, times: NDArray[Any] | None = None) -> Iterator[tuple[Still, tuple[Still, ...], str]]:
        """Still, ghosts and text of each frame, or of pictures at other times (s after the first sample)."""
        contacts = self._contacts()
        motions = [Interpolator(t, self.model) for t in (self.trajectory, *self.ghosts)]
        blocks = (self.times(range(k, min(k + BLOCK, self.count))) for k in range(0, self.count, BLOCK))
        for after in blocks if times is None else [times]:
            rows = [motion.at(motion.start + after) for motion in motions]
            for k, seconds in enumerate(after):
                state, *others = ({name: table[k] for name, table in row.items()} for row in rows)
                touching, cop = (None, None) if contacts is None else contacts(state, motions[0].start + seconds)
                poses = {name: state[name] for name in POSITIONS}
                still = Still(**poses, contacts=touching, tree_asleep=state["tree_asleep"], cop=cop)
                ghosts = tuple(Still(o["qpos"], o["mocap_pos"], o["mocap_quat"]) for o in others)
                yield still, ghosts, self._caption(motions[0].start + seconds)

    def pictures(self, times: NDArray[Any] | None = None) -> Iterator[NDArray[np.uint8]]:
        """Yield the frames [height, width, 3], or pictures at other times; other threads draw them ahead of use."""
        count = self.count if times is None else len(times)
        # MuJoCo's renderer draws with threads or hardware of its own
        most = 1 if self.renderer == "mujoco" else min(THREADS, usable_cores())
        with ExitStack() as stack:
            artists = [stack.enter_context(_artist(self)) for _ in range(max(1, min(most, count // WORTH)))]
            pending: deque[Future[Any]] = deque()
            stack.callback(lambda: [future.cancel() for future in pending])
            for k, moment in enumerate(self.moments(times)):
                pending.append(artists[k % len(artists)](*moment))
                if len(pending) > AHEAD * len(artists):
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()

    def _contacts(self) -> Callable[[dict[str, Any], float], tuple[NDArray[Any], NDArray[Any]]] | None:
        """A function of the state and the time (s, as in the recording) that gives contacts and centre of pressure.

        None where neither is drawn.
        """
        if not (self.view.contacts or self.view.cop):
            return None
        from saltus.compat.humans import centre_of_pressure_of
        from saltus.record.table.contact_forces import ContactForces, nearest_sample, recorded_contacts, upwards

        # forces of soft contact are those of the states between samples, too
        if self.trajectory.contact_mode.shape[1] and self.trajectory.attrs.get("contact") != "soft":
            recorded = self.trajectory
            pressure = centre_of_pressure_of(recorded, None, upwards(self.model)) if self.view.cop else None
            nowhere = np.full(3, np.nan)
            return lambda state, time: (
                recorded_contacts(recorded, time),
                nowhere if pressure is None else pressure[nearest_sample(recorded, time)],
            )
        if self.trajectory.attrs.get("dynamics"):
            what = self.trajectory.attrs["dynamics"]
            raise OptionError(f"contacts: their forces follow from {what}, which is not part of the recording")
        step = self.trajectory.attrs.get("timestep")
        forces = ContactForces(self.model, None if self.adaptive or not isinstance(step, float) else step)
        return lambda state, time: (forces.at(state), forces.pressure())

    @property
    def adaptive(self) -> bool:
        """Whether the integrator chose the steps of the run."""
        from saltus.integrate.registry import integrators

        method = integrators().get(str(self.trajectory.attrs.get("integrator")))
        return method is not None and method.adaptive

    def _caption(self, time: float) -> str:
        if self.text is False:
            return ""
        parts = [self.text] if isinstance(self.text, str) and self.text else []
        parts.append(f"t = {time + 0.0:.2f} s")
        attrs = self.trajectory.attrs
        if attrs.get("integrator"):
            step = attrs.get("timestep")
            method = str(attrs["integrator"])
            parts.append(method if self.adaptive or not isinstance(step, float) else f"{method}, h = {step:.4g} s")
        return "   ".join(parts)


def _of_motion(model: Model, view: View, *trajectories: TrajectoryTable) -> Camera:
    """The camera of the default view, or one that keeps all recorded motions in the picture."""
    states = [s for t in trajectories for s in zip(*(getattr(t, name) for name in POSITIONS), strict=True)]
    return motion_camera(model.mujoco, view.groups, states, view.width / view.height)


def model_of(trajectory: TrajectoryTable) -> Model:
    """The model of a recording; OptionError if it is not known."""
    model = trajectory.model
    if model is None:
        raise OptionError("the recording does not contain its model, which rendering requires")
    return model


@contextmanager
def _artist(film: Film) -> Iterator[Callable[..., Future[Any]]]:
    """A thread that draws: a function of a still, its ghosts and a text that promises the picture.

    The renderer is made and closed where it draws, since OpenGL is tied to a thread.
    """
    from saltus.draw.renderer import make_renderer

    with ThreadPoolExecutor(1, thread_name_prefix="saltus-draw") as pool:
        renderer = pool.submit(make_renderer, film.model, film.view, film.renderer).result()
        try:
            yield partial(pool.submit, renderer.draw)
        finally:
            pool.submit(renderer.close).result()
