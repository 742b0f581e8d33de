"""Resuming a streamed run that was interrupted."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from saltus.arguments import path_of
from saltus.errors import OptionError, RecordError, warn
from saltus.integrate.registry import integrators
from saltus.integrate.tableau import ButcherTableau
from saltus.model.load import ModelSource, load
from saltus.record.io.store import COMPLETE, DIVERGED, Store
from saltus.record.io.stream import Stream
from saltus.record.trajectory import StreamedTrajectory, Trajectory
from saltus.simulate.engine.snapshot import go_to
from saltus.simulate.laws.contact import Compliant
from saltus.simulate.laws.control import PID, Controller
from saltus.simulate.laws.dynamics import Dynamics
from saltus.simulate.laws.events import Event, UserEvents
from saltus.simulate.laws.motions import Motions
from saltus.simulate.running.run import control_function, controlled_by, make_run, signals_of
from saltus.simulate.running.run_metadata import law_of, versions
from saltus.simulate.running.run_setup import ARRAY, CONTROLLER, FUNCTION, PID_KIND, described
from saltus.simulate.running.schedule import Plan
from saltus.simulate.running.work_ledger import Ledger
from saltus.simulate.simulation import RunControl, Simulation
from saltus.terminal.progress import ProgressChoice
from saltus.version import __version__


def resume(
    path: str | os.PathLike[str],
    control: RunControl = None,
    progress: ProgressChoice = None,
    *,
    model: ModelSource | None = None,
    dynamics: Dynamics | None = None,
    events: Sequence[Event] = (),
    motions: Motions | None = None,
    contact: Compliant | None = None,
) -> Trajectory:
    """Resume a run that was streamed to a Zarr store, to its full duration.

    The result is that of an uninterrupted run, bit for bit, on a machine with the same processor and versions. The
    store holds everything except Python functions: a `control` that is a function or a `saltus.controller`, `dynamics`,
    `events`, `motions` and a user-defined `contact` must be passed again (functions with memory in the state that they
    had then). `model`, if given, is checked against the one in the store. Ctrl-C interrupts the run again. A complete
    run is returned unchanged.

    Raises:
        RecordError: there is no such store, or the run diverged.
        OptionError: control, dynamics, events, motions, contact or model are missing, superfluous or not those of the
            run.
    """
    store = Store(path_of("path", path))
    if store.checkpoint.status == COMPLETE:
        return StreamedTrajectory(store)
    stored, setup = store.stored_model(), store.header["setup"]
    if store.checkpoint.status == DIVERGED:
        raise RecordError(path, "cannot resume: the run diverged", action="resume")
    if stored is None or not setup:
        raise RecordError(path, "it is not a streamed run", action="resume")
    if model is not None and not stored.same_as(load(model)):
        raise OptionError(f"'{os.fspath(path)}' is a run of another model, {stored.name}; resume uses the stored model")
    own, given = _control(setup, control)
    _check_laws(setup, dynamics, contact, events)
    _compare_versions(path, store.header["attrs"])
    sim = Simulation(
        stored.restore(),
        _integrator(path, setup),
        contact or law_of(setup["contact"], setup.get("contact_law", {})),
        setup["timestep"],
        tolerance=setup["tolerance"],
        control=own,
        dynamics=dynamics,
        events=events,
        actuation_states=setup.get("actuation_states"),
        max_step=setup.get("max_step"),
        breaks=setup.get("breaks", ()),
        motions=motions,
    )
    if sim.engine.motions.key != setup.get("motions", ""):
        names = setup.get("motion_names", [])
        raise OptionError(f"the motions of the run are those of {', '.join(names) or 'nothing'}; pass them as motions=")
    plan = Plan(**setup["plan"])
    stream, committed = Stream.reopen(path)
    stream.attrs.pop("interrupted_at", None)
    with controlled_by(sim.engine, given):
        apply = control_function(sim, given, plan.steps)
        go_to(sim.engine, committed.part("state"))
        sim.engine.prepare()
        sim.engine.unconverged = committed.position["unconverged"]
        book = Ledger(sim.engine) if setup.get("ledger") else None
        signals = signals_of(sim.engine, setup.get("record", ()))
        run = make_run(sim.engine, plan, stream, apply, progress, book, signals)
        run.resume(committed.position)
        return run.record()


def _control(setup: dict[str, Any], given: Any) -> tuple[Controller | None, Any]:
    """The simulation's controller, and the control argument of the run."""
    own, of_run = setup["control"], setup["run_control"]
    asked = [about for about in (own, of_run) if about["kind"] in (CONTROLLER, FUNCTION)]
    if given is not None and not asked:
        raise OptionError("the control of this run is stored with it; call resume without control")
    if len(asked) == 2:
        raise OptionError("the run has a controller and a control function; resume supports only one of them")
    if asked and given is None:
        what = "function" if asked[0]["kind"] == FUNCTION else "controller"
        raise OptionError(f"the run is controlled by the {what} {asked[0]['name']}; pass it as control=...")
    if asked and asked[0] != described(given):
        now = described(given)
        raise OptionError(f"the run is controlled by {asked[0]['name']}, not by {now.get('name', now['kind'])}")
    made = [given if about in asked else _made(about) for about in (own, of_run)]
    return made[0], made[1]


def _check_laws(
    setup: dict[str, Any], dynamics: Dynamics | None, contact: Compliant | None, events: Sequence[Event]
) -> None:
    """Raise OptionError unless equations of motion, contact law and events are those of the run."""
    _check_word("dynamics", "equations of motion", setup.get("dynamics", ""), dynamics)
    _check_word("contact", "contact forces", setup.get("contact_word", ""), contact)
    if UserEvents(events, None).feature_key != setup.get("events", ""):
        names = setup.get("event_names", [])
        raise OptionError(f"the events of the run are {', '.join(names) or 'none'}; pass them as events=[...]")


def _check_word(name: str, what: str, was: str, given: Dynamics | Compliant | None) -> None:
    """Raise OptionError unless argument `name` holds the run's kernels with key `was`; `what` describes them."""
    now = given.feature_key if given else ""
    if was != now:
        if not now:
            raise OptionError(f"the run has user-defined {what}, {was}; pass them as {name}=...")
        raise OptionError(f"the {what} of the run are {was or 'those of the engine'}, not {now}")


def _made(about: dict[str, Any]) -> Any:
    if about["kind"] == PID_KIND:
        gains = {**about["gains"]}
        limit = gains.pop("limit")
        return PID(**gains, limit=limit, wrap=about["wrap"], actuators=about["actuators"], hold=about["hold"])
    return np.array(about["values"]) if about["kind"] == ARRAY else None


def _integrator(path: Any, setup: dict[str, Any]) -> Any:
    if setup["tableau"]:
        return ButcherTableau(**setup["tableau"])
    if setup["tableau"] is not None or setup["integrator"] not in integrators():
        raise RecordError(path, f"its integrator, {setup['integrator']}, is unknown", action="resume")
    return setup["integrator"]


def _compare_versions(path: Any, attrs: dict[str, Any]) -> None:
    """Warn if versions that affect results differ from those of the run."""
    now = {"saltus_version": __version__, **versions()}
    changed = [f"{k.removesuffix('_version')} {attrs.get(k)} is now {v}" for k, v in now.items() if attrs.get(k) != v]
    if changed:
        text = f"resuming '{os.fspath(path)}' with other versions ({', '.join(changed)}): rounding may differ"
        warn(text)
