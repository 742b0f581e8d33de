"""MuJoCo's inertia of a random mechanism, as kernels on trees take it when they are interpreted."""

from types import SimpleNamespace

import mujoco
import numpy as np

from helpers.random_tree import random_tree

FIELDS = ("nv", "nC", "M_rowadr", "M_rownnz", "M_colind", "dof_parentid")


def tree_matrix(seed):
    """Model and data with M, and M as a dense matrix."""
    spec = mujoco.MjModel.from_xml_string(random_tree(seed))
    data, dense = mujoco.MjData(spec), np.zeros((spec.nv, spec.nv))
    mujoco.mj_forward(spec, data)
    mujoco.mj_fullM(spec, data, dense)
    fields = {name: getattr(spec, name) for name in FIELDS}
    m = SimpleNamespace(**fields, layout=SimpleNamespace(features=frozenset()))
    m.M_coupled = np.flatnonzero(m.M_rownnz > 1)
    m.ncoupled = len(m.M_coupled)
    d = SimpleNamespace(M=np.array(data.M), qLD=np.zeros(m.nC), qLDiagInv=np.zeros(m.nv), time=0.0)
    return m, d, dense


def pattern(m):
    """Rows and columns of the entries that are stored."""
    return np.repeat(np.arange(m.nv), m.M_rownnz), m.M_colind[: m.nC]


def random_state(model, data, rng, torque=0.0):
    """A random state for joints whose coordinates are plain numbers, with random motor torques."""
    data.qpos[:] = rng.uniform(-3, 3, model.nq)
    data.qvel[:] = rng.uniform(-3, 3, model.nv)
    data.ctrl[:] = torque * rng.uniform(-1, 1, model.nu)
    mujoco.mj_forward(model, data)
    return data.qpos, data.qvel, data.qacc, data.ctrl


def full_mass(model, data):
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    return mass
