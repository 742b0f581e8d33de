"""Numbers of derived equations at states."""

import functools

import numpy as np

from saltus.symbolic.export.python_code import function
from saltus.symbolic.export.routine import Routine


class Numbers:
    """Results of a derivation as numbers: `at(q, v, "M", "bias", ...)`; a single name gives its array alone.

    Names are fields of Derivation, names of terms, of kinds of forces, qdot, and constraints (Φ). Accelerations in
    terms are 0 unless given.
    """

    def __init__(self, equations):
        e, d, c = equations, equations.derivation, equations.choice.own
        self._e = e
        self._known = {
            "kinetic": [d.kinetic],
            "potential": [d.potential],
            "spring": [d.spring],
            "positions": d.positions,
            "velocities": d.velocities,
            "M": d.M,
            "bias": d.bias,
            "jacobian": d.jacobian,
            "gamma": d.gamma,
            "constraints": [*c.constraints.values()],
            "qdot": c.qdot,
            **d.terms,
            **d.forces,
        }
        self._inputs = [str(symbol) for symbol in e.inputs]

    @functools.cached_property
    def _function(self):
        c = self._e.choice.own
        symbols = dict(zip(self._inputs, self._e.inputs, strict=True))
        arguments = {"q": c.q, "v": c.v, "a": c.a, "u": [*symbols.values()], "p": [*self._e.mechanism.parameters]}

        @functools.cache
        def made(name):
            return function(Routine("f", arguments, {"result": self._known[name]}))

        return made

    def __call__(self, q, v, *names, a=None, inputs=None):
        a = np.zeros(len(v)) if a is None else a
        u = [(inputs or {}).get(name, 0.0) for name in self._inputs]
        found = [self._function(name)(q, v, a, u, [*self._e.mechanism.parameters.values()]) for name in names]
        return found[0] if len(found) == 1 else found

    def moved(self, q, v, dt):
        """q after a short time dt at the velocity v, to second order."""
        return q + dt * self(q + dt / 2 * self(q, v, "qdot"), v, "qdot")


def random_state(equations, seed=0):
    """(qpos, qvel): a random state of the joints."""
    rng = np.random.default_rng(seed)
    qpos = rng.normal(size=equations.model.nq)
    for joint in equations.mechanism.joints:
        if joint.kind in ("free", "ball"):
            part = slice(joint.qposadr + joint.nq - 4, joint.qposadr + joint.nq)
            qpos[part] /= np.linalg.norm(qpos[part])
    return qpos, rng.normal(size=equations.model.nv)


# a free joint, a hinge with a spring of all powers and armature, and a ball joint off its body's origin
SPATIAL = """<mujoco model="spatial"><option gravity="1 2 -9"/><worldbody><body name="base"><freejoint name="base"/>
<inertial pos="0.1 0 0" mass="2" diaginertia="0.03 0.04 0.05"/>
<body name="arm" pos="0 0.2 0"><joint name="arm" axis="0 0.6 0.8" armature="0.1" stiffness="3 1 2" damping="0.2"/>
<inertial pos="0 0 0.3" mass="1" diaginertia="0.02 0.02 0.01"/>
<body name="hand" pos="0 0 0.5"><joint name="hand" type="ball" pos="0.1 0 0" damping="0.1"/>
<inertial pos="0.1 0.2 0" mass="1" diaginertia="0.02 0.01 0.02"/></body></body></body></worldbody></mujoco>"""
