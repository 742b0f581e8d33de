"""The status of a live session: what changes occasionally."""

from __future__ import annotations

from typing import Any

from saltus.lab.view.method import method_message


def live_status(session: Any) -> dict[str, Any]:
    """The `status` message of a live session except the number of viewers."""
    sim, recorder, builder = session.sim, session.motion.recorder, session.builder
    return {
        "type": "status",
        **{"playing": session.playing, "speed": session.speed, "time": sim.time},
        **{"building": builder.busy, "compiling": builder.compiling()},
        "wanted": builder.wanted.integrator.name,
        **{"integrator": session.integrator_name(), "timestep": sim.timestep, "contact": sim.contact},
        **{"restitution": builder.settings.restitution, "friction": builder.settings.friction},
        "gravity": [float(g) for g in sim.model.opt.gravity],
        "recording": recorder is not None,
        "recorded": session.downloads.seconds if recorder is None else sim.time - recorder.began,
        **{"servo": session.servo(), "hud": session.hud(), "sliders": session.slider_values()},
        **{"follow": session.follow, "ghosts": bool(session.motion.ghosts), "can_ghost": bool(session.setup.ghosts)},
        "video": session.downloads.video,
        "method": method_message(sim),
        "stability": None if session.stability.verdict is None else session.stability.verdict.message(),
    }
