"""A model's equations as CasADi functions: the kernels of the simulation, run uncompiled on CasADi's symbols.

    M(q) dv/dt + bias(q, v) = tau

For optimal control and estimation with CasADi's solvers (Andersson, Gillis, Horn, Rawlings & Diehl, CasADi: a software
framework for nonlinear optimization and optimal control, Mathematical Programming Computation 11 (2019) 1-36).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from saltus.algorithms import loops
from saltus.algorithms.casadi_number import casadi_library, expressions, matrix
from saltus.algorithms.workspace import put_mocap
from saltus.arguments import text_of
from saltus.dynamics.tree.kinematics import attached_frames, kinematics
from saltus.dynamics.tree.manifold import difference, displace
from saltus.errors import OptionError, warn
from saltus.model.compile.tendons import parameters
from saltus.model.features import present
from saltus.model.layout import DATA, data_sizes
from saltus.model.load import ModelSource, load
from saltus.number.kernels import interpret
from saltus.number.symbols import Kind, SymbolicField, SymbolicStruct, symbolic_model

if TYPE_CHECKING:
    from casadi import Function

    from saltus.model.model import Model

NUMBER = Kind(float, None)
FRAMES = {"body": ("xpos", "xmat"), "geom": ("geom_xpos", "geom_xmat"), "site": ("site_xpos", "site_xmat")}
LEFT_OUT = {  # what is not in the functions: kinds of features, in words
    "contact": "contacts",
    "limit": "limits of joints and tendons",
    "frictionloss": "dry friction",
    "equality": "equality constraints",
    "fluid": "fluid forces",
    "flex": "forces of deformable bodies",
    "plugin": "engine plugins",
    "plasticity": "plastic springs",
}
MISSED = ("equality", "fluid", "flex", "plugin", "plasticity")  # these move a model at all times: warned of


class CasadiFunctions:
    """The unconstrained mechanism of a model as CasADi functions, each made at its first use.

    q [nq] are positions in the model's coordinates, quaternions (w, x, y, z), which need not be normalised; v [nv]
    velocities and tau [nv] generalised forces (N, N m), as in `saltus.algorithms`. CasADi differentiates all of them;
    `inverse_derivatives` and `forward_derivatives` are along the axes of v, which for quaternions are those of the
    body: multiply CasADi's own derivatives by q with `tangent(q)` for the same.

    The inertia is that of bodies, armatures, and tendons with armature. Everything else enters by tau: `left_out` names
    what the model has besides. Mocap bodies are where the model puts them.

    Attributes:
        model: as given.
        left_out: what the simulation of the model has and the functions have not, in words.
    """

    model: Model
    left_out: tuple[str, ...]

    def __init__(self, model: Model):
        self.model = model
        self.left_out = _left_out(model)
        self._struct = symbolic_model(model.struct(), NUMBER)
        self._symbols = {
            name: casadi_library().SX.sym(name, size)
            for name, size in (("q", model.nq), ("v", model.nv), ("a", model.nv), ("tau", model.nv), ("dq", model.nv))
        }

    def __repr__(self) -> str:
        without = f"; without {', '.join(self.left_out)}" if self.left_out else ""
        return f"CasadiFunctions({self.model.name}: {self.model.nq} positions, {self.model.nv} velocities{without})"

    def __reduce__(self):
        return CasadiFunctions, (self.model,)  # CasADi's symbols are not pickled

    # ---------------------------------------------------------------- dynamics

    @cached_property
    def mass_matrix(self) -> Function:
        """q -> M(q) [nv, nv] (kg, kg m, kg m²), by composite rigid bodies (Featherstone 2008, table 6.2)."""
        return self._function("mass_matrix", "q", self._filled(loops.crba, (self.model.nv,) * 2, "q"), "M")

    @cached_property
    def mass_matrix_inverse(self) -> Function:
        """q -> M(q)⁻¹ [nv, nv]."""
        found = self._filled(loops.inverse_inertia, (self.model.nv,) * 2, "q")
        return self._function("mass_matrix_inverse", "q", found, "M_inverse")

    @cached_property
    def bias(self) -> Function:
        """(q, v) -> C(q, v) v + g(q) [nv] (N, N m): what holds accelerations at zero."""
        return self._function("bias", "q v", self._filled(loops.rnea, (self.model.nv,), "q", "v", None), "bias")

    @cached_property
    def inverse(self) -> Function:
        """(q, v, a) -> tau [nv] = M a + bias, by recursive Newton-Euler (Featherstone 2008, table 5.1)."""
        return self._function("inverse", "q v a", self._filled(loops.rnea, (self.model.nv,), "q", "v", "a"), "tau")

    @cached_property
    def forward(self) -> Function:
        """(q, v, tau) -> a [nv] = M⁻¹ (tau - bias), by articulated bodies (Featherstone 2008, table 7.1)."""
        return self._function("forward", "q v tau", self._filled(loops.aba, (self.model.nv,), "q", "v", "tau"), "a")

    @cached_property
    def inverse_derivatives(self) -> Function:
        """(q, v, a) -> derivatives of tau by positions along the axes of v, by v, and by a (which is M): [nv, nv]."""
        library, s = casadi_library(), self._symbols
        tau = self.inverse(s["q"], s["v"], s["a"])
        by_q = library.jacobian(tau, s["q"]) @ self.tangent(s["q"])
        results = [by_q, library.jacobian(tau, s["v"]), self.mass_matrix(s["q"])]
        names = ["dtau_dq", "dtau_dv", "dtau_da"]
        return library.Function("inverse_derivatives", [s["q"], s["v"], s["a"]], results, ["q", "v", "a"], names)

    @cached_property
    def forward_derivatives(self) -> Function:
        """(q, v, tau) -> derivatives of a by positions along the axes of v, by v, and by tau (M⁻¹): [nv, nv].

        By those of the inverse: ∂a/∂q = -M⁻¹ ∂tau/∂q at a (Carpentier & Mansard, Analytical derivatives of rigid body
        dynamics algorithms, Robotics: Science and Systems (2018), eq. 13).
        """
        library, n = casadi_library(), self.model.nv
        q, v, tau = (library.MX.sym(name, k) for name, k in (("q", self.model.nq), ("v", n), ("tau", n)))
        by_q, by_v, _ = self.inverse_derivatives(q, v, self.forward(q, v, tau))
        inverse = self.mass_matrix_inverse(q)
        results, names = [-inverse @ by_q, -inverse @ by_v, inverse], ["da_dq", "da_dv", "da_dtau"]
        return library.Function("forward_derivatives", [q, v, tau], results, ["q", "v", "tau"], names)

    # ---------------------------------------------------------------- positions

    @cached_property
    def displace(self) -> Function:
        """(q, dq) -> positions [nq] that are dq [nv] away along the axes of v (⊕): v h is where h seconds lead."""
        d = self._data()
        for name in ("q", "dq"):
            d.views["qpos" if name == "q" else "qvel"][:] = expressions(self._symbols[name])
        interpret(displace)(self._struct, d.qpos, 1.0, d.qvel, d.qpos)
        return self._function("displace", "q dq", d.views["qpos"], "q_next")

    @cached_property
    def difference(self) -> Function:
        """(q, q_next) -> dq [nv], which leads from the first to the second (⊖); turns are the shorter ones."""
        library, d = casadi_library(), self._data()
        other = library.SX.sym("q_next", self.model.nq)
        d.views["qpos"][:] = expressions(self._symbols["q"])
        d.views["qpos_saved"][: self.model.nq] = expressions(other)
        interpret(difference)(self._struct, d.qpos, d.qpos_saved, d.qvel)
        given = [self._symbols["q"], other]
        return library.Function("difference", given, [matrix(d.views["qvel"])], ["q", "q_next"], ["dq"])

    @cached_property
    def tangent(self) -> Function:
        """q -> T(q) [nq, nv]: dq/dt = T v, of normalised quaternions."""
        library, s = casadi_library(), self._symbols
        slope = library.jacobian(self.displace(s["q"], s["dq"]), s["dq"])
        slope = library.substitute(slope, s["dq"], library.SX.zeros(self.model.nv))
        return library.Function("tangent", [s["q"]], [library.simplify(slope)], ["q"], ["T"])

    def body(self, name: str) -> Function:
        """Function q -> (position [3] (m), rotation [3, 3]) of a body's frame, in world axes."""
        return self._frame("body", name)

    def geom(self, name: str) -> Function:
        """Function q -> (position [3] (m), rotation [3, 3]) of a geom's frame, in world axes."""
        return self._frame("geom", name)

    def site(self, name: str) -> Function:
        """Function q -> (position [3] (m), rotation [3, 3]) of a site's frame, in world axes."""
        return self._frame("site", name)

    def jacobian(self, name: str, point: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Function:
        """Function q -> J [6, nv]: velocity (m/s) of a point of a body, and its angular velocity (rad/s), are J v.

        `point` (m) is in the body's axes; results are in the world's.
        """
        body = self.model.id("body", text_of("body", name))
        where = np.array(point, float)
        if where.shape != (3,) or not np.isfinite(where).all():
            raise OptionError(f"casadi: point must be 3 finite numbers, not {point}")
        m, d, out = self._struct, self._data(), np.full((6, self.model.nv), 0.0, object)
        rows = [SymbolicField("translation", out[:3]), SymbolicField("rotation", out[3:])]
        interpret(loops.place)(m, d, expressions(self._symbols["q"]))
        interpret(loops.point_of_body)(m, d, body, tuple(where.tolist()), *rows)
        return self._function("jacobian", "q", out, "J")

    # ---------------------------------------------------------------- running kernels

    def _data(self) -> SymbolicStruct:
        """Memory of zeros, with mocap bodies where the model puts them."""
        d = SymbolicStruct(DATA, data_sizes(self._struct.sizes), NUMBER)
        put_mocap(self.model, d)
        return d

    def _filled(self, kernel: Callable[..., None], shape: tuple[int, ...], *names: str | None) -> np.ndarray:
        """Result of a kernel of arrays of these names; None is zeros."""
        out = np.full(shape, 0.0, object)
        arrays = [[0.0] * self.model.nv if name is None else expressions(self._symbols[name]) for name in names]
        interpret(kernel)(self._struct, self._data(), *arrays, SymbolicField("out", out))
        return out

    def _function(self, name: str, arguments: str, result: np.ndarray, called: str) -> Function:
        """A function of symbols by their names."""
        names = arguments.split()
        given = [self._symbols[n] for n in names]
        return casadi_library().Function(name, given, [casadi_library().densify(matrix(result))], names, [called])

    def _frame(self, kind: str, name: str) -> Function:
        """Function of positions that gives place and orientation of an object."""
        k, library, d = self.model.id(kind, text_of(kind, name)), casadi_library(), self._data()
        d.views["qpos"][:] = expressions(self._symbols["q"])
        interpret(kinematics)(self._struct, d, 1)
        interpret(attached_frames)(self._struct, d)
        position, rotation = (d.views[field][k] for field in FRAMES[kind])
        results = [library.densify(matrix(x)) for x in (position, rotation.reshape(3, 3))]
        return library.Function("frame", [self._symbols["q"]], results, ["q"], ["position", "rotation"])


def casadi(model: ModelSource) -> CasadiFunctions:
    """The equations of motion and kinematics of a model as CasADi functions, from the kernels that simulate it.

    Needs CasADi: pip install 'saltus[casadi]'. Contacts, limits, dry friction, springs, dampers, actuators, muscles and
    tendons' forces are not in the functions, and enter by generalised forces tau; `left_out` of the result names what
    of it the model has.

    Raises:
        ImportError: CasADi is not installed.
        OptionError: the model has no degree of freedom.

    Warns:
        SaltusWarning: the model has something not in the functions that moves it at all times, such as equality
            constraints; names it.
    """
    loaded = load(model)
    if not loaded.nv:
        raise OptionError("casadi: the model has no degree of freedom")
    casadi_library()
    functions = CasadiFunctions(loaded)
    missed = [f for f in present(loaded.mujoco) if f.kind in MISSED and f.kind not in loaded.left_out]
    if missed:
        names = ", ".join(f"{LEFT_OUT[f.kind]} ({f.name})" for f in missed[:3])
        warn(
            f"casadi: {names} of the model are not in the functions; add them by tau, or as constraints of the problem"
        )
    return functions


def _left_out(model: Model) -> tuple[str, ...]:
    """Words for all that acts in a model and is not in the functions."""
    m = model.mujoco
    kinds = {feature.kind for feature in present(m)} - model.left_out
    found = [text for kind, text in LEFT_OUT.items() if kind in kinds]
    if any(np.any(values) for name, values in parameters(m, model.left_out).items() if name != "tendon_armature"):
        found.append("springs and dampers of tendons")
    if np.any(m.jnt_stiffness) or np.any(m.jnt_stiffnesspoly):
        found.append("springs of joints")
    if np.any(m.dof_damping) or np.any(m.dof_dampingpoly):
        found.append("dampers of joints")
    if np.any(m.body_gravcomp):
        found.append("gravity compensation")
    if model.muscles:
        found.append("muscles")
    if m.nactuator:
        found.append("actuators")
    return tuple(found)
