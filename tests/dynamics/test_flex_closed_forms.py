"""Deformable bodies (flexes) against closed forms of the theory of elasticity.

Law: linear elements of Saint Venant and Kirchhoff's law with plane stress in sheets, discrete rods, cells of nodes.
Reference: what textbooks have for strips, membranes, cantilevers (Timoshenko & Goodier, Theory of Elasticity (1970);
Timoshenko & Woinowsky-Krieger, Theory of Plates and Shells (1959); Rayleigh, The Theory of Sound, §195); each test says
which.

Tolerances: 2 % on the finest grid, and errors that fall as the grid gets finer, for membranes as its square. Loads are
so small that the second order in strain is below 1e-3. Statics by Newton's method on the joint forces, with the
stiffness by differences of these, until nothing is out of balance by more than 1e-9 of the load.
"""

import numpy as np
import pytest
from helpers.balance import settle, stiffness
from numpy.testing import assert_allclose

import saltus

ALONE = '<contact contype="0" conaffinity="0" selfcollide="none"/>'
STILL = '<option gravity="0 0 0"/>'


# ---------------------------------------------------------------- strips and bars in tension


def strip(across, nu, pins):
    """A strip of 2 m by 0.1 m and 10 mm in its plane, with so many squares across, held at one end or nowhere."""
    along, h = 20 * across, 0.1 / across
    held = f'<pin gridrange="0 0 0 {across}"/>' if pins else ""
    return f"""<mujoco>{STILL}<worldbody>
      <flexcomp name="strip" type="grid" dim="2" count="{along + 1} {across + 1} 1" spacing="{h} {h} 1" dof="2d"
      mass="1" radius=".001">{ALONE}<elasticity young="1e6" poisson="{nu}" thickness=".01" elastic2d="stretch"/>
      {held}</flexcomp></worldbody></mujoco>"""


def along_an_end(sim, end, force):
    """Loads [nv] of a force (N) along x that is spread evenly over the edge of a grid at x = `end` (m)."""
    load, x0 = np.zeros(sim.model.nv), sim.data.flexvert_xpos.copy()
    edge = np.flatnonzero(abs(x0[:, 0] - end) < 1e-9)
    outer = np.isin(x0[edge, 1], [x0[edge, 1].min(), x0[edge, 1].max()])
    for v, half in zip(edge, outer, strict=True):
        load[sim.model.body_dofadr[sim.model.flex_vertbodyid[v]]] = force / (len(edge) - 1) * (0.5 if half else 1.0)
    return load


@pytest.mark.parametrize("across", [1, 3])
def test_a_strip_in_tension_is_longer_and_narrower(across):
    """F L/(E A) along and -ν of that strain across (Timoshenko & Goodier, §6): uniform, so that any grid has it."""
    nu, force = 0.3, 1.0
    sim = saltus.Simulation(strip(across, nu, False))
    settle(sim, along_an_end(sim, 1.0, force) + along_an_end(sim, -1.0, -force))
    x = sim.data.flexvert_xpos
    strain = force / (1e6 * 0.1 * 0.01)
    assert_allclose(np.ptp(x[:, 0]) / 2.0 - 1.0, strain, rtol=2 * strain)
    assert_allclose(np.ptp(x[:, 1]) / 0.1 - 1.0, -nu * strain, rtol=2 * strain)


def test_a_strip_with_one_end_held_approaches_the_same():
    """What the held end cannot do across is lost, within the strip's width (Saint Venant)."""
    force, errors = 1.0, []
    for across in (1, 2, 4):
        sim = saltus.Simulation(strip(across, 0.3, True))
        load = along_an_end(sim, 1.0, force)
        settle(sim, load)
        moved = sim.qpos @ load / force  # the mean over the end
        errors.append(abs(moved / (force * 2.0 / (1e6 * 0.1 * 0.01)) - 1.0))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.02


@pytest.mark.parametrize("dof", ["trilinear", "quadratic"])
def test_a_bar_of_cells_in_tension(dof):
    """F L/(E A) of a bar that is free at both ends, by nodes: bodies of nodes carry the load of their share."""
    order, nu, force = (1 if dof == "trilinear" else 2), 0.3, 1.0
    sim = saltus.Simulation(f"""<mujoco>{STILL}<worldbody>
      <flexcomp name="bar" type="grid" dim="3" count="9 3 3" spacing=".1 .1 .1" dof="{dof}" cellcount="4 1 1" mass="1"
      radius=".001">{ALONE}<elasticity young="1e5" poisson="{nu}"/></flexcomp></worldbody></mujoco>""")
    m = sim.model
    places = m.flex_node0
    share = {1: [0.5, 0.5], 2: [1 / 6, 2 / 3, 1 / 6]}[order]  # of a line: Simpson's weights for three nodes
    weight = np.einsum("i,j->ij", share, share).ravel()
    load = np.zeros(m.nv)
    for end in (-1, 1):
        edge = np.flatnonzero(abs(places[:, 0] - end * 0.4) < 1e-9)
        load[m.body_dofadr[m.flex_nodebodyid[edge]]] = end * force * weight
    settle(sim, load)
    x, strain = sim.data.flexvert_xpos, force / (1e5 * 0.2 * 0.2)
    assert_allclose(np.ptp(x[:, 0]) / 0.8 - 1.0, strain, rtol=1e-6)
    assert_allclose(np.ptp(x[:, 1]) / 0.2 - 1.0, -nu * strain, rtol=1e-6)


# ---------------------------------------------------------------- membranes

YOUNG, NU, THICK, GROWN = 1e5, 0.3, 0.01, 0.05
TENSION = YOUNG / (1 - NU) * GROWN * THICK  # N/m: E ε/(1 - ν) t of a strain ε in all directions of the plane
SIDE = 1.0  # m


def membrane(squares, vertex_mass):
    """A square sheet, pinned all round, whose edges at rest are shorter by a strain of GROWN; no bending.

    The growth of an edge's square is L² - L₀² = 2 ε L².
    """
    count, rim = squares + 1, []
    for i in range(count):
        rim += [i, i * count, i * count + squares, squares * count + i]
    xml = f"""<mujoco><option gravity="0 0 -1"/><worldbody>
      <flexcomp name="sheet" type="grid" dim="2" count="{count} {count} 1" mass="{vertex_mass * count * count}"
      spacing="{SIDE / squares} {SIDE / squares} 1" radius=".001">{ALONE}
      <elasticity young="{YOUNG}" poisson="{NU}" thickness="{THICK}" elastic2d="stretch"/>
      <pin id="{" ".join(map(str, sorted(set(rim))))}"/></flexcomp></worldbody></mujoco>"""
    m = saltus.load(xml).mujoco
    m.flexedge_length0[:] *= np.sqrt(1 - 2 * GROWN)
    return m


def test_a_membrane_sags():
    """The middle of a pre-stretched square: Poisson's equation T Δw = -q, by its double series of sines.

    w = 16 q a²/(π⁴ T) Σ sin(m π/2) sin(n π/2)/(m n (m² + n²)) over odd m, n (Timoshenko & Goodier, §100: soap film).
    """
    odd = np.arange(1, 400, 2)
    sign = np.where(odd % 4 == 1, 1.0, -1.0)
    terms = np.outer(sign / odd, sign / odd) / (odd[:, None] ** 2 + odd[None, :] ** 2)
    errors = []
    for squares in (6, 12):
        mass = 0.1 / squares**2  # of a vertex: 0.1 N over the square
        sim = saltus.Simulation(membrane(squares, mass))
        settle(sim, -sim.data.qfrc_bias)
        exact = 16 * 0.1 * SIDE**2 / (np.pi**4 * TENSION) * terms.sum()
        errors.append(abs(-sim.qpos.reshape(-1, 3)[:, 2].min() / exact - 1.0))
    assert errors[1] < 0.02
    assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.2)


def test_a_membrane_rings():
    """Frequencies of a stretched square, √(T/μ) √(m² + n²)/(2 a) with μ the mass of an area (Rayleigh, §195).

    Of the linear motion about rest, from the stiffness of the force.
    """
    pairs = np.array([(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1)])
    exact = np.sqrt(TENSION / 0.1) * np.hypot(*pairs.T) / (2 * SIDE)
    errors = []
    for squares in (8, 16):
        mass = 0.1 * SIDE**2 / squares**2
        sim = saltus.Simulation(membrane(squares, mass))
        up = slice(2, None, 3)
        values = np.linalg.eigvalsh(stiffness(sim)[up, up] / mass)
        errors.append(abs(np.sqrt(values[: len(pairs)]) / (2 * np.pi) / exact - 1.0))
    assert max(errors[1]) < 0.02
    assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.2)


def test_a_membrane_swings():
    """The same for the lowest frequency, from the time between the middle's ways through its place of rest."""
    squares, mass = 16, 0.1 / 256
    m = membrane(squares, mass)
    m.opt.gravity[:] = 0.0
    sim = saltus.Simulation(m, "verlet", timestep=1e-4)
    x = sim.data.flexvert_xpos[np.flatnonzero(m.flex_vertbodyid > 0)] / SIDE + 0.5
    sim.qpos[2::3] = 1e-3 * np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1])
    middle = int(np.argmax(sim.qpos))
    run = sim.run(0.5, sample=1e-3)
    t, z = np.asarray(run.time), np.asarray(run.qpos)[:, middle]
    k = np.flatnonzero(z[:-1] * z[1:] < 0)
    zeros = t[k] - z[k] * (t[k + 1] - t[k]) / (z[k + 1] - z[k])
    frequency = 0.5 / np.diff(zeros).mean()
    assert_allclose(frequency, np.sqrt(2 * TENSION / 0.1) / (2 * SIDE), rtol=0.01)
