"""The reflexes with which the man of the bundled model sit_to_stand rises from his seat and stands.

Each muscle is excited by how much longer it is than the posture wants, and by how fast it lengthens: a stretch reflex
about a threshold length λ (Feldman's equilibrium-point hypothesis),

    u = u0 + k (l - λ) + c l' + sway,

with λ that goes smoothly from sitting to leaning forwards, and from there to standing. There are three phases: he
leans, once his trunk is LEAN forwards he rises, once he is off the seat the muscles of his ankles also answer to where
the centre of mass is over the foot. Gains were found by random search under soft and hard contact at once; the
thresholds are the muscles' lengths in three postures.

Source: A. G. Feldman, Once more on the equilibrium-point hypothesis (λ model) for motor control, J. Motor Behavior 18
(1986).
"""

from saltus.number.functions import clip, where
from saltus.number.kernels import kernel
from saltus.simulate.laws.control import controller
from saltus.simulate.laws.events import Actuation, Event

MUSCLES = 8
LEANS, LEANING, RISING, BALANCING = 0.2, 0.8611, 1.531, 0.496  # s: when he begins to lean; how long all takes
LEAN = 0.115  # rad
OVER, PLACE, DRIFT = 8.139, 0.05223, 0.7006  # 1/m; m, the centre of mass before the ankle; s/m
REST = 0.007231  # excitation
DAMPING = 0.1368  # s, of the reflexes' answers to speed over those to length
# of tibialis anterior, soleus, gastrocnemius, vasti, hamstrings, rectus femoris, gluteus, iliopsoas
SITTING = (0.3403, 0.3375, 0.4356, 0.4552, 0.4160, 0.5355, 0.3535, 0.1180)  # m
LEANT = (0.3403, 0.3375, 0.4356, 0.4552, 0.4385, 0.5413, 0.4111, 0.0246)
STANDING = (0.3499, 0.3276, 0.4924, 0.3739, 0.4339, 0.5538, 0.2365, 0.2500)
GAINS = (4.381, 11.6, 144.6, 38.44, 29.09, 15.34, 30.0, 3.457)  # 1/m
SWAY = (-1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # which answer when the body sways forwards, and how
TRUNK, FOOT = 1, 4  # bodies
OFF_SEAT = -0.4517  # m: z when the hip is 3 mm higher than on the seat
# discrete states: the phase, and when he began to rise and was off the seat
PHASE, ROSE, OFF = 0, 1, 2
LEANS_FORWARDS, RISES = 0.0, 1.0  # phases, of which the last is 2, standing
NEVER = 1e9  # s


@kernel(inline=True)
def smooth(s):
    """From 0 to 1 while s does, without a jerk at either end."""
    s = clip(s, 0.0, 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@kernel(inline=True)
def excite(m, d, rising, balancing):
    """The excitations, so many seconds after he began to rise and after he was off the seat; 0: not yet."""
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
    """How much farther the trunk is forwards than it must be, rad."""
    return d.qpos[2] - LEAN


@kernel(inline=True)
def go_on(m, d, phase, clock):
    """The next phase after this one, and when it began; nothing in another one."""
    if d.actuation_state[PHASE] == phase:
        d.actuation_state[PHASE] = phase + 1.0
        d.actuation_state[clock] = d.time


def rise(m, d):
    """He begins to rise, if he sat."""
    go_on(m, d, LEANS_FORWARDS, ROSE)


@kernel(inline=True)
def off_seat(m, d):
    """How much higher the hip is than it must be, m."""
    return d.qpos[1] - OFF_SEAT


def stand(m, d):
    """He balances from now on, if he was rising."""
    go_on(m, d, RISES, OFF)


def phases(m, d, z):
    """The excitations where events change the phase."""
    excite(m, d, d.time - d.actuation_state[ROSE], d.time - d.actuation_state[OFF])


def standing_up() -> Actuation:
    """The reflexes with discrete phases, which events change: for hard contact."""
    events = (
        Event(leans_enough, rise, name="leans forwards", direction="up"),
        Event(off_seat, stand, name="off the seat", direction="up"),
    )
    return Actuation(phases, start=(LEANS_FORWARDS, NEVER, NEVER), events=events)


@controller(states=2)
def clocked(m, d, z):
    """The reflexes with two clocks in the place of events, under any contact law: they run once they are started."""
    rising, balancing = d.act[z], d.act[z + 1]
    d.act_dot[z] = where((rising > 0.0) | (leans_enough(m, d) > 0.0), 1.0, 0.0)
    d.act_dot[z + 1] = where((balancing > 0.0) | (off_seat(m, d) > 0.0), 1.0, 0.0)
    excite(m, d, rising, balancing)
