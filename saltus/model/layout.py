"""Layout of the kernels' Model and Data, from the fields declared in `saltus.model.fields`.

Fields that exist in MuJoCo have MuJoCo's names. Fields of features disabled by flags of a file (gravity, springs,
dampers, actuation) are zero in the kernels' Model, so kernels need not test the flags.
"""

import functools

from saltus.model.feature_keys import unknown_keys
from saltus.model.fields import actuator, flex, fluid, integrate, sense, tendon, threads, tree
from saltus.model.fields.constraint import (
    broad,
    cone,
    contact,
    event,
    impact,
    passing,
    rows,
    search,
    sleep,
    solve,
    stepping,
)
from saltus.number.structs import Layout
from saltus.number.threads.team import places

BITS = 62  # bits of an integer that hold flags
BINS = 256  # bins of a histogram of the trees of an island
DIGIT_BITS = 11  # bits of a digit for sorting the keys of pairs of geoms

SECANTS = 12  # steps of Broyden's method that `energy_momentum` keeps
DENSE = 64  # degrees of freedom up to which it finds its matrix by differences

PARTS = (tree, actuator, tendon, fluid, flex, contact, broad, rows, solve, sleep, event, passing, sense, threads)
MODEL = Layout("Model", {name: field for part in PARTS for name, field in part.MODEL.items()}, frozen=True)

# fields that steps continue from are contiguous, with the inputs last
_STATE = (
    *(
        tree.STATE,
        rows.STATE,
        actuator.STATE,
        flex.STATE,
        integrate.STATE,
        solve.STATE,
        sleep.STATE,
        event.STATE,
        stepping.STATE,
        event.USER_STATE,
    ),
    *(tree.POSES, actuator.INPUTS, tree.FORCES),
)
_COMPUTED = (
    *(
        tree.STEP,
        tree.POSITION,
        tendon.POSITION,
        contact.POSITION,
        broad.POSITION,
        sleep.POSITION,
        flex.DATA,
        tree.VELOCITY,
        actuator.VELOCITY,
    ),
    *(fluid.VELOCITY, rows.VELOCITY, sense.VELOCITY),
    *(tree.SCRATCH, solve.SCRATCH, cone.FIELDS, cone.SCRATCH, impact.IMPACT_FIELDS),
    *(event.SCRATCH, search.SCRATCH, passing.SCRATCH, stepping.SCRATCH, integrate.SCRATCH, threads.DATA),
)
DATA = Layout("Data", {name: field for fields in (*_STATE, *_COMPUTED) for name, field in fields.items()})


VARIED = frozenset(name for part in PARTS for name in getattr(part, "VARIES", ()))
# features whose kernels branch on numbers of these fields
KEEP_SHARED = {
    "servo": {"actuator_dynprm", "actuator_gainprm", "actuator_biasprm"},
}


def varied_fields(features: frozenset[str]) -> frozenset[str]:
    """Fields that differ from simulation to simulation in batches with the feature "vary"."""
    if "vary" not in features:
        return frozenset()
    return VARIED - set().union(*[KEEP_SHARED[word] for word in features & KEEP_SHARED.keys()])


@functools.cache
def model_layout(features: frozenset[str]) -> Layout:
    """The layout of a Model with a set of features (see `saltus.model.feature_keys`)."""
    if unknown := unknown_keys(features):
        raise ValueError(f"no such feature: {', '.join(unknown)}")
    if not features:
        return MODEL
    of_fields = features & {
        "cam",
        "capstan",
        "current_limit",
        "drive",
        "hill",
        "torque_curve",
    }  # features that add fields
    varied = varied_fields(features)
    if varied:
        of_fields |= features & {"vary", *KEEP_SHARED}
    fields = MODEL.fields | (actuator.HILL if "hill" in features else {})
    narrowed = functools.partial(_with_features, of_fields)
    fields |= actuator.CURVES if "torque_curve" in features else {}
    fields |= actuator.CURRENTS if "current_limit" in features else {}
    fields |= rows.DRIVE if "drive" in features else {}
    fields |= tendon.CAPSTAN if "capstan" in features else {}
    fields |= rows.CAM if "cam" in features else {}
    name = "_".join(["Model", *sorted(features)])
    return Layout(name, fields, frozen=True, features=features, narrowed=narrowed, varied=varied)


def _with_features(of_fields: frozenset[str], others: frozenset[str]) -> Layout:
    return model_layout(of_fields | others)


def data_sizes(
    model_sizes,
    *,
    nmemory=0,
    nstage=0,
    implicit=False,
    newton=False,
    collocates=False,
    pcg=False,
    balance=False,
    fsal=False,
    searches=False,
    tangents=False,
    lanes=False,
    control_states=0,
    control_prm=0,
):
    """Sizes of a Data for the model's sizes and the needs of an integrator.

    Without constraints (nblockmax 0) no memory is allocated for them.

    `nmemory`: values that the integrator keeps between steps; `nstage`: stages whose slopes it stores; `implicit`: it
    uses velocity derivatives; `newton`: it solves for all stages by Newton iteration; `collocates`: by one
    whose matrices are parted by eigenvalues; `pcg`: it uses conjugate gradients with the derivatives of forces, with
    "flex" only those of deformable bodies; `balance`: it balances momenta over a step; `fsal`: its last slopes are the
    first of the next step; `searches`: its steps are searched for contacts; `tangents`, `lanes`: the Data holds duals,
    lanes. `control_states`, `control_prm`: numbers of states and parameters of a controller in the time loop.
    """
    nv = model_sizes["nv"]
    nact = model_sizes["nact"] + control_states
    unknowns = nstage * (nv + nact) if newton else 0
    rates, states = (nv + nact, 2 * nv + nact) if collocates else (0, 0)
    nv_constraint = nv if model_sizes["nblockmax"] or model_sizes["nevent_state"] else 0
    nv_hessian = nv_constraint if tangents else model_sizes["nv_hessian"]
    if lanes and model_sizes["nv_lanes_hessian"]:
        nv_hessian = nv_constraint
        model_sizes = model_sizes | dict.fromkeys(("ntreeblock", "nlargestblock", "ntreepair", "npairblock"), 0)
    return dict(
        model_sizes,
        nv_constraint=nv_constraint,
        nv_hessian=nv_hessian,
        nhessian=nv_hessian * (nv_hessian + 1) // 2,
        nhessian_bits=(nv_hessian + 1) * (nv_hessian // BITS + 1) if nv_hessian else 0,
        nblock_weight=36 if nv_constraint else 0,
        nmemory=nmemory,
        nstage_nv=nstage * nv,
        nstage_nact=nstage * nact,
        nact_room=nact,
        nv_fsal=nv if fsal else 0,
        nact_fsal=nact if fsal else 0,
        nact_event=nact if model_sizes["nevent_state"] else 0,
        ncontrol_prm=control_prm,
        nbody_implicit=model_sizes["nbody"] if implicit else 0,
        nv_implicit=nv if implicit else 0,
        nC_implicit=model_sizes["nC"] if implicit else 0,
        nq_newton=model_sizes["nq"] if newton else 0,
        nv_newton=nv if newton else 0,
        nnewton=unknowns,
        nnewton_square=nv * nv if balance and nv <= DENSE else unknowns * unknowns,
        nslope_matrix=rates * states,
        nstate_collocation=states,
        ncollocation=3 * states,
        nnewton_real=rates * rates,
        nnewton_pair=4 * rates * rates,
        nnewton_side=2 * rates,
        nv_pcg=nv if pcg is True or (pcg and model_sizes["nflexvert"]) else 0,
        nbody_balance=model_sizes["nbody"] if balance else 0,
        njnt_balance=model_sizes["njnt"] if balance else 0,
        nsecant=SECANTS * nv if balance else 0,
        nrow_balance=model_sizes["nrowmax"] if balance else 0,
        ntendon_balance=model_sizes["ntendon"] if balance else 0,
        nband_flag=1 if model_sizes["nband"] else 0,
        nband_pcg=model_sizes["nband"] if pcg else 0,
        nrow_band=model_sizes["nrowmax"] if pcg and model_sizes["nband"] else 0,
        nflexedge_pcg=model_sizes["nflexedge"] if pcg else 0,
        nflexvert_pcg=model_sizes["nflexvert"] if pcg else 0,
        **search.search_sizes(model_sizes, searches and not lanes),
        nteam=places(1),
        contact_end=model_sizes["nconmax"],
        found_end=model_sizes["nfound"],
    )
