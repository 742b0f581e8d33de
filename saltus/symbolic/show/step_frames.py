"""The first steps of a derivation: coordinates, parameters, positions, velocities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy

from saltus.symbolic.derivation.mechanism import Body, Joint, Mechanism, Motor
from saltus.symbolic.expressions import to_sympy
from saltus.symbolic.show.names import joint_angle, latex_name

if TYPE_CHECKING:
    from saltus.symbolic.derived import DerivedEquations
    from saltus.symbolic.show.notation import Notation

WORDS = {"free": "floats freely", "ball": "turns every way about", "slide": "slides along", "hinge": "turns about"}
JACOBIANS = 6  # velocities up to which Jacobians are shown
CHOICES = {
    "relative": (
        "Relative coordinates: each joint has its own, measured against the body that carries it, as an encoder in the "
        "joint would. The angle of a body against the world is then the sum of the angles along the chain."
    ),
    "absolute": (
        "Absolute coordinates: where axes of turning stay parallel, each body's angle is measured against the world. "
        "Positions become short, as each depends on one angle per link; a joint's own angle is the difference of two."
    ),
    "maximal": (
        "Maximal coordinates: every moving body has its own place and orientation in the world, as if there were no "
        "joints. What the joints take away from this freedom is written down as constraints, further below."
    ),
}


def coordinates(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the step of unknowns and of the bodies' frames."""
    e, c, tree = equations, equations.choice.own, equations.mechanism
    meanings = e.meanings
    turned = {k for places in c.quaternions for k in places}
    for k in turned:
        joint = meanings[e.q[k]].partition(" of ")[2]
        meanings[e.q[k]] = f"component of the unit quaternion of {joint}"
    rows = [[f"${n.names[q]}$", meanings.get(q, ""), *_rate_of(e, n, k)] for k, q in enumerate(e.q)]
    spins = [(v, a) for v, a in zip(e.v, e.a, strict=True) if v not in n.rates]
    rows += [
        [f"${n.names[v]}$", "component of an angular velocity, in the body's axes (rad/s)", "", f"${n.names[a]}$"]
        for v, a in spins
    ]
    text = CHOICES[e.orientation] if len(tree.joints) > 1 or e.orientation == "maximal" else ONE
    if c.quaternions:
        text += "\n\n" + QUATERNIONS
    results: dict[str, Any] = {}
    if e.orientation == "relative" and e.choice.values:
        for symbol, total in e.choice.values.items():
            if symbol in e.choice.working.q and total not in c.q:
                results[latex_name(str(symbol))] = to_sympy(total)
    if e.orientation == "absolute":
        for joint in tree.joints:
            position = c.joint_position[joint.qposadr]
            if joint.kind == "hinge" and position not in c.q:
                results[joint_angle(joint.name)] = to_sympy(position)
    if results:
        text += "\n\n" + SUMS[e.orientation]
    head = ("symbol", "meaning", "velocity", "acceleration")
    yield {
        "name": "coordinates",
        "title": "Coordinates",
        "text": text,
        "results": results,
        "table": (head, tuple(map(tuple, rows))),
    }
    yield {
        "name": "frames",
        "title": "Frames",
        "text": FRAMES,
        "results": {},
        "table": (("body", "carried by", "origin of its frame there (m)", "how it moves"), tuple(_frames(tree, n))),
    }


ONE = "There is one joint, and so its coordinate is against the world."
QUATERNIONS = (
    "An orientation is a unit quaternion $(q_w, q_x, q_y, q_z)$: four numbers without singular places. Their rates are "
    "not independent, so that velocities are the components of the angular velocity $\\omega$ in the body's own axes."
)
SUMS = {
    "relative": "Angles against the world, in which positions are shortest, are the sums",
    "absolute": "The joints' own angles, which motors, springs and limits act on, are the differences",
}
FRAMES = (
    "Every body has a frame of its own, and what does not move in the body has constant coordinates there. The world's "
    "frame does not move: it is the inertial frame that Newton's laws need."
)


def _rate_of(e: DerivedEquations, n: Notation, k: int) -> list[str]:
    """Symbols of velocity and acceleration of a coordinate, where it has them."""
    rate = n.rates[k]
    if rate in e.v:
        i = e.v.index(rate)
        return [f"${n.names[e.v[i]]}$", f"${n.names[e.a[i]]}$"]
    return ["", ""]


def _frames(tree: Mechanism, n: Notation) -> Iterator[tuple[str, ...]]:
    for body in tree.bodies[1:]:
        parent = tree.bodies[body.parent].name
        ways = [_way(joint, n) for joint in body.joints] or ["is fixed to it"]
        yield body.name, parent, f"${_row(body.pos, n)}$", ", then ".join(ways)


def _way(joint: Joint, n: Notation) -> str:
    if joint.kind == "free":
        return WORDS["free"]
    if joint.kind == "ball":
        return f"{WORDS['ball']} ${_row(joint.pos, n)}$ (joint {joint.name})"
    return f"{WORDS[joint.kind]} ${_row(joint.axis, n)}$ (joint {joint.name})"


def _row(v: Any, n: Notation) -> str:
    return "(" + ",\\, ".join(n.text(to_sympy(x)) for x in v) + ")"


# ---------------------------------------------------------------- parameters


def parameters(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Letters with their meaning and value; bodies with their numbers where there are no letters."""
    e = equations
    meanings = parameter_meanings(e.mechanism)
    rows = [
        (f"${n.names[s]}$", *_split_unit(meanings.get(s.name, "")), f"{value:.10g}")
        for s, value in e.parameters.items()
    ]
    rows += [(f"${n.names[s]}$", *_split_unit(text), "input") for s, text in input_meanings(e).items()]
    if rows:
        text, made = PARAMETERS, _made_of_several(e.mechanism, n)
        text += "\n\nBy these letters, inertias about the centres of mass are" if made else ""
        table = (("symbol", "meaning", "unit", "value"), tuple(rows))
        yield {"name": "parameters", "title": "Parameters", "text": text, "results": made, "table": table}
    if len(e.parameters) == 0:
        yield {"name": "bodies", "title": "Bodies", "text": BODIES, "results": {}, "table": _bodies(e.mechanism, n)}


PARAMETERS = "What the letters stand for. The equations hold for any values; these are the model's."
BODIES = "Masses, centres of mass and inertias about them, each in the body's own frame."


def _made_of_several(tree: Mechanism, n: Notation) -> dict[str, Any]:
    """Inertias that are given by several letters."""
    out = {}
    for body in tree.bodies[1:]:
        for value in dict.fromkeys(body.inertia):
            if len(getattr(value, "free_symbols", ())) > 1:
                axes = "".join(axis for axis, x in zip("xyz", body.inertia, strict=True) if x == value)
                out[f"I_{{{n.element(body.name)},{axes}}}"] = to_sympy(value)
    return out


def input_meanings(e: DerivedEquations) -> dict[sympy.Symbol, str]:
    """Meaning of each input, with its unit where it is a force or torque itself."""
    motors = {str(motor.input): _motor_meaning(e.mechanism, motor) for motor in e.mechanism.motors}
    return {symbol: motors.get(symbol.name, text) for symbol, text in e.inputs.items()}


def _motor_meaning(tree: Mechanism, motor: Motor) -> str:
    """Meaning of a motor's input, with its unit where it is a force or torque itself."""
    (joint,) = (j for j in tree.joints if j.dofadr <= motor.dofadr < j.dofadr + j.nv)
    pure = motor.gain is not None and motor.gain[0] == 1 and all(x == 0 for x in (*motor.gain[1:], *motor.bias))
    if pure and motor.gear[0] == 1 and len(motor.gear) == 1:
        what, unit = ("force", "N") if joint.kind == "slide" else ("torque", "N m")
        return f"{what} of actuator {motor.name} on joint {joint.name} ({unit})"
    return f"{'force' if motor.gain is None else 'control'} of actuator {motor.name} on joint {joint.name}"


def _bodies(tree: Mechanism, n: Notation) -> Any:
    rows = tuple(
        (b.name, f"${n.text(to_sympy(b.mass))}$", f"${_row(b.ipos, n)}$", f"${_row(b.inertia, n)}$")
        for b in tree.bodies[1:]
    )
    return ("body", "mass (kg)", "centre of mass (m)", "principal inertias (kg m²)"), rows


def _split_unit(text: str) -> tuple[str, str]:
    """ "mass of bob (kg)" -> ("mass of bob", "kg")."""
    meaning, _, unit = text.rpartition(" (")
    return (meaning, unit.rstrip(")")) if meaning else (text, "")


def parameter_meanings(tree: Mechanism) -> dict[str, str]:
    """Meaning of each letter, with its unit, by its name: all places that it has in the model."""
    found: dict[str, list[str]] = {}
    units: dict[str, str] = {}

    def note(value: Any, what: str, unit: str) -> None:
        symbols = getattr(value, "free_symbols", ())
        for symbol in symbols if len(symbols) == 1 else ():  # a number made of several letters explains none of them
            if what not in found.setdefault(str(symbol), []):
                found[str(symbol)].append(what)
            units.setdefault(str(symbol), unit)

    for body in tree.bodies[1:]:
        _note_body(tree, body, note)
    for joint in tree.joints:
        turning = joint.kind in ("hinge", "ball")
        note(joint.stiffness[0], f"stiffness of joint {joint.name}", "N m/rad" if turning else "N/m")
        for k, (b, *_) in enumerate(joint.damping):
            turns = turning or (joint.kind == "free" and k > 2)
            note(b, f"damping of joint {joint.name}", "N m s/rad" if turns else "N s/m")
        for k, armature in enumerate(joint.armature):
            turns = turning or (joint.kind == "free" and k > 2)
            note(armature, f"inertia of the drive of joint {joint.name}", "kg m²" if turns else "kg")
        for x in joint.pos:
            note(x, f"place of joint {joint.name} in its body", "m")
    for x in tree.gravity:
        note(x, "acceleration of gravity", "m/s²")
    return {name: f"{'; '.join(texts)} ({units[name]})" for name, texts in found.items()}


def _note_body(tree: Mechanism, body: Body, note: Any) -> None:
    note(body.mass, f"mass of {body.name}", "kg")
    for x in body.inertia:
        note(x, f"inertia of {body.name} about its centre of mass", "kg m²")
    parent = tree.bodies[body.parent].name
    for x in body.pos:
        note(x, f"place of {body.name} in the frame of {parent}", "m")
    for x in body.ipos:
        note(x, f"centre of mass of {body.name} in its frame", "m")


# ---------------------------------------------------------------- positions and velocities


def moving(equations: DerivedEquations) -> list[tuple[int, Body]]:
    """Bodies that have mass, with their places: the world and massless frames have no energy."""
    return [(b, body) for b, body in enumerate(equations.mechanism.bodies) if b and body.mass != 0]


def positions(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Centres of mass in the world's axes."""
    results = {}
    for b, body in moving(equations):
        for k in n.plane:
            value = n.arranged(equations.derivation.positions[b][k], sums=True)
            if value not in equations.q or equations.orientation != "maximal":
                results[_place(body, k, n)] = value
    text = IN_PLANE if len(n.plane) == 2 else ""
    if equations.orientation == "maximal" and not results:
        text = "The places of the centres of mass are coordinates themselves, so that there is nothing to work out."
    else:
        text = POSITIONS + text
    yield {"name": "positions", "title": "Positions", "text": text, "results": results}


POSITIONS = (
    "Along the chain, a body's frame is its parent's, moved and turned: $r = r_{\\text{parent}} + "
    "R_{\\text{parent}}\\, p$. The centres of mass, where weight and inertia act, are then at"
)
IN_PLANE = " (all motion is in a plane, and only its two directions are written)"
VELOCITIES = (
    "Coordinates are functions of time, so that by the chain rule every velocity is linear in the rates: $\\dot{r} = "
    "\\frac{\\partial r}{\\partial q}\\, \\dot{q} = J(q)\\, \\dot{q}$, with the Jacobian $J$. The same $J$ will turn "
    "forces into generalised forces."
)
TURNS = " Rates of quaternions are linear in the angular velocities, so that $J$ has a column for each of these."
SPINS = "Angular velocities, of bodies that have inertia, in their principal axes:"


def _place(body: Body, k: int, n: Notation) -> str:
    return f"{'xyz'[k]}_{{{n.element(body.name)}}}"


def velocities(equations: DerivedEquations, n: Notation) -> Iterator[dict[str, Any]]:
    """Yield the step of velocities, Jacobians, and angular velocities."""
    e, d = equations, equations.derivation
    results: dict[str, Any] = {}
    for b, body in moving(e):
        for k in n.plane:
            value = n.arranged(d.velocities[b][k], sums=True)
            if value not in e.v or e.orientation != "maximal":
                results[f"\\dot{{{'xyz'[k]}}}_{{{n.element(body.name)}}}"] = value
    spins = {}
    for b, body in moving(e):
        for k in range(3):
            if d.spins[b][k] != 0:
                axis = f",{'xyz'[k]}" if not n.planar else ""
                value = n.arranged(d.spins[b][k], sums=True)
                if value not in e.v or n.planar:
                    spins[f"\\omega_{{{n.element(body.name)}{axis}}}"] = value
    text = VELOCITIES + (TURNS if e.choice.own.balls else "")
    if not results and e.orientation == "maximal":
        text = "Likewise their rates: the velocities of the centres of mass are velocities of coordinates."
    yield {
        "name": "velocities",
        "title": "Velocities",
        "text": text,
        "results": {**results, **_jacobians(e, n, results)},
    }
    if spins:
        yield {"name": "angular velocities", "title": "Angular velocities", "text": SPINS, "results": spins}


def _jacobians(e: DerivedEquations, n: Notation, shown: dict[str, Any]) -> dict[str, Any]:
    if not shown or len(e.v) > JACOBIANS or len(e.v) < 2 or e.orientation == "maximal":
        return {}
    out = {}
    for b, body in moving(e):
        rows = [[n.arranged(e.derivation.velocities[b][k].diff(v)) for v in e.choice.own.v] for k in n.plane]
        out[f"J_{{{n.element(body.name)}}}"] = sympy.Matrix(rows)
    return out
