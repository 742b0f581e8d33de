"""Equations of motion as an object: derived step by step, shown, evaluated, written as code, and simulated.

eq = saltus.derive("double_pendulum", "absolute")
eq.M, eq.bias, eq.terms["∂V/∂q"]          # SymPy
M, bias = eq.lambdify()(qpos, qvel)       # numbers
eq.python("pendulum.py"); eq.c("pendulum.c"); eq.latex()
eq.simulation(integrator="rk4").run(10)   # the same equations under any integrator
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from saltus.arguments import several, text_of
from saltus.errors import OptionError, SaltusWarning
from saltus.model.load import ModelSource, load
from saltus.symbolic.derivation.coordinates import Choice, absolute, relative
from saltus.symbolic.derivation.forces import Force, Torque, applied_forces
from saltus.symbolic.derivation.lagrange import lagrange
from saltus.symbolic.derivation.maximal import maximal
from saltus.symbolic.derivation.mechanism import Mechanism, mechanism
from saltus.symbolic.numeric import NumericEquations
from saltus.symbolic.show.letters import letters
from saltus.symbolic.show.step import Step
from saltus.symbolic.show.steps import equations_latex, is_short, matrix_latex, steps
from saltus.terminal.display import count, notebook_html

if TYPE_CHECKING:
    import sympy

ORIENTATIONS: dict[str, Callable[[Mechanism], Choice]] = {
    "relative": relative,
    "absolute": absolute,
    "maximal": maximal,
}


def derive(
    model: ModelSource,
    orientation: str = "relative",
    parameters: str | Mapping[str, str | float | sympy.Expr] = "numbers",
    *,
    applied: Sequence[Force | Torque] = (),
) -> Equations:
    """Derive the equations of motion of a mechanism by Lagrange's method.

    `model`: a Model, or what `saltus.load` takes: a tree of hinge, slide, ball and free joints. `orientation`: the
    coordinates. "relative": the joints' own, each against the body before; "absolute": angles against the world where
    axes stay parallel; "maximal": every body's place and orientation, with constraints. `parameters`: "numbers", exact;
    "symbols": letters for masses, inertias, lengths, gravity, stiffness, damping, armature; "textbook": those of the
    books that a bundled mechanism, or a chain of `saltus.n_link`, is known from; or a mapping from keys, as of
    `Model.changed`, to names, expressions or numbers. `applied`: forces and torques from outside.

    Contacts, limits and dry friction are not in the equations, which hold as long as they do not act; a SaltusWarning
    names them.

    Raises:
        ModelError: the model holds what the equations cannot (loops, tendons, a medium, ...), by name.
        OptionError: there is no such orientation, parameter or body.
    """
    if text_of("orientation", orientation) not in ORIENTATIONS:
        raise OptionError.unknown("orientation", orientation, [*ORIENTATIONS])
    began = time.perf_counter()
    loaded = load(model)
    tree = mechanism(loaded, letters(loaded, parameters))
    forces, meanings = applied_forces(tree, several("applied", applied))
    choice = ORIENTATIONS[orientation](tree)
    ready = time.perf_counter() - began
    derivation = lagrange(tree, choice, forces)
    derivation.timings = {"coordinates": ready, **derivation.timings}
    if tree.left_out:
        text = "; ".join(tree.left_out)
        warnings.warn(f"not in the equations of {loaded.name}: {text}", SaltusWarning, stacklevel=2)
    return Equations(loaded, tree, choice, derivation, meanings)


class Equations(NumericEquations):
    """M(q) a + bias(q, v) = passive + actuation + applied, with dq/dt = `qdot`(q, v) and dv/dt = a.

    `orientation`: the coordinates (see `derive`). `q`, `v`, `a`: their symbols; `meanings` says what they are.
    `parameters`: {symbol: value in the model}; `inputs`: {symbol: what it is}, controls and forces from outside.
    `left_out`: what acts in the model at times and is not here. `timings`: seconds each step took. In maximal
    coordinates the equations are M a + bias - Jᵀ λ = forces with J a = γ, see `constraints`.

    Quaternions are those of unit length, and angular velocities of free and ball joints are in body axes, as in qvel.
    """

    def __repr__(self) -> str:
        size = count(len(self.v), "velocity")
        if self.derivation.jacobian:
            size += f", {count(len(self.derivation.jacobian), 'constraint')}"
        return f"Equations({self.model.name!r}, {self.orientation!r}: {size})"

    # ------------------------------------------------------------ on paper

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The derivation step by step: each with a name, words, and its results in order."""
        return steps(self)

    def latex(self, path: str | os.PathLike[str] | None = None) -> str:
        r"""The equations of motion as LaTeX, to stand between \[ and \]; with a path, all the steps go there."""
        if path is not None:
            from saltus.symbolic.show.page.latex import write_latex

            write_latex(self, path)
        return equations_latex(self)

    def page(self, path: str | os.PathLike[str], *, duration: float = 10.0, integrator: str | None = None) -> None:
        """Write the derivation as an HTML page, with a motion of so many seconds; see `saltus derive --html`."""
        from saltus.symbolic.show.page.sheet import write_page

        write_page(self, path, duration=duration, integrator=integrator)

    _repr_html_ = notebook_html

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle {matrix_latex(self)}$" if is_short(self) else None
