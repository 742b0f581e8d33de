"""Event-driven motion in free steps, with samples of the states at given times."""

from saltus.contact.event.contact_matching import follows_points
from saltus.contact.event.modes import keep_worst, log_is_full
from saltus.integrate.adaptive.samples import write_reached, write_row
from saltus.integrate.adaptive.stages import leave_slopes
from saltus.integrate.dense.substep import state_at
from saltus.integrate.event.dense_events import back_to_end, can_go_over, go_over, keep_end, state_inside, step_over
from saltus.integrate.event.event_density import creeps
from saltus.integrate.event.event_driven import look_ahead, take, through
from saltus.integrate.event.step_start import resume
from saltus.integrate.manifold import save_state
from saltus.integrate.status import bad_start
from saltus.model.event_enums import LEFT
from saltus.number.functions import minimum
from saltus.number.kernels import kernel
from saltus.solve.status import DIVERGED, EVENTS_FULL, OK, TOO_DENSE, UNSOLVED


@kernel
def record(m, d, times, row, attempts, method, out):
    """Integrate towards times[-1] in free steps and write the states at the ascending times [n]; see `dopri5.record`.

    Returns EVENTS_FULL if the event log must be read before the next call. For the contents of a row see
    `saltus.integrate.adaptive.samples`.
    """
    if not bad_start(m, d) < 0.5:
        save_state(m, d)
        return row, DIVERGED
    status = resume(m, d)
    row, result = free_steps(m, d, times, row, attempts, method, out, status)
    leave_slopes(m, d)
    return row, result


@kernel
def free_steps(m, d, times, row, attempts, method, out, status):
    """Free steps with samples, once modes and slopes at the current state are known; see `record`."""
    end, eased = times[-1], OK
    for _ in range(attempts):
        row = write_reached(m, d, times, row, out)
        if row == len(times) or status > UNSOLVED:
            return row, max(status, eased)
        if log_is_full(m, d):
            keep_worst(m, d, eased)
            return row, EVENTS_FULL
        start = d.time
        # time stepping over dense events
        if d.dense[LEFT] > 0.0:
            status, first = step_over(m, d, end), row
            row = rows_inside(m, d, times, row, start, out)
            status = through(m, d, status)
            if row > first:  # return while the contacts of this step can be recorded
                return row, max(status, eased)
        elif creeps(m, d):
            status = go_over(m, d, TOO_DENSE)
        # trial step; samples up to its end or first event by dense output
        else:
            status, size, place = look_ahead(m, d, end, method)
            if place < 0.0 and status != OK and can_go_over(m, d):
                status = go_over(m, d, TOO_DENSE)
            elif place >= 0.0:
                first, eased = row, max(eased, status)  # of a relaxed tolerance
                while row < len(times) and times[row] < start + minimum(place, 1.0) * size:
                    state_at(m, d, size, start, (times[row] - start) / size, method)
                    write_row(m, d, times[row], out, row)
                    row += 1
                status = take(m, d, start, size, place, end, method)
                if row > first and follows_points(m, d):  # return while the contact points are known
                    return row, max(status, eased)
    return row, max(status, eased)


@kernel
def rows_inside(m, d, times, row, start, out):
    """Samples inside the time step that has just been taken from `start` (s); returns the next row."""
    end = d.time
    if row < len(times) and times[row] < end:
        left = d.dense[LEFT]
        d.dense[LEFT] = left + 1.0
        keep_end(m, d)
        while row < len(times) and times[row] < end:
            state_inside(m, d, end - start, (times[row] - start) / (end - start))
            write_row(m, d, times[row], out, row)
            row += 1
        back_to_end(m, d)
        d.dense[LEFT] = left
    return row
