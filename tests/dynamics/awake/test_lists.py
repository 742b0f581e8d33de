"""Lists of what is awake. Reference: selection by the trees that MuJoCo's model says."""

import mujoco
import numpy as np
import pytest
from helpers import sleepers

import saltus
from saltus.dynamics.awake import counts
from saltus.dynamics.awake.lists import list_awake, list_everything
from saltus.model.compile.kernel_model import NO_LAWS
from saltus.model.layout import DATA, data_sizes
from saltus.number.kernels import entry
from saltus.number.structs import Struct

awake, everything = entry(list_awake, name="awake"), entry(list_everything, name="everything")
LISTS = {
    "tree": counts.NTREE,
    "body": counts.NBODY,
    "joint": counts.NJOINT,
    "dof": counts.NDOF,
    "coordinate": counts.NCOORDINATE,
    "limit": counts.NLIMIT,
    "friction": counts.NFRICTION,
    "equality": counts.NEQUALITY,
    "tendon": counts.NTENDON,
    "actuator": counts.NACTUATOR,
}


def listed(d, kind):
    return d.views[f"awake_{kind}"][: d.views["awake_count"][LISTS[kind]]].tolist()


def expected(model, asleep):
    """What of each kind belongs to a tree awake; bodies also to what carries trees."""
    m, tree = model.mujoco, model.body_treeid
    on = lambda trees: any(t >= 0 and not asleep[t] for t in trees)  # noqa: E731
    carries = {int(m.body_parentid[b]) for b in range(1, m.nbody) if tree[b] >= 0}
    bodies = [b for b in range(1, m.nbody) if on([tree[b]]) or (tree[b] < 0 and b in carries)]
    joints = [j for j in range(m.njnt) if on([tree[m.jnt_bodyid[j]]])]
    width = {0: 7, 1: 4, 2: 1, 3: 1}
    joined = m.jnt_bodyid, m.site_bodyid  # by joints, or by sites
    ends = [
        joined[int(k != mujoco.mjtEq.mjEQ_JOINT.value)][[m.eq_obj1id[e], m.eq_obj2id[e]]]
        for e, k in enumerate(m.eq_type)
    ]
    limited = [j in joints for j in np.flatnonzero(m.jnt_limited)]
    limited += [on(m.tendon_treeid[t]) for t in np.flatnonzero(m.tendon_limited)]
    return {
        "tree": np.flatnonzero(~asleep).tolist(),
        "body": bodies,
        "joint": joints,
        "dof": [i for i in range(m.nv) if on([m.dof_treeid[i]])],
        "coordinate": [m.jnt_qposadr[j] + k for j in joints for k in range(width[int(m.jnt_type[j])])],
        "limit": np.flatnonzero(limited).tolist(),
        "friction": [k for k, i in enumerate(np.flatnonzero(m.dof_frictionloss)) if on([m.dof_treeid[i]])],
        "equality": [k for k, pair in enumerate(ends) if on(tree[pair])],
        "tendon": [t for t in range(m.ntendon) if on(m.tendon_treeid[t])],
        "actuator": [k for k in range(m.nu) if m.actuator_trnid[k, 0] in joints],
    }


@pytest.mark.parametrize("name", ["CABINET", "JOINED", "DRIVEN", "PUSHED"])
def test_lists_hold_what_belongs_to_trees_awake(name):
    model = saltus.load(getattr(sleepers, name))
    m = model.struct(laws=NO_LAWS._replace(sleeps=True))
    d = Struct(DATA, data_sizes(m.sizes))
    r = np.random.default_rng(0)
    mocap = np.flatnonzero(model.body_mocapid >= 0).tolist()
    for _ in range(6):
        asleep = r.random(model.ntree) < 0.5
        d.views["tree_asleep"][...] = np.where(asleep, np.arange(model.ntree), -3.0)
        awake(m, d)
        for kind, wanted in expected(model, asleep).items():
            assert listed(d, kind) == (sorted(wanted + mocap) if kind == "body" else wanted), kind
        everything(m, d)
        for kind, wanted in expected(model, np.zeros(model.ntree, bool)).items():
            # bodies that stand still, too
            assert listed(d, kind) == (list(range(1, model.nbody)) if kind == "body" else wanted), kind
