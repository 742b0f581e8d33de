"""Copies and pickles: a copy goes on as the original would, to the bit, and neither feels the other."""

import copy
import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from helpers.stiction_scenes import belt
from numpy.testing import assert_array_equal

import saltus
from saltus.number.structs import Struct
from saltus.record.table.comparison_table import ComparisonRow
from saltus.symbolic.equations import Equations

HOW = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
MOTOR = """
<mujoco><option timestep="0.01"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/></body>
</worldbody><actuator><motor joint="a"/></actuator></mujoco>"""
BOUNCE = """
<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 0.3"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
MESHES = """
<mujoco><option timestep="0.01"/>
  <asset><mesh name="tetrahedron" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"/></asset><worldbody>
  <body pos="0 0 0"><geom type="mesh" mesh="tetrahedron"/></body>
  <body pos="0.03 0.03 0.3"><freejoint/><geom type="mesh" mesh="tetrahedron"/></body></worldbody></mujoco>"""


def law_of_a_closure(gain):
    """A controller's law that no module has by name."""

    def law(m, d, z):
        d.ctrl[0] = -gain * d.qpos[0]

    return law


def swung(**options):
    sim = saltus.Simulation(MOTOR, **options)
    sim.qpos[0], sim.ctrl[0] = 1.0, 0.3
    return sim


def with_another_step():
    sim = swung()
    sim.timestep = 0.004
    return sim


def with_a_controller():
    sim = swung()
    sim.control = saltus.PID(2.0, 1.0, 0.1, target=0.4)
    return sim


def pushed(**options):
    sim = swung(**options)
    sim.qfrc_applied[0], sim.xfrc_applied[1, 4] = 0.1, 0.2
    return sim


SIMULATIONS = {
    "euler": swung,
    "verlet": lambda: swung(integrator="verlet"),  # remembers a velocity
    "dopri5": lambda: swung(integrator="dopri5", tolerance=(1e-6, 1e-8)),  # remembers its step
    "forces": pushed,
    "another step": with_another_step,
    "controller": with_a_controller,
    "law": lambda: swung(control=saltus.controller(law_of_a_closure(3.0))),
    "soft": lambda: saltus.Simulation(BOUNCE),
    "time stepping": lambda: saltus.Simulation(BOUNCE, "moreau_jean", saltus.Hard(restitution=0.5)),
    "located": lambda: saltus.Simulation(BOUNCE, contact=saltus.Hard(restitution=0.5)),
    "static friction": lambda: saltus.Simulation(belt(0.1, 50.0), "dopri5", contact="hard"),  # breaks away
    "static friction in steps": lambda: saltus.Simulation(belt(0.1, 50.0), "moreau_jean", contact="hard"),
    "meshes": lambda: saltus.Simulation(MESHES),
}


def numbers(sim):
    return np.concatenate([[sim.time], sim.qpos, sim.qvel, sim.act, sim.ctrl])


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("scene", SIMULATIONS)
def test_a_copied_simulation_goes_on_alone(scene, how):
    sim = SIMULATIONS[scene]()
    sim.step(20)
    other = HOW[how](sim)
    assert (other.timestep, other.unconverged, str(other)) == (sim.timestep, sim.unconverged, str(sim))
    assert repr(other.events.tolist()) == repr(sim.events.tolist())  # not-a-numbers, too
    before = numbers(sim)
    other.step(100)
    assert_array_equal(numbers(sim), before)
    assert not np.array_equal(numbers(other), before)
    sim.step(100)
    assert_array_equal(numbers(other), numbers(sim))
    assert repr(other.events.tolist()) == repr(sim.events.tolist())  # not-a-numbers, too
    assert_array_equal(other.data.qacc, sim.data.qacc)


def batch_of(precision, integrator, **options):
    batch = saltus.Batch(MOTOR, 11, 2, precision, integrator, **options)
    batch.qpos = np.linspace(-1, 1, 11)[:, None]
    batch.qfrc_applied = np.linspace(0, 1, 11)[:, None]
    return batch


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("integrator", ["euler", "verlet"])
def test_a_copied_batch_goes_on_alone(integrator, precision, how):
    """Many copies in a row: memory that is not aligned as lanes need it would end the process."""
    batch = batch_of(precision, integrator)
    batch.step(20)
    batch.timestep = 0.005
    others = [HOW[how](batch) for _ in range(8)]
    before = batch.qpos
    for other in others:
        other.step(100)
    assert_array_equal(batch.qpos, before)
    batch.step(100)
    for other in others:
        for field in ("time", "qpos", "qvel"):
            assert_array_equal(getattr(other, field), getattr(batch, field))


def test_a_copied_batch_knows_what_has_diverged():
    batch = batch_of("float64", "euler")
    batch.qvel = np.where(np.arange(11) == 3, np.nan, 0.0)[:, None]
    with pytest.raises(saltus.DivergenceError):
        batch.step()
    other = copy.deepcopy(batch)
    assert_array_equal(other.diverged, np.arange(11) == 3)
    other.reset(other.diverged)
    assert batch.diverged.any() and not other.diverged.any()


def test_a_copy_outlives_its_original():
    """What MuJoCo's functions work in belongs to each copy."""
    sim = saltus.Simulation(MESHES)
    expected = copy.copy(sim)
    expected.step(50)
    other = copy.deepcopy(sim)
    del sim
    gc.collect()
    other.step(50)
    assert_array_equal(other.qpos, expected.qpos)


def test_subclasses_and_attributes_of_the_users_own():
    class Arm(saltus.Simulation):
        def __init__(self, gain):
            super().__init__(MOTOR)
            self.gains = [gain]

    arm = Arm(3.0)
    for copied in (copy.copy(arm), copy.deepcopy(arm)):
        assert type(copied) is Arm and copied.gains == [3.0]
    assert copy.deepcopy(arm).gains is not arm.gains


ELSEWHERE = """
import pickle, sys
import numpy as np
runs = pickle.load(sys.stdin.buffer)
for run in runs:
    run.step(100)
np.save(sys.stdout.buffer, np.concatenate([np.ravel(run.qpos) for run in runs]))
"""


@pytest.mark.slow
def test_pickles_go_on_in_another_process():
    """Laws that can be imported travel by name, others with their code."""
    law = saltus.controller(law_of_a_closure(2.0))
    runs = [with_a_controller(), swung(control=law), batch_of("float64", "euler", control=law)]
    for run in runs:
        run.step(20)
    command = [sys.executable, "-c", ELSEWHERE]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, input=pickle.dumps(runs), capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for run in runs:
        run.step(100)
    from io import BytesIO

    assert_array_equal(np.load(BytesIO(done.stdout)), np.concatenate([np.ravel(run.qpos) for run in runs]))


def test_memory_of_compiled_code_is_not_copied():
    sim = saltus.Simulation(MOTOR)
    for thing in (sim.data, sim.engine.d):
        for how in (copy.deepcopy, pickle.dumps):
            with pytest.raises(saltus.OptionError, match="copy the Simulation"):
                how(thing)
    assert isinstance(copy.copy(sim.engine.d), Struct) and copy.copy(sim.engine.d).real is sim.engine.d.real


def ones(m, d):
    d.M[0] = 1.0


def nothing(m, d):
    d.qfrc_bias[0] = 0.0


def angle(m, d):
    return d.qpos[0]


def spring(m, d, gap, velocity):
    return -1e3 * gap, 0.0 * gap, 0.0 * gap


def torque(m, d, z):
    d.ctrl[0] = d.actuation_state[0]


def public_things():
    trajectory = saltus.Simulation(MOTOR).run(0.1)
    certificate = saltus.Certificate(4, 4.0, np.zeros(3), 0.0, 0.0, (0.1, 0.05, 0.025), 0.1, ())
    return [
        saltus.load(MOTOR),
        saltus.HillMuscle(624.3, 0.1157, 0.2723),
        saltus.Gear(50.0, 0.8),
        saltus.Stribeck(1.0, 2.0, 0.1),
        saltus.LuGre(1e4, 10.0, 1.0, 2.0, 0.1),
        saltus.Dahl(1e4, 1.0),
        saltus.Motor(1.0, 0.05, current_limit=2.0),
        saltus.TorqueCurve([0.0, 1.0], [1.0, 0.0]),
        saltus.CamCurve([0.0, 1.0], [0.0, 1.0]),
        saltus.PID(1.0, target=[0.2]),
        saltus.Pose([0.1, 0.2, 0.3], [1.0, 0.0, 0.0, 0.0]),
        saltus.controller(law_of_a_closure(1.5), parameters=[1.0]),
        saltus.minimum_jerk(MOTOR, [[0.0], [1.0]], [0.0, 1.0]),
        saltus.Dynamics(ones, nothing),
        saltus.Event(angle, name="upright"),
        saltus.Actuation(torque, start=[1.0], events=[saltus.Event(angle)]),
        saltus.Soft(),
        saltus.Hard(restitution=0.4, pairs={("a", "b"): 0.5}),
        saltus.Compliant(spring),
        saltus.HuntCrossley(1e5, 0.3, friction=0.2),
        saltus.KelvinVoigt(1e5, 30.0, static_friction=0.4),
        saltus.ContactLaw((0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)),
        saltus.friction_contact(np.eye(3), np.array([-1.0, 0.0, 0.0]), np.array([0.5])),
        saltus.integrators()["rk4"],
        saltus.ButcherTableau([[0, 0], ["1/2", 0]], [0, 1]),
        trajectory,
        certificate,
        saltus.Comparison("a", ("soft",), 0.1, 1.0, 0.1, [ComparisonRow("rk4", "soft", 4, "explicit")]),
        saltus.integrate_ode(lambda t, y: -y, [1.0], [0.0, 0.1], method="rk4", step=0.1),
        saltus.Sweep("a", ("b",), [{"b": 1.0}], ("c",), ("m",), np.ones((1, 1)), ["done"], [""]),
        saltus.derive(MOTOR),
        *(getattr(saltus, name)("it") for name in ("SaltusError", "SaltusWarning", "ModelError", "OptionError")),
        saltus.DivergenceError(1.0, dof="a", timestep=0.1),
        saltus.EventError("it", time=1.0),
        saltus.RecordError("file", "damaged"),
        saltus.ConcurrencyError("another thread is using"),
    ]


@pytest.mark.slow
def test_every_public_class_is_copied():
    """As text they are the same; `Simulation` and `Batch` have tests of their own."""
    things = public_things()
    for thing in things:
        for how in HOW.values():
            other = how(thing)
            assert type(other) is type(thing)
            if "object at 0x" not in repr(thing) and not isinstance(thing, Equations):
                assert repr(other) == repr(thing)
    classes = {c for c in (getattr(saltus, name) for name in saltus.__all__) if isinstance(c, type)}
    left = classes - {type(thing) for thing in things} - {saltus.Simulation, saltus.Batch}
    assert not left, left


def test_copied_laws_move_what_they_moved():
    """Laws, integrators and models that were copied give the bits of the originals."""
    dynamics, own = saltus.Dynamics(ones, nothing), saltus.controller(law_of_a_closure(2.5))
    expected = saltus.Simulation(MOTOR, "rk4", control=own, dynamics=dynamics)
    for how in HOW.values():
        model, integrator = how(saltus.load(MOTOR)), how(saltus.integrators()["rk4"])
        sim = saltus.Simulation(model, integrator, control=how(own), dynamics=how(dynamics))
        for run in (expected, sim):
            run.reset()
            run.qpos[0] = 1.0
            run.step(100)
        assert_array_equal(sim.qpos, expected.qpos)


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_a_copied_recording_is_another(how):
    trajectory = swung().run(0.5)
    other = HOW[how](trajectory)
    other.qpos[:] = 7.0
    other.attrs["note"] = "mine"
    assert trajectory.qpos.max() < 7.0 and "note" not in trajectory.attrs
    assert other.model.nq == trajectory.model.nq
