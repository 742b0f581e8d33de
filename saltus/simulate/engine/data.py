"""`Simulation.data`: computed quantities by MuJoCo's names, always those of the present state."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from saltus.arguments import put
from saltus.errors import OptionError, UnknownAttribute, proposal
from saltus.model.actuator_enums import SCALAR
from saltus.model.layout import DATA
from saltus.model.model import Model
from saltus.number.structs import Struct
from saltus.read_only import ReadOnly
from saltus.simulate.engine import constraint_rows
from saltus.simulate.engine.data_fields import DataFields
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.threads.turn import Turn, in_turn

STATE = (
    *(
        "time",
        "qpos",
        "qvel",
        "eq_active",
        "act",
        "memory",
        "qacc_warmstart",
        "mocap_pos",
        "mocap_quat",
        "mocap_vel",
        "userdata",
        "ctrl",
    ),
    *("qfrc_applied", "xfrc_applied"),
)
SHOWN = (
    "time qpos qvel eq_active act ctrl qfrc_applied xfrc_applied xpos xipos subtree_com xquat xmat ximat xanchor "
    "xaxis geom_xpos geom_xmat site_xpos site_xmat cinert crb cdof cdof_dot M qLD qLDiagInv ten_length ten_J "
    "ten_velocity cvel cacc cfrc_ext cfrc_int subtree_linvel subtree_angmom cfrc_body qfrc_bias qfrc_spring "
    "qfrc_damper qfrc_gravcomp qfrc_fluid qfrc_adhesion qfrc_passive qfrc_actuator qfrc_prescribed act_dot "
    "actuator_length actuator_velocity actuator_force mocap_pos mocap_quat userdata flexvert_xpos qfrc_smooth "
    "qacc_smooth qacc qfrc_inverse qfrc_constraint energy"
)
HIDDEN = DATA.fields.keys() - {*SHOWN.split(), "qacc_warmstart"}
NAMED = ("body", "joint", "geom", "site", "tendon", "actuator", "sensor")  # kinds of objects with named access
#: Fields of MuJoCo's data that are missing here, with their replacements.
FIXED_FIELDS = {
    **{kind: f"; sim.{kind}(name) gives the parts of one {kind}" for kind in NAMED},
}
CONSTRAINTS = ("ncon", "nefc", "contact", "solver_niter", *constraint_rows.FIELDS)


class Data(DataFields):
    """Computed quantities as arrays: `xpos`, `qfrc_bias`, `qacc`, ... by MuJoCo's names, in SI units.

    Quantities always belong to the present state: reading one after a step or a change of the state recomputes them.
    (In MuJoCo they belong to the start of the last step until `mj_forward` is called.) `M`, `qLD` have MuJoCo's sparse
    layout. State and inputs can be written; computed quantities are read-only.

    Contacts and constraint rows are here too: `ncon`, `contact` (a structured array), `nefc`, `efc_J` [nefc, nv],
    `efc_pos`, `efc_D`, `efc_R`, `efc_aref`, `efc_force`, `efc_frictionloss`, `efc_type` and `efc_id` [nefc],
    `solver_niter`; see `saltus.simulate.engine.constraint_rows`. `actuator_moment` [nout, nv] is dense.
    """

    def __init__(self, engine: Engine, refresh: Callable[[str], np.ndarray | None], turn: Turn):
        self._turn = turn
        self._engine, self._refresh = engine, refresh
        self._rows: tuple[Any, dict[str, np.ndarray]] = (None, {})  # the state they belong to, and the rows
        self._shown: dict[str, ReadOnly] = {}  # computed fields that are the memory of kernels

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise OptionError("the data of a simulation cannot be copied or pickled alone; copy the Simulation")

    if not TYPE_CHECKING:  # type checkers see only the fields that DataFields declares

        def __getattr__(self, name: str) -> Any:
            if name in self._shown:
                self._refresh(name)
                return self._shown[name]
            if name in CONSTRAINTS:
                return self._constraint(name)
            if name == "actuator_moment":
                return self._actuator_moment()
            if name.startswith("_") or name not in DATA.fields or name in HIDDEN:
                raise AttributeError(f"Data has no field {name!r}{FIXED_FIELDS.get(name, '')}")
            view = self._engine.d.views[name]
            if name in ("act", "act_dot"):
                view = view[: self._engine.m.nact]
            if name in STATE:
                return view
            if name == "flexvert_xpos":
                view = view[: self._engine.model.nflexvert]  # without nodes
            self._refresh(name)
            if name == "qfrc_constraint" and not view.size:  # models without constraints
                view = np.zeros(self._engine.model.nv)
            if name in ("M", "qLD") and not np.array_equal(self._engine.model.M_colind, self._engine.m.M_colind):
                return ReadOnly.of(view[sparse_rows(self._engine.model, self._engine.m)], why_computed(name))
            shown = ReadOnly.of(view, why_computed(name))
            if name != "act_dot":  # another controller has other states
                self._shown[name] = shown
            return shown

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] == "_":
            object.__setattr__(self, name, value)
        elif name in STATE and name not in HIDDEN:
            put(name, getattr(self, name), value)
        elif name in dir(self):
            raise UnknownAttribute(why_computed(name))
        else:
            raise UnknownAttribute(f"Data has no field {name!r}{FIXED_FIELDS.get(name, proposal(name, dir(self)))}")

    def __dir__(self) -> list[str]:
        return sorted([f for f in DATA.fields if f not in HIDDEN] + ["actuator_moment", *CONSTRAINTS])

    @in_turn
    def _actuator_moment(self) -> np.ndarray:
        """Moment arms of all outputs of actuators [nout, nv]."""
        self._refresh("moment")
        engine = self._engine
        moment = np.zeros((engine.m.nout, engine.model.nv))
        return dense_moment(engine.m, engine.d.views["moment"], moment)

    @in_turn
    def _constraint(self, name: str) -> Any:
        """Contacts and rows of the present state."""
        computed = self._refresh(name)
        if name in ("ncon", "contact"):
            found = constraint_rows.contacts(self._engine.m, self._engine.d)
            return len(found) if name == "ncon" else found
        if name == "solver_niter":
            return constraint_rows.iterations(self._engine.d)
        if name == "nefc":
            return int(constraint_rows.row_counts(self._engine.d).sum())
        if self._rows[0] is not computed:
            self._rows = computed, constraint_rows.rows(self._engine.model, self._engine.m, self._engine.d)
        return self._rows[1][name]


def why_computed(name: str) -> str:
    """Text of the error for values that are assigned to a computed field."""
    return f"{name} is read-only: it is computed from the state; set qpos, qvel, act, ctrl or forces instead"


def dense_moment(m: Struct, moment: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Moment arms of all outputs of actuators [..., nout, nv], from those that are not zero, [..., nmoment]."""
    out[...] = 0.0
    for o in range(m.nout):
        row = slice(m.moment_adr[o], m.moment_adr[o] + m.moment_num[o])
        scalar = m.out_kind[o] == SCALAR
        out[..., o, m.moment_dof[row]] = m.actuator_gear[o, 0] if scalar else moment[..., row]
    return out


def sparse_rows(model: Model, m: Struct) -> np.ndarray:
    """Places of MuJoCo's entries of the inertia matrix among the kernels' own.

    In MuJoCo's layout simple bodies have only their diagonals, and tendons with inertia couple no branches.
    """
    places = []
    for i in range(model.nv):
        columns = m.M_colind[m.M_rowadr[i] : m.M_rowadr[i] + m.M_rownnz[i]]
        wanted = model.M_colind[model.M_rowadr[i] : model.M_rowadr[i] + model.M_rownnz[i]]
        places.extend(m.M_rowadr[i] + np.searchsorted(columns, wanted))
    return np.array(places, int)
