"""`saltus check`: contents of a model, simulated features, and stable timesteps of its springs and dampers."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
import typer

from saltus.cli.check import constraints, differences, fast_bodies
from saltus.errors import OptionError, SaltusWarning
from saltus.terminal import screen

if TYPE_CHECKING:
    from saltus.integrate.integrator import Integrator
    from saltus.model.features import Feature
    from saltus.model.model import Model
    from saltus.model.source.urdf.remarks import Remark

JOINTS = ("free", "ball", "slide", "hinge")
GROWING = 1e-6  # real part of a growing mode, relative to the fastest mode: rounding stays below
COARSE = 0.5  # rad of the fastest oscillation per step, beyond which it is not resolved


def check_model(source: str, ignore: list[str]) -> None:
    """Print the report; exit with 1 if the model would be refused."""
    from saltus.model.features import IGNORABLE, ignored_kinds, present
    from saltus.model.load import load
    from saltus.model.source.urdf.remarks import UrdfWarning

    left_out = ignored_kinds(ignore)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SaltusWarning)
        free = load(source, ignore=list(IGNORABLE))
    # remarks on URDF files are in the table
    remarks = [part for w in caught if isinstance(w.message, UrdfWarning) for part in w.message.remarks]
    found = present(free.mujoco)
    refusals = [f for f in found if f.kind not in left_out and not f.simulated]
    model = _without(free, left_out | {f.kind for f in refusals})
    integrator, reason = _integrator(model)
    screen.print_facts(_contents(model))
    _print_support(model, found, left_out, reason, remarks)
    said = constraints.warnings(model, integrator) + fast_bodies.warnings(model) + differences.warnings(model)
    if model.nv:
        said += _deformable_limits(model, integrator) + _print_limits(free, integrator)
    for warning in said:
        screen.say_warning(str(warning))
    if refusals or reason:
        kinds = list(dict.fromkeys(f.kind for f in refusals))
        advice = [f"run it with {' '.join(f'--ignore {kind}' for kind in kinds)}"] if kinds else []
        advice += ["run it with --integrator NAME"] if reason else []
        print(f"\nrefused: {' and '.join(advice)} to ignore this")
        raise typer.Exit(1)
    print("\nready to run")


def _without(model: Model, kinds: set[str]) -> Model:
    """The model without these kinds of features."""
    from saltus.model.features import check
    from saltus.model.model import Model

    m = model.mujoco
    return Model(m, name=model.name, xml=model.xml, ignored=check(m, kinds), initial_key=model.initial_key)


def _integrator(model: Model) -> tuple[Integrator, str]:
    """The file's integrator, or euler and the reason why the file's is not supported."""
    from saltus.integrate.registry import find_integrator

    try:
        return find_integrator(None, model.opt.integrator), ""
    except OptionError as error:
        return find_integrator("euler", ""), str(error)


def _contents(model: Model) -> list[tuple[str, str]]:
    """Facts about the model's contents: (name, text)."""
    kinds = [int((model.jnt_type == k).sum()) for k in range(len(JOINTS))]
    joints = [f"{n} {name}" for n, name in zip(kinds, JOINTS, strict=True) if n]
    facts = [
        ("model", model.name),
        ("bodies", f"{model.nbody - 1}, {model.body_mass.sum():.4g} kg"),
        ("joints", f"{', '.join(joints) or 'none'}: {screen.count(model.nv, 'degree of freedom')}"),
    ]
    others = [
        (model.nactuator, "actuator"),
        (model.nsensor, "sensor"),
        (model.ntendon, "tendon"),
        (model.neq, "equality constraint"),
        (model.ngeom, "geom"),
        (model.nsite, "site"),
        (model.nkey, "keyframe"),
    ]
    facts.append(("also", ", ".join(screen.count(n, thing) for n, thing in others if n) or "nothing"))
    opt = model.opt
    gravity = " ".join(f"{g:g}" for g in opt.gravity)
    facts.append(("options", f"timestep {opt.timestep:g} s, integrator {opt.integrator}, gravity {gravity} m/s²"))
    solver = constraints.solver(model)
    facts += [("solver", solver)] if solver else []
    off = _flags_off(model)
    return facts + ([("switched off", ", ".join(off))] if off else [])


def _flags_off(model: Model) -> list[str]:
    import mujoco

    flags = mujoco.mjtDisableBit.__members__.items()
    return [name.removeprefix("mjDSBL_").lower() for name, bit in flags if model.opt.disableflags & bit.value]


# ------------------------------------------------------------ simulated features


def _print_support(model: Model, found: list[Feature], left_out: set[str], reason: str, remarks: list[Remark]) -> None:
    """Print a table of features that affect motion, and of those refused, ignored, inactive or not read."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in ("state", "feature", "which", "why"):
        table.add_column(header, no_wrap=header in ("state", "feature"), overflow="fold")
    missing = [f for f in found if not f.simulated or f.kind in left_out]
    for row in [*_simulated(model, missing), *constraints.simulated(model)]:
        table.add_row("simulated", *row)
    for kind in dict.fromkeys(f.kind for f in missing):
        group = [f for f in missing if f.kind == kind]
        which = screen.some([f"{f.element} {f.name}" for f in group])
        why = "" if group[0].simulated else f"{group[0].text} is not simulated yet"
        table.add_row("ignored" if kind in left_out else "REFUSED", kind, which, why)
    if reason:
        table.add_row("REFUSED", "integrator", model.opt.integrator, reason)
    for part in remarks:
        table.add_row("NOTE" if part.read else "NOT READ", part.kind, part.which, part.meaning)
    off = constraints.inactive(model)
    if off:
        table.add_row("inactive", "equalities", off, 'not simulated: active="false" in the file')
    print()
    screen.console().print(table)


def _simulated(model: Model, missing: list[Feature]) -> list[tuple[str, str, str]]:
    names, bodies = (np.array(model.names(kind), dtype=object) for kind in ("joint", "body"))
    struct = model.struct()
    of_dofs = names[model.dof_jntid]
    springs = (model.jnt_stiffness != 0) | (model.jnt_stiffnesspoly != 0).any(axis=1)
    damped = (struct.dof_damping != 0) | (struct.dof_dampingpoly != 0).any(axis=1)
    rows = [
        ("joints", screen.some(names)),
        ("springs", screen.some(names[springs & np.asarray(struct.jnt_spring, bool)])),
        ("dampers", screen.some(dict.fromkeys(of_dofs[damped]))),
        ("armature", screen.some(dict.fromkeys(of_dofs[struct.dof_armature != 0]))),
        ("gravity compensation", screen.some(bodies[struct.body_gravcomp != 0])),
    ]
    without = {f.name for f in missing if f.kind == "actuator"}
    actuators = zip(model.names("actuator")[: model.nactuator], struct.actuator_enabled, strict=False)
    rows.append(("actuators", screen.some([name for name, enabled in actuators if enabled and name not in without])))
    without = {f.name for f in missing if f.kind == "tendon"}
    rows.append(("tendons", screen.some([name for name in model.names("tendon") if name not in without])))
    rows.append(("fluid", "density, viscosity" if "fluid" in struct.layout.features else ""))
    if "adhesive" in struct.layout.features:
        geoms = np.array(model.names("geom"), object)[model.geom_adhesion != 0]
        pairs = np.array(model.names("pair"), object)[model.mujoco.pair_adhesion != 0]
        rows.append(("adhesion", screen.some([*geoms, *(f"pair {name}" for name in pairs)])))
    rows.append(("mocap", screen.some(bodies[model.body_mocapid >= 0])))
    rows.append(("sensors", screen.some(model.names("sensor"))))
    return [(feature, which, "") for feature, which in rows if which]


# ------------------------------------------------------------ stable timesteps


def _print_limits(model: Model, integrator: Integrator) -> list[str]:
    """Print the stable timesteps of springs and dampers in the initial state; return warnings."""
    from saltus.simulate.diagnosis.divergence import MOST_MODES, linear_modes
    from saltus.simulate.diagnosis.instability import feeds_back
    from saltus.simulate.diagnosis.linear_stability import SLOWEST
    from saltus.simulate.simulation import Simulation

    if model.nv > MOST_MODES:
        print(f"\ntimestep: limits of {model.nv} degrees of freedom are not judged, only of at most {MOST_MODES}")
        return []
    with screen.Activity():
        modes = linear_modes(Simulation(model, integrator).engine)
    print()
    h = float(model.opt.timestep)
    fastest = complex(max(modes.ravel(), key=abs))
    if abs(fastest) < SLOWEST:
        what = "joints have no springs or dampers" if model.nflex else "no springs or dampers"
        print(f"timestep: {what}, so no limit from them (gravity and motors set their own)")
        return []
    print(f"timestep: {h:g} s; fastest mode of springs and dampers in the initial state: {_described(fastest)}")
    warnings = _print_limit_table(modes, h, integrator)
    growing = complex(max(modes.ravel(), key=lambda mode: mode.real))
    if growing.real > max(SLOWEST, GROWING * abs(fastest)):
        warnings.append(
            f"springs or dampers drive the motion, which grows by itself ({_described(growing)}); the limits are those "
            "of other modes"
        )
    turn = abs(fastest.imag) * h
    if turn > COARSE:
        warnings.append(f"the fastest oscillation has only {2 * math.pi / turn:.1f} steps per period: too few")
    if feeds_back(model):
        warnings.append("these limits do not include the gains and damping of servos")
    return warnings


def _deformable_limits(model: Model, integrator: Integrator) -> list[str]:
    """Print whether the model's timestep is stable for its deformable bodies at the start; return a warning if not."""
    from saltus.simulate.diagnosis.closed_loop_stability import stable_step_at_start
    from saltus.simulate.simulation import Simulation

    if not model.nflex or integrator.adaptive:
        return []
    with screen.Activity():
        limit = stable_step_at_start(Simulation(model, integrator).engine)
    h, where = float(model.opt.timestep), f"deformable bodies at the model's start, with {integrator.name}"
    print()
    if math.isinf(limit):
        print(f"timestep: {h:g} s is stable for {where}")
        return []
    print(f"timestep: {_limit(limit, integrator)} is the largest that is stable for {where}")
    return [f"the timestep {h:g} s exceeds the limit {limit:.3g} s of {integrator.name} for deformable bodies"]


def _print_limit_table(modes: np.ndarray, h: float, own: Integrator) -> list[str]:
    """Print the stability limits of all integrators, the model's first; return warnings about the model's."""
    from rich.table import Table

    from saltus.integrate.registry import integrators
    from saltus.simulate.diagnosis.linear_stability import stable_timestep

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in ("integrator", "largest stable timestep", f"at {h:g} s"):
        table.add_column(header)
    warnings = []
    others = [i for i in integrators().values() if i.name != own.name]
    for integrator in [own, *others]:
        limit, mode = stable_timestep(integrator, modes)
        verdict = "stable" if h <= limit else "UNSTABLE"
        name = f"{integrator.name} (the model's)" if integrator is own else integrator.name
        table.add_row(name, _limit(limit, integrator), verdict)
        if integrator is own and h > limit:
            warnings.append(
                f"the timestep {h:g} s exceeds the limit {limit:.3g} s of {own.name}, set by {_described(mode)}"
            )
    screen.console().print(table)
    return warnings


def _limit(limit: float, integrator: Integrator) -> str:
    if integrator.adaptive:
        return "any: adaptive step size"
    if math.isinf(limit):
        return "any"
    return f"{limit:.4g} s" if limit > 0 else "none: oscillations always grow"


def _described(mode: complex) -> str:
    """Describe an eigenvalue: frequency and damping ratio, or time constant."""
    if abs(mode.imag) < 1e-9 * abs(mode):
        return f"a {'decay' if mode.real < 0 else 'growth'} with time constant {1 / abs(mode.real):.3g} s"
    return f"{abs(mode.imag) / (2 * math.pi):.3g} Hz, damping ratio {-mode.real / abs(mode):.2g}"
