"""What sensors read, of one simulation and of many."""

from typing import TYPE_CHECKING

import numpy as np

from saltus.contact.counts import NUNSOLVED
from saltus.contact.mujoco.rays import attach_sense
from saltus.model.layout import DATA
from saltus.number.functions import lane_get
from saltus.number.kernels import Entry
from saltus.number.structs import Struct
from saltus.sense.delay import delayed_readings
from saltus.sense.forces import body_forces
from saltus.sense.sensors import sense as read_sensors
from saltus.sense.subtree import subtree_momenta
from saltus.solve.acceleration import forward

if TYPE_CHECKING:
    from saltus.model.model import Model
    from saltus.simulate.batch import Batch
    from saltus.simulate.simulation import Simulation

sense = Entry("sense", "", "sense(m, d)\ndelayed_readings(m, d)", sense=read_sensors, delayed_readings=delayed_readings)
# what MuJoCo computes for its sensors alone, where there are none too
BODY_FIELDS = ("cacc", "cfrc_ext", "cfrc_int", "subtree_linvel", "subtree_angmom")
bodies = Entry(
    "bodies", "", "body_forces(m, d)\nsubtree_momenta(m, d)", body_forces=body_forces, subtree_momenta=subtree_momenta
)
# m: the model of the steps, which share its kernels; s: the same with what sensors need
sense_batch = Entry(
    "sense_batch",
    "states, out, first, last, rows, width",
    """
status = 0
for g in range(first, last):
    for k in range(rows):
        for l in range(width):
            d_real[k, l] = states[g, k, l]
    result = forward(m, d)
    status = max(status, result)
    sense(s, d)
    delayed_readings(s, d)
    for k in range(m.nsensordata):
        for l in range(width):
            out[g * width + l, k] = lane_get(d.sensordata[k], l)
return status
""",
    short=("m", "s", "d"),
    forward=forward,
    sense=read_sensors,
    delayed_readings=delayed_readings,
    lane_get=lane_get,
)


def see(model: "Model", struct: Struct) -> None:
    """Give a Data what sensors that look at meshes need, once."""
    if "foreign_sense_owner" not in vars(struct):
        attach_sense(model, struct)


def sensordata(sim: "Simulation") -> np.ndarray:
    """Readings of all sensors [nsensordata] at the present state, in the order of the file; SI units."""
    sim._refresh("sensordata")
    see(sim.model, sim._struct)
    sense(sim.model.sensing_struct(timestep=sim._law_timestep, laws=sim._laws), sim._struct)
    return sim._struct.views["sensordata"].copy()


def compute_bodies(sim: "Simulation") -> None:
    """Accelerations, forces and momenta of all bodies, `BODY_FIELDS`, after `forward`."""
    words = frozenset({"sense_body", "sense_subtree"})
    bodies(sim.model.sensing_struct(timestep=sim._law_timestep, words=words), sim._struct)


def place(model: "Model", name: str) -> slice:
    """Where a sensor's readings lie in sensordata; KeyError names the sensors there are."""
    s = model.id("sensor", name)
    return slice(int(model.sensor_adr[s]), int(model.sensor_adr[s] + model.sensor_dim[s]))


def reading(sim: "Simulation", name: str) -> np.ndarray:
    """Reading [dim] of the sensor with a name at the present state."""
    return sensordata(sim)[place(sim.model, name)]


def batch_sensordata(batch: "Batch") -> np.ndarray:
    """Readings of all sensors of all simulations [n, nsensordata] at their present states."""
    timestep = None if batch.integrator.adaptive else batch.timestep
    sensing = batch.model.sensing_struct(batch.precision, timestep, batch._laws)
    width = batch._width
    out = np.zeros((batch._groups * width, batch.model.nsensordata), batch._states.dtype)
    rows = batch._rows if batch._forced else batch._short_rows

    def work(worker: int, first: int, last: int) -> int:
        data = batch._workspaces[worker]
        see(batch.model, data)
        data.ints[DATA.slot["has_xfrc"]] = batch._forced
        count = data.views["count"]
        unsolved = int(count[NUNSOLVED])
        status = sense_batch(batch._model, sensing, data, batch._states, out, first, last, rows, width)
        count[NUNSOLVED] = unsolved  # looking is not a step
        return status

    workers = 1 if batch._pool is None else len(batch._workspaces)
    edges = [batch._groups * k // workers for k in range(workers + 1)]
    if workers > 1:
        work(0, 0, 0)  # compiled before threads start, so that they do not wait for each other
        pool = batch._threads_here()
        rest = [pool.submit(work, k, edges[k], edges[k + 1]) for k in range(1, workers)]
        work(0, edges[0], edges[1])
        for job in rest:
            job.result()
    else:
        work(0, 0, batch._groups)
    return out[: batch.n]
