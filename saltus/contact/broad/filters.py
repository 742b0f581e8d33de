"""MuJoCo's filters of geoms that may touch (its documentation, Computation: Collision detection, Selection)."""

from saltus.dynamics.awake.lists import is_awake
from saltus.model.enums import HFIELD
from saltus.number.kernels import kernel, only_with


@kernel
def may_touch(m, d, g1, g2):
    """Whether geoms g1 < g2 may touch by their types, masks and bodies, and either is awake."""
    if not may_wake(m, d, g1, g2):
        return False
    if m.geom_type[g1] <= HFIELD and m.geom_type[g2] <= HFIELD:
        return False
    one, other = m.broad_contype[g1] & m.broad_conaffinity[g2], m.broad_contype[g2] & m.broad_conaffinity[g1]
    if (one | other) == 0:
        return False
    b1, b2 = m.geom_bodyid[g1], m.geom_bodyid[g2]
    weld1, weld2 = m.body_weldid[b1], m.body_weldid[b2]
    if weld1 == weld2 or m.broad_parent[weld1] == weld2 or m.broad_parent[weld2] == weld1:
        return False
    return not excluded(m, b1, b2)


@only_with("sleep", otherwise="True")
@kernel(inline=True)
def may_wake(m, d, g1, g2):
    """Whether either of two geoms is awake."""
    return is_awake(d, m.body_treeid[m.geom_bodyid[g1]]) or is_awake(d, m.body_treeid[m.geom_bodyid[g2]])


@kernel(inline=True)
def excluded(m, b1, b2):
    """Whether the file excludes contacts of bodies b1 < b2."""
    found, first = False, m.exclude_adr[b1]
    for k in range(first, first + m.exclude_num[b1]):
        found = found or m.exclude_body[k] == b2
    return found
