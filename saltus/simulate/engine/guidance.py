"""Guided bodies of one engine: joints and mocap bodies that prescribed motions or users move."""

import numpy as np

from saltus.errors import warn
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.simulate.engine import loops, movers
from saltus.simulate.engine.events.start import check_start
from saltus.simulate.laws.motions import MotionLaws, check_values

OTHER = 1e-9  # relative to 1 and to the value: larger differences are changes by users


class Guidance:
    """Motions of joints and mocap bodies that do not follow from forces.

    `m`, d: Model and Data as kernels take them. `has_movers`: mocap bodies have velocities. `jumped`: a mocap body has
    been moved instantly since the last step.
    """

    def __init__(self, model: Model, motions: MotionLaws, m: Struct, d: Struct, locates_events: bool):
        self.m = m
        self.has_movers = "movers" in m.layout.features
        self.jumped = False
        self._model, self._motions, self._d, self._locates_events = model, motions, d, locates_events
        self._prescribed_at: float | None = None  # when prescribed motions were last set
        self.said: set[str] = set()

    # ------------------------------------------------------------ prescribed motions

    def take_motions(self) -> None:
        """Compile the functions of prescribed motions; OptionError if one cannot be compiled or is not finite."""
        if not self._motions:
            return
        views = self._d.views
        for name, addresses in self._motions.addresses().items():
            views[name][:] = addresses
        check_values(self._motions, float(views["time"]), self.motion_values)
        if self._motions.bodies:
            self._warn_of_unfelt()

    def motion_values(self) -> list[np.ndarray]:
        """Values of all prescribed motions at the present time, one row each."""
        loops.prescribe(self.m, self._d)
        views, m = self._d.views, self.m
        at, dof, k = m.motion_qposadr, m.motion_dofadr, m.carrier_mocapid
        rows = [np.stack([views["qpos"][at], views["qvel"][dof], views["qacc_prescribed"][dof]], 1)] if len(at) else []
        bodies = [views[name][k] for name in ("mover_pos", "mover_quat", "mover_vel", "mover_acc")]
        return [*(rows[0] if rows else ()), *(np.concatenate(bodies, 1) if len(k) else ())]

    def place(self) -> None:
        """Move all guided bodies to their places in a new state."""
        self._prescribed_at = None
        if self.has_movers:
            movers.place(self._d.views)
        self.prescribe()

    def prescribe(self, by_users: bool = False) -> None:
        """Put joints and mocap bodies with prescribed motions at their values for the present time.

        `by_users`: users may have changed the state since; one warning names changes that are not used.
        """
        if not self._motions:
            return
        before, time = self._moved_by_motions(), float(self._d.views["time"])
        loops.prescribe(self.m, self._d)
        after = self._moved_by_motions()
        was_set = by_users and self._prescribed_at == time and not np.allclose(before, after, rtol=OTHER, atol=OTHER)
        if was_set and self._is_new("overwritten"):
            names = ", ".join(map(repr, self._motions.names))
            warn(f"positions and velocities of {names} are those of their motions; values that were set are ignored")
        self._prescribed_at = time

    def _moved_by_motions(self) -> np.ndarray:
        """The part of the state that prescribed motions set."""
        views, m = self._d.views, self.m
        bodies = views["mocap_pos"][m.carrier_mocapid], views["mocap_vel"][m.carrier_mocapid if m.nmover else []]
        return np.concatenate(
            [views["qpos"][m.motion_qposadr], views["qvel"][m.motion_dofadr], *(part.ravel() for part in bodies)]
        )

    # ------------------------------------------------------------ mocap bodies

    def move_mocap(self, duration: float) -> None:
        """Set velocities of mocap bodies for the next `duration` s; changed velocities make contact modes unknown."""
        if duration > 0.0:
            changed, jumped = movers.set_out(self._d.views, duration)
            if changed or jumped:
                self._d.views["modes_known"][:] = 0.0
                self._warn_of_unfelt()
            if jumped and self._locates_events:
                check_start(self._model, self.m, self._d, self.said, started=True)

    def place_mocap(self) -> bool:
        """Move mocap bodies to their poses instantly; returns whether any moved."""
        return self.has_movers and movers.place(self._d.views)

    def mocap_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses of mocap bodies at the present time: positions [nmocap, 3] (m), orientations [nmocap, 4]."""
        views = self._d.views
        return movers.poses(views) if self.has_movers else (views["mocap_pos"], views["mocap_quat"])

    def end_step(self) -> None:
        """Bring guided bodies to the time at which steps have ended."""
        self.jumped = False
        self.prescribe()
        if self.has_movers:
            movers.advance(self._d.views)

    def allow_warnings(self) -> None:
        """Warn again of what was warned of already."""
        self.said.clear()

    def _warn_of_unfelt(self) -> None:
        """Warn once of objects that do not feel the velocities of mocap bodies."""
        if self._is_new("unfelt") and (unfelt := movers.unfelt(self._model)):
            warn(f"velocities of mocap bodies act on contacts, connects and welds, not on {', '.join(unfelt)}")

    def _is_new(self, warning: str) -> bool:
        """Whether a warning has not been given yet; it counts as given from now on."""
        new = warning not in self.said
        self.said.add(warning)
        return new
