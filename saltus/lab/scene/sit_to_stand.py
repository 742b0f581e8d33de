"""Reflexes with which the figure of the bundled model sit_to_stand rises from a seat and stands.

The excitation of each muscle depends on its stretch beyond the length of the target posture and on its rate: a stretch
reflex about a threshold length λ (Feldman's equilibrium-point hypothesis),

    u = u0 + k (l - λ) + c l' + sway,

where λ moves smoothly from sitting to leaning forwards, and from there to standing. There are three phases: the figure
leans; it rises once the trunk is inclined by LEAN; and once it is off the seat the ankle muscles also react to the
position of the centre of mass over the foot (sway). Gains were found by random search under soft and hard contact; the
thresholds are the muscles' lengths in three postures.

Source: A. G. Feldman, Once more on the equilibrium-point hypothesis (λ model) for motor control, J. Motor Behavior 18
(1986).
"""

from saltus.number.functions import clip, where
from saltus.number.kernels import kernel
from saltus.simulate.laws.control import controller
from saltus.simulate.laws.events import Actuation, Event

MUSCLES = 8
LEANS, LEANING, RISING, BALANCING = 0.2, 0.8611, 1.531, 0.496  # s: start of leaning; durations of the phases
LEAN = 0.115  # rad
OVER, PLACE, DRIFT = 8.139, 0.05223, 0.7006  # 1/m; m, the centre of mass before the ankle; s/m
REST = 0.007231  # excitation
DAMPING = 0.1368  # s, ratio of the reflexes' gains on rate and on length
# lengths of tibialis anterior, soleus, gastrocnemius, vasti, hamstrings, rectus femoris, gluteus, iliopsoas
SITTING = (0.3403, 0.3375, 0.4356, 0.4552, 0.4160, 0.5355, 0.3535, 0.1180)  # m
LEANT = (0.3403, 0.3375, 0.4356, 0.4552, 0.4385, 0.5413, 0.4111, 0.0246)
STANDING = (0.3499, 0.3276, 0.4924, 0.3739, 0.4339, 0.5538, 0.2365, 0.2500)
GAINS = (4.381, 11.6, 144.6, 38.44, 29.09, 15.34, 30.0, 3.457)  # 1/m
SWAY = (-1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # gain of each muscle on sway
TRUNK, FOOT = 1, 4  # bodies
OFF_SEAT = -0.4517  # m: z of the hip 3 mm above its height on the seat
# discrete states: the phase, and the times (s) at which rising and balancing began
PHASE, ROSE, OFF = 0, 1, 2
LEANS_FORWARDS, RISES = 0.0, 1.0  # phases; the last is 2, standing
NEVER = 1e9  # s


@kernel(inline=True)
def smooth(s):
    """Minimum-jerk profile from 0 to 1 for s from 0 to 1, constant beyond."""
    s = clip(s, 0.0, 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@kernel(inline=True)
def excite(m, d, rising, balancing):
    """Set the excitations from the times since rising and since balancing began (s; 0 or less: not yet)."""
    leaning = smooth((d.time - LEANS) / LEANING)
    rising = smooth(rising / RISING)
    ahead = d.subtree_com[TRUNK][0] - d.xpos[FOOT][0] - PLACE
    sway = smooth(balancing / BALANCING) * (OVER * ahead + DRIFT * d.qvel[0])
    for k in range(MUSCLES):
        leant = SITTING[k] + leaning * (LEANT[k] - SITTING[k])
        threshold = leant + rising * (STANDING[k] - leant)
        stretch = d.actuator_length[k] - threshold + DAMPING * d.actuator_velocity[k]
        d.ctrl[k] = clip(REST + GAINS[k] * stretch + SWAY[k] * sway, 0.0, 1.0)


@kernel(inline=True)
def leans_enough(m, d):
    """Inclination of the trunk beyond the one at which rising begins (rad)."""
    return d.qpos[2] - LEAN


@kernel(inline=True)
def go_on(m, d, phase, clock):
    """Enter the next phase and store the time in the state `clock`, if `phase` is the present one."""
    if d.actuation_state[PHASE] == phase:
        d.actuation_state[PHASE] = phase + 1.0
        d.actuation_state[clock] = d.time


def rise(m, d):
    """Event action: start to rise, if leaning."""
    go_on(m, d, LEANS_FORWARDS, ROSE)


@kernel(inline=True)
def off_seat(m, d):
    """Height of the hip above the one that counts as off the seat (m)."""
    return d.qpos[1] - OFF_SEAT


def stand(m, d):
    """Event action: start to balance, if rising."""
    go_on(m, d, RISES, OFF)


def phases(m, d, z):
    """Set the excitations from phases that events change."""
    excite(m, d, d.time - d.actuation_state[ROSE], d.time - d.actuation_state[OFF])


def standing_up() -> Actuation:
    """The reflexes with discrete phases changed by events, for hard contact."""
    events = (
        Event(leans_enough, rise, name="leans forwards", direction="up"),
        Event(off_seat, stand, name="off the seat", direction="up"),
    )
    return Actuation(phases, start=(LEANS_FORWARDS, NEVER, NEVER), events=events)


@controller(states=2)
def clocked(m, d, z):
    """The reflexes for any contact law; two clocks, which run once started, replace the events."""
    rising, balancing = d.act[z], d.act[z + 1]
    d.act_dot[z] = where((rising > 0.0) | (leans_enough(m, d) > 0.0), 1.0, 0.0)
    d.act_dot[z + 1] = where((balancing > 0.0) | (off_seat(m, d) > 0.0), 1.0, 0.0)
    excite(m, d, rising, balancing)
