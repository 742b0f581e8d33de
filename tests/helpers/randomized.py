"""A small environment whose model and parameters are drawn for each episode: a ball on the floor, and an arm on it."""

from saltus.env import Environment, Randomize, choice, log_uniform, normal, term, uniform

BALL = """
<mujoco>
  <option timestep="0.005" tolerance="1e-14"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.8 0.005 0.0001"/>
    <body name="ball" pos="0 0 0.095">
      <freejoint name="free"/>
      <geom name="ball" type="sphere" size="0.1" mass="1" friction="0.8 0.005 0.0001"/>
      <body name="arm" pos="0.1 0 0">
        <joint name="elbow" axis="0 1 0" damping="0.1" range="-30 30"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="elbow" kp="5" ctrlrange="-1 1"/></actuator>
</mujoco>"""

DRAWN = (
    Randomize(("body_mass[ball]", "body_inertia[ball]"), uniform(0.5, 2.0)),
    Randomize("geom_friction[:, 0]", log_uniform(0.25, 4.0), together=True),
    Randomize(("actuator_gainprm[servo, 0]", "actuator_biasprm[servo, 1]"), normal(1.0, 0.2, low=0.6, high=1.4)),
    Randomize("dof_damping[elbow]", choice([0.0, 0.5]), operation="add"),
    Randomize("opt.gravity[2]", uniform(-0.5, 0.5), on="start", operation="add"),
    Randomize("strength", uniform("least_strength", 3.0), operation="set"),
)


@term
def rolling(m, d, e):
    """Off the middle, moving, with the elbow beyond its range."""
    d.qvel[0] = uniform(e, -1.0, 1.0)
    d.qpos[e.elbow] = uniform(e, -1.0, 1.0)


@term
def by_chance(m, d, e):
    return uniform(e, 0.0, 1.0) < 0.2


@term
def strength(m, d, e):
    return e.strength


class Ball(Environment):
    model = BALL
    max_episode_steps = 6
    observation = ("qpos", "qvel", "qacc", strength)
    randomize = DRAWN
    reset = rolling
    terminated = by_chance
    parameters = {"strength": 1.0, "least_strength": 2.0}
    ids = {"elbow": ("qpos", "elbow")}
