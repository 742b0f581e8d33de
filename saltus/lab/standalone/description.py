"""Description of a session for a standalone page: the scene, controls, signals and their indices in Data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from saltus.draw.scene.paths import elements
from saltus.draw.scene.scene import GROUPS, shown_flexes
from saltus.errors import OptionError
from saltus.lab.messages.protocol import BOUNDS
from saltus.lab.motion import TIMING
from saltus.model.event_enums import JUMPS
from saltus.model.sensor_enums import FIXED
from saltus.simulate.laws.contact import Hard
from saltus.version import __version__

if TYPE_CHECKING:
    from saltus.lab.session import LiveSession
    from saltus.simulate.simulation import Simulation

STATE = (
    *("time", "qpos", "qvel", "eq_active", "act", "ctrl", "mocap_pos", "mocap_quat", "history", "control_prm"),
    *("plastic", "actuation_state"),
)
NUMBERS = ("restitution", "friction")  # of hard contact


def description(session: LiveSession, simulations: Sequence[Simulation]) -> dict[str, Any]:
    """Describe a session for the page, with the integrators and contact laws of these simulations."""
    setup, sim, model = session.setup, simulations[0], session.sim.model
    scene = session.scene()
    offered = {s.integrator.name for s in simulations}
    scene["integrators"] = [name for name in scene["integrators"] if name in {*offered, "none"}]
    scene["contacts"] = list(dict.fromkeys(s.contact for s in simulations))
    scene["sliders"] = [slider for slider in scene["sliders"] if slider["group"] != "parameter"]
    scene["cameras"] = [scene["cameras"][i] for i in fixed_cameras(model.mujoco)]
    scene["ghosts"] = [ghost for ghost in scene["ghosts"] if ghost["name"] in offered]
    return {
        "hello": {
            **{"type": "hello", "role": "writer", "bounds": BOUNDS, "version": __version__, "upload": 0},
            "scenes": [{"name": setup.name, "title": setup.title, "group": ""}],
        },
        "scene": scene,
        "own": session.page_data(),
        "integrator": session.integrator_name(),
        "contact": sim.contact,
        "timestep": sim.timestep,
        "speed": setup.speed,
        "playing": setup.playing,
        "timing": TIMING,
        "ghosts": bool(session.builder.wanted.ghosts),
        "starts": {key: _start(session, sim, key or None) for key in ["", *scene["keys"]]},
        "handles": {h.slider.id: _handle(h) for h in session.handles.values()},
        "signals": [asdict(signal) for source in session.own_sources() for signal in source.signals],
        "sources": [
            {"count": len(s.signals), "field": s.field, "places": s.places, "computed": s.computed}
            for s in session.own_sources()
        ],
        "preset": session.signals.preset,
        "gravity": [float(g) for g in model.opt.gravity],
        "hard": _hard(session, simulations),
        "dofs": [list(map(int, place)) for place in session.show.places],
        "jumps": list(JUMPS),
        "motors": [m.place(model) for m in session.motors],
        "drawn": _drawn(session),
        "masses": model.body_mass.tolist(),
        "subtreeMasses": [float(model.body_subtreemass[model.body_rootid[b]]) for b in range(model.nbody)],
        "bodyIds": {"root": model.body_rootid.tolist(), "mocap": model.body_mocapid.tolist()},
        "controlled": sim.control is not None,
        "controlStates": 0 if sim.control is None else sim.control.states_of(model),
    }


def _start(session: LiveSession, sim: Simulation, key: str | None) -> dict[str, list[float]]:
    """The state after a reset to a keyframe, or to the scene's initial state."""
    session.setup.reset(sim, session.setup.key if key is None else key)
    views = sim.engine.d.views
    found = {name: np.ravel(views[name]).tolist() for name in STATE if views[name].size}
    session.setup.reset(sim, session.setup.key)
    return found


def _handle(handle: Any) -> dict[str, Any]:
    return {"field": handle.field, "index": handle.index, "turns": handle.turns, "rest": handle.rest}


def _hard(session: LiveSession, simulations: Sequence[Simulation]) -> dict[str, Any]:
    """Coefficients of hard contact and their indices in the kernels' Model; empty without hard contact."""
    found: dict[str, Any] = {}
    for sim in simulations:
        if isinstance(sim.law, Hard):
            known = {name: getattr(sim.law, name) for name in NUMBERS}
            found = {"values": known, "places": {name: _places(session, sim, name) for name in NUMBERS}}
            break
    return found


def _places(session: LiveSession, sim: Simulation, name: str) -> list[int]:
    """Indices in the kernels' Model of a coefficient, found by changing it.

    There are none if it changes the compiled code, or if the model does not allow all values, as with static friction.
    """
    try:
        structs = [_with_number(sim, name, value) for value in (0.25, 0.75)]
    except OptionError:
        return []
    if structs[0].layout.name != structs[1].layout.name or structs[0].real.shape != structs[1].real.shape:
        return []
    return np.flatnonzero((structs[0].real == 0.25) & (structs[1].real == 0.75)).tolist()


def _with_number(sim: Simulation, name: str, value: float) -> Any:
    law: Any = replace(sim.law, **{name: value})  # type: ignore[type-var]
    numbers = law.numbers(sim.model, event=sim.engine.locates_events)
    given = sim.engine.hard
    if given is None:
        raise ValueError(f"{sim.contact} contact has no numbers")
    numbers = numbers._replace(user_events=given.user_events, actuation_states=given.actuation_states)
    return sim.model.struct(timestep=0.0, laws=sim.engine.laws._replace(hard=numbers))


def _drawn(session: LiveSession) -> dict[str, Any]:
    """Indices of tendons and deformable bodies in the kernels' Data, and the cameras' frames."""
    m = session.sim.model.mujoco
    first = session.sim.model.struct().views["tendon_adr"]
    return {
        "tendons": [[int(first[t]) + part, count] for t, part, count in elements(m, GROUPS)],
        "flexes": [[int(m.flex_vertadr[i]), int(m.flex_vertnum[i])] for i in shown_flexes(m)],
        "cameras": [
            {"body": int(m.cam_bodyid[i]), "pos": m.cam_pos[i].tolist(), "quat": m.cam_quat[i].tolist()}
            for i in fixed_cameras(m)
        ],
    }


def fixed_cameras(m: mujoco.MjModel) -> list[int]:
    """Indices of the cameras fixed to their bodies, the only ones a page has."""
    return [i for i in range(m.ncam) if m.cam_mode[i] == FIXED]
