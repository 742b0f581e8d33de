"""The woodpecker toy, a published benchmark of impacts and friction: in NumPy, in MJCF, and its printed numbers."""

from dataclasses import dataclass

import numpy as np

from saltus.bench.hybrid.with_scipy import Parts


class Woodpecker:
    """The woodpecker toy: a sleeve that jams on a pole, a spring, a bird whose beak hits the pole; q = (y, φ_M, φ_S).

    The linearised model of Glocker's thesis (Dynamik von Starrkörpersystemen mit Reibung und Stößen, TU München 1995,
    p. 162; Pfeiffer & Glocker 1996) as Leine, Glocker & van Campen print it (Nonlinear Dynamics of the Woodpecker Toy,
    ASME DETC2001/VIB-21608, equations 6 to 10 and "Results"). Their list leaves out the spring's constant; it is the
    thesis's 0.0056 N m/rad, with which their 72.91 Hz and their equilibrium φ_S = -0.2216 come out. SI units.
    """

    BEAK, LOWER, UPPER = range(3)
    m_M, J_M, m_S, J_S, g = 0.0003, 5e-9, 0.0045, 7e-7, 9.81  # sleeve (M) and bird (S)
    r_0, r_M, h_M, l_M, l_G, h_S, l_S = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.020, 0.0201
    spring = 0.0056
    friction = np.full(3, 0.3)
    restitution = np.array([0.5, 0.0, 0.0])

    jammed = -(r_M - r_0) / h_M  # φ_M where the lower edge of the sleeve touches, -0.1034
    beak = (l_M + l_G - l_S - r_0) / h_S  # φ_S where the beak touches, 0.12

    @property
    def start(self):
        """The sleeve about to jam, at rest, with the bird far back: (q, v)."""
        return np.array([0.0, self.jammed + 1e-6, WOODPECKER_CYCLE.lowest]), np.zeros(3)

    def parts(self, q, v):
        """The terms of the linear equations of motion."""
        m, l_M, l_G = self.m_S, self.l_M, self.l_G
        M = np.array(
            [
                [m + self.m_M, m * l_M, m * l_G],
                [m * l_M, self.J_M + m * l_M**2, m * l_M * l_G],
                [m * l_G, m * l_M * l_G, self.J_S + m * l_G**2],
            ]
        )
        twist = self.spring * (q[2] - q[1])
        force = np.array([-(m + self.m_M) * self.g, twist - m * self.g * l_M, -twist - m * self.g * l_G])
        normal = np.array([[0.0, 0.0, -self.h_S], [0.0, self.h_M, 0.0], [0.0, -self.h_M, 0.0]])
        tangent = np.array([[1.0, l_M, l_G - self.l_S], [1.0, self.r_M, 0.0], [1.0, self.r_M, 0.0]])
        play = self.r_M - self.r_0
        gap = np.array([self.h_S * self.beak, play, play]) + normal @ q
        return Parts(M, force, gap, normal, tangent, np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class WoodpeckerCycle:
    """The limit cycle as Leine, Glocker & van Campen print it, s, rad, Hz; `events` go from jam to jam."""

    period: float = 0.1452
    accurate_period: float = 0.145976  # from `hybrid_scipy` on the same data, at tolerances of 1e-10
    lowest: float = -0.53  # of φ_S, while jammed
    equilibrium: float = -0.2216  # φ_S of the bird at rest on the jammed sleeve
    least_friction: float = 0.285  # for which it can rest there
    frequency: float = 72.91  # of bird and sleeve in free flight
    # figure 7, frames 1 to 8; an impact "with detachment" opens at once. A second impact of the lower edge, within 2 ms
    # of the first, and before it slides, is not in the figure.
    events: tuple = (
        ("slip", Woodpecker.LOWER),
        ("liftoff", Woodpecker.LOWER),
        ("impact", Woodpecker.UPPER),
        ("impact", Woodpecker.BEAK),
        ("impact", Woodpecker.UPPER),
        ("liftoff", Woodpecker.UPPER),
        ("impact", Woodpecker.LOWER),
        ("impact", Woodpecker.LOWER),
        ("stick", Woodpecker.LOWER),
    )


WOODPECKER_CYCLE = WoodpeckerCycle()

# The paper's equations are linear in the angles. Levers LEVER times as long turn by angles LEVER times as small: then
# a mechanism of hinges moves by the linear equations, but for 1/LEVER of what small angles neglect.
LEVER = 1000.0


def woodpecker_xml():
    """Sleeve and bird as hinges with long levers; the pole is one plane for the sleeve and one for the beak."""
    t, s, r = Woodpecker, LEVER, 0.001
    sleeve_wall = t.r_M * s - (t.r_M - t.r_0)
    beak_wall = (t.l_M + t.l_G - t.l_S) * s - (t.l_M + t.l_G - t.l_S - t.r_0)
    sphere = f'type="sphere" size="{r}" mass="0" condim="3" friction="0.3 0 0"'
    plane = 'type="plane" size="1 1 1" zaxis="1 0 0" condim="3" friction="0.3 0 0"'
    inertia = [f"{j * s * s!r} {j * s * s!r} {j * s * s!r}" for j in (t.J_M, t.J_S)]
    return f"""<mujoco model="woodpecker">
  <compiler angle="radian" boundmass="0"/>
  <option timestep="0.0001" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="pole" {plane} pos="{sleeve_wall!r} 0 0" contype="1" conaffinity="0"/>
    <geom name="pole_at_beak" {plane} pos="{beak_wall!r} 0 0" contype="2" conaffinity="0"/>
    <body name="sleeve">
      <joint name="y" type="slide" axis="0 0 1"/>
      <joint name="sleeve" axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="{t.m_M!r}" diaginertia="{inertia[0]}"/>
      <geom name="lower" {sphere} pos="{t.r_M * s + r!r} 0 {-t.h_M * s!r}" contype="0" conaffinity="1"/>
      <geom name="upper" {sphere} pos="{t.r_M * s + r!r} 0 {t.h_M * s!r}" contype="0" conaffinity="1"/>
      <body name="bird" pos="{t.l_M * s!r} 0 0">
        <joint name="bird" axis="0 -1 0" stiffness="{t.spring * s * s!r}"/>
        <inertial pos="{t.l_G * s!r} 0 0" mass="{t.m_S!r}" diaginertia="{inertia[1]}"/>
        <geom name="beak" {sphere} pos="{(t.l_G - t.l_S) * s + r!r} 0 {t.h_S * s!r}" contype="0" conaffinity="2"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def to_joints(q):
    """(y, φ_M, φ_S) as the joints of the MJCF model, also of velocities."""
    return np.array([q[0], q[1] / LEVER, (q[2] - q[1]) / LEVER])
