"""Constrained inverse dynamics of a simulation's present state."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus.arguments import numbers
from saltus.errors import OptionError
from saltus.simulate.engine import loops
from saltus.simulate.engine.engine import Engine
from saltus.simulate.engine.snapshot import peeking

OF_STEPS = {"euler": loops.driving_forces_of_damped_step, "discrete": loops.driving_forces_of_discrete_step}


def inverse(engine: Engine, qacc: Any, discrete: bool = False) -> NDArray[np.float64]:
    """Forces [nv] for accelerations qacc [nv]; see `saltus.Simulation.inverse`."""
    given = given_accelerations("inverse", engine, qacc)
    check_inverse("inverse", engine, discrete)
    engine.prepare()
    with peeking(engine):
        engine.d.views["qacc"][:] = given
        if discrete:
            OF_STEPS[engine.integrator.name](engine.m, engine.d, engine.timestep)
        else:
            loops.driving_forces(engine.m, engine.d)
        return engine.d.views["qfrc_inverse"].copy()


def inverse_of_samples(engine: Engine, samples: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Forces [n, nv] (N, N m) of n states, whose fields of the state and qacc `samples` holds as rows [n, ...]."""
    check_inverse("inverse_dynamics", engine, discrete=False)
    engine.prepare()
    fields = [(engine.d.views[name], rows) for name, rows in samples.items()]
    found, driving_forces = engine.d.views["qfrc_inverse"], loops.driving_forces.bound(engine.m, engine.d)
    out = np.zeros((len(samples["qacc"]), engine.model.nv))
    with peeking(engine):
        for k, forces in enumerate(out):
            for field, rows in fields:
                field[...] = rows[k]
            driving_forces()
            forces[:] = found
    return out


def given_accelerations(what: str, engine: Engine, qacc: Any) -> NDArray[np.float64]:
    """Accelerations as an array [nv]; OptionError, which begins with `what`, for anything else."""
    nv = engine.model.nv
    given = numbers("qacc", qacc)
    if given.shape != (nv,):
        raise OptionError(f"{what}: qacc must have {nv} numbers, one for each degree of freedom, not {given.shape}")
    if not np.isfinite(given).all():
        raise OptionError(f"{what}: qacc must be finite")
    return given


def check_inverse(what: str, engine: Engine, discrete: bool) -> None:
    """OptionError, which begins with `what`, where forces do not follow from accelerations."""
    if engine.hard is not None:
        raise OptionError(
            f"{what}: under hard contact and events, forces do not follow from accelerations; choose contact='soft'"
        )
    if engine.motions:
        raise OptionError(f"{what}: motions prescribe accelerations; sim.data.qfrc_prescribed is what they need")
    if discrete and engine.integrator.name not in OF_STEPS:
        raise OptionError(
            f"{what}: discrete=True is for integrators {' and '.join(OF_STEPS)}, not {engine.integrator.name}"
        )
    if discrete and engine.integrator.name == "discrete" and engine.m.has_freebody:
        raise OptionError(
            f"{what}: discrete=True does not support lone free bodies, which this integrator turns after its solve"
        )
