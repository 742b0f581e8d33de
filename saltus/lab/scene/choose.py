"""Choice of a scene: by its name, or for a model of the user, a simulation or a recording."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saltus.errors import ModelError, OptionError, proposal
from saltus.lab.making.setup import LabStart
from saltus.lab.player import Player
from saltus.lab.scene.pendularm import GHOSTS
from saltus.lab.scene.planned import PlannedSession
from saltus.lab.scene.scenes import Scene, scenes
from saltus.lab.session import LiveSession
from saltus.model.load import load
from saltus.record.trajectory import Trajectory
from saltus.simulate.laws.control import Controller
from saltus.simulate.simulation import Simulation

if TYPE_CHECKING:
    from saltus.lab.base_session import Session
    from saltus.lab.data.recording import Downloads
    from saltus.lab.planning.pilot import ControlFunction
    from saltus.model.load import ModelSource
    from saltus.model.model import Model

UNNAMED = "MuJoCo Model"  # MuJoCo's name for a model without a name


def find_scene(
    what: ModelSource | Simulation | Trajectory | list[Trajectory] | tuple[Trajectory, ...],
    options: dict[str, Any],
    ignore: list[str],
    control: Controller | ControlFunction | None = None,
    plan: Sequence[str] | None = None,
) -> Scene:
    """Return the scene for a name, model, simulation or trajectories. ModelError, OptionError: it cannot be shown.

    `control`, `plan`: of `saltus.lab.open`; with a control, a name is that of a bundled model, not of a scene.
    """
    if isinstance(what, Trajectory | list | tuple):
        if control is not None:
            raise OptionError("control: a recording has no controls to choose")
        return _recordings([what] if isinstance(what, Trajectory) else what, options, ignore)
    source = what if isinstance(what, Simulation) else None
    if source is not None and source.dynamics is not None:
        raise OptionError(
            f"{source.dynamics} does not follow changes of the model in the lab; show a recording instead"
        )
    if control is not None and not (callable(control) or isinstance(control, Controller)):
        raise OptionError(
            f"control must be a function f(sim), a planner or a controller, got a {type(control).__name__}"
        )
    if plan is not None and control is None:
        raise OptionError("plan: there is none without a planner; give one as control=saltus.mppi(...)")
    if isinstance(what, str) and what in scenes() and not ignore and control is None:
        return scenes()[what]
    if isinstance(what, str) and _is_bare(what) and what not in scenes() and not Path(what).exists():
        raise ModelError(f"no such file{proposal(what, scenes())} (scenes: {', '.join(scenes())})", file=what)
    model = load(what.model if isinstance(what, Simulation) else what, ignore=ignore)
    name = name_of(what, model.name)
    name = name if name not in scenes() else f"{name} (yours)"
    given: dict[str, Any] = {}
    if source is not None:
        given |= {"integrator": source.integrator, "contact": source.law, "timestep": source.timestep}
        given |= {"control": source.control, "source": source}
    if control is None:
        return model_scene(name, model, **given)
    if isinstance(control, Controller):
        return model_scene(name, model, **{**given, "control": control})
    return planned_scene(name, model, control, plan, **given)


def _recordings(trajectories: Sequence[Trajectory], options: dict[str, Any], ignore: list[str]) -> Scene:
    """The scene that plays recordings on one timeline, those after the first as ghosts."""
    if not trajectories or not all(isinstance(one, Trajectory) for one in trajectories):
        raise OptionError("the lab plays several recordings together; a list must hold trajectories alone")
    if options.keys() - {"speed", "playing"} or ignore:
        raise OptionError("a recording has no integrator, timestep or parameters to choose")
    first, *others = trajectories

    def play(downloads: Downloads, given: Mapping[str, Any]) -> Session:
        return Player(first, downloads, ghosts=others, **given)

    return Scene("recording", "Recording", "Yours", play)


def model_scene(name: str, model: Model, **given: Any) -> Scene:
    """Make a scene of a user's model."""
    given = {"ghosts": GHOSTS if model.nbody < 10 else (), **given}
    return Scene(name, name, "Yours", lambda d, o: LiveSession(LabStart(name, name, model, **{**given, **o}), d))


def planned_scene(
    name: str, model: Model, function: ControlFunction, plan: Sequence[str] | None = None, **given: Any
) -> Scene:
    """Make a scene of a user's model under a control function or planner in Python; `given`: as `model_scene`."""

    def open_scene(downloads: Downloads, options: Mapping[str, Any]) -> Session:
        return PlannedSession(LabStart(name, name, model, **{**given, **options}), downloads, function, plan)

    return Scene(name, name, "Yours", open_scene, standalone=False)


def _is_bare(what: str) -> bool:
    """Whether a text is a bare name, not a file name or XML."""
    return not (what.lstrip().startswith("<") or Path(what).suffix)


def name_of(what: Any, name: str) -> str:
    """Display name of a model: its own, else the stem of its file, else "model"."""
    if name != UNNAMED:
        return name
    is_path = isinstance(what, os.PathLike) or (isinstance(what, str) and not what.lstrip().startswith("<"))
    return Path(what).stem if is_path else "model"
