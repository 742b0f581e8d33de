"""Sensors with a delay or a sampling interval, by a history of readings (see `saltus.dynamics.history`).

A delayed sensor returns its reading at the earlier time. One with an interval is sampled at its ticks and holds the
reading in between (zero-order hold); the time of the last tick is stored separately, so that ticks do not drift.
"""

from saltus.dynamics.history import make_room, past_value, put_sample
from saltus.model.sensor_enums import ON_NOTHING
from saltus.number.functions import where
from saltus.number.kernels import kernel, only_with
from saltus.sense.sensors import sense
from saltus.solve.acceleration import forward


@only_with("sensor_delay")
@kernel
def delayed_readings(m, d):
    """Replace readings of sensors with a delay, or between two ticks, by those of the history, after `sense`."""
    for s in range(m.nsensor):
        if m.sensor_nsample[s] > 0 and m.sensor_family[s] != ON_NOTHING:
            at, n, dim, way = m.sensor_historyadr[s], m.sensor_nsample[s], m.sensor_dim[s], m.sensor_interp[s]
            for k in range(dim):
                i = m.sensor_adr[s] + k
                if m.sensor_delay[s] > 0.0:
                    d.sensordata[i] = past_value(d, at, n, dim, k, d.time - m.sensor_delay[s], way)
                elif m.sensor_interval[s] > 0.0:
                    ticks = d.history[at] + m.sensor_interval[s] <= d.time
                    d.sensordata[i] = where(ticks, d.sensordata[i], past_value(d, at, n, dim, k, d.time, way))


@only_with("sensor_delay")
@kernel
def record_sensors(m, d, time):
    """Add the readings of `sense`, taken at `time` (s), to the history; for sensors with an interval, at ticks only."""
    for s in range(m.nsensor):
        n, at, dim = m.sensor_nsample[s], m.sensor_historyadr[s], m.sensor_dim[s]
        if n > 0:
            # lanes with a tick
            due = 0.0 * time + 1.0
            if m.sensor_interval[s] > 0.0:
                tick = d.history[at] + m.sensor_interval[s]
                ticks = tick <= time
                due = where(ticks, due, 0.0 * due)
                d.history[at] = where(ticks, tick, d.history[at])
            # the sample, in the order of time
            place = make_room(d, at, n, dim, time, due)
            for k in range(dim):
                put_sample(d, at, n, dim, k, place, d.sensordata[m.sensor_adr[s] + k])


@only_with("sensor_delay")
@kernel
def sample_sensors(m, d):
    """Read all sensors and add the readings to the history, before a step.

    Preserves the warm start of the constraint solver.
    """
    keep_start(m, d)
    forward(m, d)
    sense(m, d)
    record_sensors(m, d, d.time)
    restore_start(m, d)


@only_with("constraint")
@kernel
def keep_start(m, d):
    """qstep [nv] ← qacc_warmstart."""
    for i in range(m.nv):
        d.qstep[i] = d.qacc_warmstart[i]


@only_with("constraint")
@kernel
def restore_start(m, d):
    """qacc_warmstart [nv] ← qstep."""
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.qstep[i]
