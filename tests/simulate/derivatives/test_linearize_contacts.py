"""Derivatives of contact forces are exact.

Law: C = ∂f/∂(q, v, w), D = ∂f/∂u, P = ∂f/∂p of the forces f [ncon, 6] in the contacts' frames at one state.

References: closed forms of a ball that is pressed on a plane under the soft, a compliant and the hard law, to rounding;
MuJoCo's `mj_contactForce`, values at 1e-8 of the largest and differences of it of sixth order. With distances of 1e-6,
which keep the contacts, these leave 1e-7 of the largest derivative: rounding of MuJoCo's solver, 1e-14, over 1e-6.
"""

import mujoco
import numpy as np
import pytest
from helpers.reading_differences import differences

import saltus
from saltus.errors import OptionError
from saltus.model.vary.columns import columns

G, M, K, B, IMPEDANCE = 9.81, 2.0, 5000.0, 20.0, 0.9
LAW = f'solref="-{K} -{B}" solimp="{IMPEDANCE} {IMPEDANCE} 0.001"'
PRESSED = f"""
<mujoco><option gravity="0 0 -{G}" cone="elliptic"/><default><geom {LAW} friction="0.5"/></default><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="ball" pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><geom name="g" size=".1" mass="{M}"/></body>
</worldbody><actuator><motor name="push" joint="z"/></actuator></mujoco>"""
PILE = """
<mujoco><option cone="{}" timestep=".002" tolerance="1e-20" iterations="200"/><worldbody>
  <geom name="floor" type="plane" size="5 5 .1" condim="4" friction=".6 .02 .001"/>
  <body name="box" pos="0 0 .099" euler="1 .5 10"><freejoint/>
    <geom name="box" type="box" size=".1 .15 .1" mass="1" friction=".8 .02 .001"/></body>
  <body name="ball" pos=".05 .02 .297"><freejoint/>
    <geom name="ball" size=".1" mass=".5" condim="6" friction=".7"/></body></worldbody></mujoco>"""
NEAR = 1e-7


def pressed(deep=0.001, speed=-0.02, push=-3.0, **options):
    """A ball that lies `deep` (m) in the floor, with an upward speed (m/s) and force (N)."""
    sim = saltus.Simulation(PRESSED, **options)
    sim.qpos, sim.qvel, sim.ctrl = -deep, speed, push
    return sim


def pile(cone):
    sim = saltus.Simulation(saltus.load(PILE.format(cone)))
    sim.qvel[:] = 0.1 * np.random.default_rng(1).normal(size=sim.model.nv)
    return sim


def mujocos(sim):
    """Forces [ncon, 6] by MuJoCo at the state of a simulation."""
    m, d = sim.model.mujoco, mujoco.MjData(sim.model.mujoco)
    d.qpos[:], d.qvel[:], d.ctrl[:] = sim.qpos, sim.qvel, sim.ctrl
    mujoco.mj_forward(m, d)
    force = np.zeros((d.ncon, 6))
    for k in range(d.ncon):
        mujoco.mj_contactForce(m, d, k, force[k])
    return force


# ---------------------------------------------------------------- closed forms


def test_a_ball_that_is_pressed_on_a_plane():
    """f = m (k δ - b v) + d (m g - u) with the impedance d: MuJoCo documentation, Computation, "Constraint model"."""
    deep, speed, push = 0.001, -0.02, -3.0
    found = pressed().linearize_contacts(parameters="opt.gravity[2]")
    assert found.force[0, 0] == pytest.approx(M * (K * deep - B * speed) + IMPEDANCE * (M * G - push), rel=1e-12)
    np.testing.assert_allclose(found.C[0, 0], [-M * K, -M * B], rtol=1e-12)
    np.testing.assert_allclose(found.D[0, 0], [-IMPEDANCE], rtol=1e-12)
    assert found.P[0, 0, 0] == pytest.approx(-IMPEDANCE * M, rel=1e-12)
    assert not any(part[0, 1:].any() for part in found)
    assert found.names == ("opt.gravity[2]",)


def test_stiffness_and_damping_of_a_contact():
    """Of a geom whose law has the priority: ∂f/∂k = m δ, ∂f/∂b = -m v, of solref = (-k, -b)."""
    sim = saltus.Simulation(PRESSED.replace('name="g"', 'name="g" priority="1"'))
    sim.qpos, sim.qvel = -0.001, -0.02
    P = sim.linearize_contacts(parameters=("geom_solref[g]", "geom_solref[floor]", "body_mass[ball]")).P[0, 0]
    force = M * (K * 0.001 + B * 0.02) + IMPEDANCE * M * G  # proportional to the mass
    np.testing.assert_allclose(P, [-M * 0.001, -M * 0.02, 0, 0, force / M], rtol=1e-11, atol=1e-13)


def test_a_users_law():
    """A spring of the gap: f = k δ."""

    def spring(m, d, gap, velocity):
        return 3000.0 * max(-gap, 0.0), 0.0, 0.0

    found = pressed(contact=saltus.Compliant(spring)).linearize_contacts(parameters="opt.gravity[2]")
    assert found.force[0, 0] == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(found.C[0, 0], [-3000.0, 0.0], rtol=1e-12)
    assert not found.D.any() and not found.P.any()


@pytest.mark.slow
@pytest.mark.usefixtures("one_hard_layout")
def test_a_ball_on_a_rigid_plane():
    """f = m g - u, whatever is asked of the place, which stays."""
    sim = pressed(0.0, 0.0, -3.0, integrator="dopri5", contact="hard")
    found = sim.linearize_contacts(parameters=("opt.gravity[2]", "body_mass[ball]"))
    assert found.force[0, 0] == pytest.approx(M * G + 3.0, rel=1e-12)
    np.testing.assert_allclose(found.D[0, 0], [-1.0], rtol=1e-12)
    np.testing.assert_allclose(found.P[0, 0], [-M, G], rtol=1e-12)


# ---------------------------------------------------------------- beside MuJoCo's


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_pile_beside_differences_of_mujocos_forces(cone):
    """Three contacts, with torsion and rolling friction: each of the 18 numbers by state, masses and friction."""
    sim = pile(cone)
    names = ("body_mass[box]", "geom_friction[box][0]", "geom_size[ball][0]")
    before = sim.snapshot()
    found = sim.linearize_contacts(parameters=names)
    np.testing.assert_array_equal(sim.snapshot(), before)
    force = mujocos(sim)
    assert found.force.shape == (3, 6) and len(sim.data.contact) == 3
    np.testing.assert_allclose(found.force, force, rtol=0, atol=1e-8 * np.abs(force).max())
    wanted = differences(sim, 1e-6, mujocos)  # [6, 3, directions], transposed
    wanted = np.moveaxis(wanted, 0, 1)
    assert found.C.shape == wanted.shape == (3, 6, 2 * sim.model.nv)
    np.testing.assert_allclose(found.C, wanted, rtol=0, atol=NEAR * np.abs(wanted).max())
    for k, name in enumerate(found.names):
        base = value_at(sim.model, name)
        ends = [mujocos(at(sim.model.changed({name: base + x}), sim)) for x in (-2e-6, -1e-6, 1e-6, 2e-6)]
        wanted = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / 12e-6
        assert np.abs(wanted).max() > 1e-3
        np.testing.assert_allclose(found.P[..., k], wanted, rtol=0, atol=NEAR * max(1.0, np.abs(wanted).max()))


def value_at(model, name):
    """The value of a parameter of a model."""
    (column,) = columns(model, [name])
    return np.reshape(getattr(model.mujoco, column.field), -1)[column.place]


def at(model, sim):
    """A simulation of another model at the same state."""
    other = saltus.Simulation(model)
    other.qpos[:], other.qvel[:] = sim.qpos, sim.qvel
    return other


def test_pairs_that_are_found_at_run_time(monkeypatch):
    """Parameters need a list of all pairs; rows of P are in the order of C's contacts, which are found without one."""
    from saltus.model.compile.constraints import broad

    balls = "".join(
        f'<body pos="{x} 0 {0.0995 - 0.0002 * x}"><freejoint/><geom name="b{x}" size=".1" mass="{1 + 0.3 * x}"/></body>'
        for x in range(4)
    )
    scene = (
        f'<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="9 9 .1"/>{balls}</worldbody></mujoco>'
    )
    listed = saltus.Simulation(saltus.load(scene)).linearize_contacts(parameters="opt.gravity[2]")
    monkeypatch.setattr(broad, "MOST_LISTED", 0)
    sim = saltus.Simulation(saltus.load(scene))
    sim.forward()
    assert "broad" in sim.engine.m.layout.features
    found = sim.linearize_contacts(parameters=("opt.gravity[2]", "geom_pos[b2][2]"))
    assert len(np.unique(listed.force[:, 0].round(6))) == 4
    for own, theirs in ((found.force, listed.force), (found.P[..., 0], listed.P[..., 0]), (found.C, listed.C)):
        np.testing.assert_allclose(own, theirs, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- edges


def test_without_contacts():
    found = pressed(deep=-1.0).linearize_contacts(parameters="opt.gravity")
    assert [part.shape for part in found] == [(0, 6, 2), (0, 6, 1), (0, 6, 3)] and found.force.shape == (0, 6)
    bare = saltus.Simulation("pendulum").linearize_contacts()
    assert bare.C.shape == (0, 6, 2) and bare.names == ()


def test_what_has_none_is_named():
    can = """<mujoco><worldbody><geom name="board" type="box" size="1 1 .1"/><body pos="0 0 .198"><freejoint/>
      <geom name="can" type="cylinder" size=".1 .1"/></body></worldbody></mujoco>"""
    with pytest.raises(OptionError, match="normal of the contact of can and board"):
        saltus.Simulation(can).linearize_contacts()
    with pytest.raises(OptionError, match="leave noslip_iterations at 0"):
        saltus.Simulation(PRESSED.replace("<option", '<option noslip_iterations="3"')).linearize_contacts()
    with pytest.raises(OptionError, match="contact forces of moreau_jean are means over a step"):
        pressed(integrator="moreau_jean", contact="hard").linearize_contacts()
    with pytest.raises(OptionError, match="'mass_of_ball'"):
        pressed().linearize_contacts(parameters="mass_of_ball")
