"""Configuration manifold: displacement of positions by tangent vectors (⊕) and difference of positions (⊖)."""

from saltus.dynamics.awake.walks import awake_joints
from saltus.model.enums import BALL, FREE
from saltus.number.functions import where
from saltus.number.kernels import kernel
from saltus.spatial.fields import load3, load4, store3, store4
from saltus.spatial.quaternions import quat_conjugate, quat_exp, quat_log, quat_multiply, quat_normalize, quat_or_one
from saltus.spatial.vectors import add_scaled3, scale3, sub3, where3


@kernel
def displace(m, origin, h, v, target):
    """target ← origin ⊕ h v, for fields origin, target [nq] and v [nv]; origin and target may be the same field.

    Rotations are in body axes, like qvel; a zero quaternion counts as the identity.
    """
    for j in range(m.njnt):
        displace_joint(m, origin, h, v, target, j)


@kernel
def displace_awake(m, d, origin, h, v, target):
    """target ← origin ⊕ h v for the coordinates of awake joints; see `displace`."""
    for j in awake_joints(m, d):
        displace_joint(m, origin, h, v, target, j)


@kernel
def displace_some(m, chosen, origin, h, v, target):
    """target ← origin ⊕ h v in the lanes where `chosen` holds; see `displace`. The others keep target."""
    for j in range(m.njnt):
        a = m.jnt_qposadr[j]
        kind = m.jnt_type[j]
        if kind == FREE or kind == BALL:
            first = a + 3 if kind == FREE else a
            place, turn = load3(target, a), load4(target, first)
            displace_joint(m, origin, h, v, target, j)
            if kind == FREE:
                store3(target, a, where3(chosen, load3(target, a), place))
            for k in range(4):
                target[first + k] = where(chosen, target[first + k], turn[k])
        else:
            before = target[a]
            displace_joint(m, origin, h, v, target, j)
            target[a] = where(chosen, target[a], before)


@kernel(inline=True)
def displace_joint(m, origin, h, v, target, j):
    """target ← origin ⊕ h v for the coordinates of joint j; see `displace`."""
    a = m.jnt_qposadr[j]
    i = m.jnt_dofadr[j]
    kind = m.jnt_type[j]
    if kind == FREE:
        store3(target, a, add_scaled3(load3(origin, a), h, load3(v, i)))
        a += 3
        i += 3
    if kind == FREE or kind == BALL:
        turn = quat_exp(scale3(h, load3(v, i)))
        store4(target, a, quat_normalize(quat_multiply(quat_or_one(load4(origin, a)), turn)))
    else:
        target[a] = origin[a] + h * v[i]


@kernel
def difference(m, origin, target, v):
    """v ← target ⊖ origin: the tangent vector with target = origin ⊕ v, for fields [nq], [nq], [nv]."""
    for j in range(m.njnt):
        a = m.jnt_qposadr[j]
        i = m.jnt_dofadr[j]
        kind = m.jnt_type[j]
        if kind == FREE:
            store3(v, i, sub3(load3(target, a), load3(origin, a)))
            a += 3
            i += 3
        if kind == FREE or kind == BALL:
            start = quat_normalize(load4(origin, a))
            end = quat_normalize(load4(target, a))
            store3(v, i, quat_log(quat_multiply(quat_conjugate(start), end)))
        else:
            v[i] = target[a] - origin[a]
