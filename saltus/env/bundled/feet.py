"""Terms of the feet of legged robots: their gait, landings and slip."""

import functools
import math
from types import SimpleNamespace

from saltus.env.bundled.legged import moving
from saltus.env.terms import term
from saltus.model.enums import BOX, CAPSULE
from saltus.number.functions import absolute, exp, floor, maximum, minimum, sincos, where
from saltus.number.kernels import kernel
from saltus.spatial.vectors import add3, matrix_times_vector


@kernel(inline=True)
def sole(m, d, g):
    """Centre of a foot (m) and height of its lowest point (m); the foot is a sphere, a capsule or a box."""
    b = m.geom_bodyid[g]
    turn = d.xmat[b]
    at = add3(d.xpos[b], matrix_times_vector(turn, m.geom_pos[g]))
    size, own = m.geom_size[g], m.geom_mat[g]
    low = at[2]
    if m.geom_type[g] == BOX:
        for k in range(3):
            low = low - size[k] * absolute(turn[6] * own[k] + turn[7] * own[3 + k] + turn[8] * own[6 + k])
    else:
        low = low - size[0]
        if m.geom_type[g] == CAPSULE:
            low = low - size[1] * absolute(turn[6] * own[2] + turn[7] * own[5] + turn[8] * own[8])
    return at, low


@kernel(inline=True)
def two_feet(e):
    """Geoms of the feet of a two-legged robot."""
    return e.foot_0, e.foot_1


@kernel(inline=True)
def four_feet(e):
    """Geoms of the feet of a four-legged robot."""
    return e.foot_0, e.foot_1, e.foot_2, e.foot_3


def remembered(count):
    """Memory of `count` feet, initially zero: whether they touch the floor, time in the air (s), positions (m)."""
    return {"touching": [0.0] * count, "air_time": [0.0] * count, "foot_x": [0.0] * count, "foot_y": [0.0] * count}


@kernel(inline=True)
def cycle(e, k):
    """Sine and cosine of a foot's phase; the foot is to swing while the sine is positive."""
    turns = e.phase + e.gait_frequency * e.dt * e.steps + 0.5 * e.gait[k]
    return sincos(2.0 * math.pi * (turns - floor(turns)))


@kernel(inline=True)
def swing(e, k):
    """Relative target height of a foot: 0 in stance, 1 in the middle of its swing."""
    s, _ = cycle(e, k)
    s = maximum(s, 0.0 * s)
    return s * s


def terms_of_feet(count):
    """Make the terms of two or four feet, with attributes of their names."""
    feet = {2: two_feet, 4: four_feet}[count]
    return SimpleNamespace(**vars(gait_terms(count, feet)), **vars(landing_terms(count, feet)))


@functools.cache
def gait_terms(count, feet):
    """Make the terms of a gait, in which feet swing at given heights."""

    @term
    def joint_targets(m, d, e):
        """Set servo targets: standing pose plus action_scale (rad) times the action plus the lifts of swinging feet.

        lifts[k nu + j] (rad): addition to joint j in the middle of the swing of foot k.
        """
        for j in range(m.nu):
            d.ctrl[j] = e.stand[j] + e.action_scale * e.action[j]
        for k in range(count):
            s = moving(e, swing(e, k), 0.0 * e.steps)
            for j in range(m.nu):
                d.ctrl[j] = d.ctrl[j] + s * e.lifts[k * m.nu + j]

    @term
    def phase(m, d, e):
        """Sine and cosine of the first foot's phase."""
        return cycle(e, 0)

    @term
    def rhythm(m, d, e):
        """Reward for feet at the heights of the gait: swing_height times the squared sine of the phase in the swing,
        zero in stance and if the command is to stand."""
        total = 0.0 * e.steps
        for k in range(count):
            _, low = sole(m, d, feet(e)[k])
            missing = low - moving(e, e.swing_height * swing(e, k), 0.0 * low)
            total = total + missing * missing
        return e.dt * e.rhythm_weight * exp(-total / e.rhythm_sigma)

    return SimpleNamespace(joint_targets=joint_targets, phase=phase, rhythm=rhythm)


@functools.cache
def landing_terms(count, feet):
    """Make the terms of feet that land on the floor and slip on it."""

    @kernel(inline=True)
    def rests(m, d, e, k, g):
        """1 if a foot touches the floor or touched it a step ago, else 0."""
        _, low = sole(m, d, g)
        return where(low < 0.0, 1.0 + 0.0 * low, e.touching[k])

    @term
    def landing(m, d, e):
        """Reward at a landing for the foot's time in the air, less the least and at most the largest allowed time."""
        total = 0.0 * e.steps
        for k in range(count):
            lands = where(e.air_time[k] > 0.0, rests(m, d, e, k, feet(e)[k]), 0.0)
            time = minimum(e.air_time[k], 0.0 * total + e.air_time_range[1]) - e.air_time_range[0]
            total = total + lands * time
        return e.landing_weight * moving(e, total, 0.0 * total)

    @term
    def slip(m, d, e):
        """Cost of the horizontal velocities of feet that touch the floor, averaged over the step."""
        total = 0.0 * e.steps
        for k in range(count):
            at, _ = sole(m, d, feet(e)[k])
            x, y = (at[0] - e.foot_x[k]) / e.dt, (at[1] - e.foot_y[k]) / e.dt
            total = total + rests(m, d, e, k, feet(e)[k]) * (x * x + y * y)
        return -e.dt * e.slip_weight * total

    @term
    def remember(m, d, e):
        """Store contact, time in the air and position of each foot."""
        began = e.steps < 0.5
        for k in range(count):
            at, low = sole(m, d, feet(e)[k])
            rested = rests(m, d, e, k, feet(e)[k]) > 0.5
            e.air_time[k] = where(rested | began, 0.0 * low, e.air_time[k] + e.dt)
            e.touching[k] = where(low < 0.0, 1.0 + 0.0 * low, 0.0 * low)
            e.foot_x[k], e.foot_y[k] = at[0], at[1]

    return SimpleNamespace(landing=landing, slip=slip, remember=remember)
