"""Deformable bodies: homogeneous stretches of St. Venant-Kirchhoff's material, and a membrane under pressure.

A homogeneous stretch λ along x with Green's strain (λ² - 1)/2 has the second Piola-Kirchhoff stress E' (λ² - 1)/2, thus
on the undeformed cross section A the force N = E' A λ (λ² - 1)/2; E' is E for ν = 0, E/(1 - ν²) for a sheet and
E (1 - ν)/((1 + ν)(1 - 2ν)) for a solid that are held laterally.
"""

import numpy as np
from numpy.typing import NDArray

import saltus
from saltus.verify.case import Check, Curve, Data, Figure, Result, family

benchmark = family("flex")

YOUNG = 1e5  # Pa
STRETCHES = (0.9, 1.05, 1.2)
STVK = "closed form of St. Venant-Kirchhoff's material: N = E' A λ (λ² - 1)/2"
PATCH = "linear elements reproduce homogeneous deformations: rounding, 1e-12 relative"


def soft(shape: str, elasticity: str) -> str:
    """Model of a deformable body alone, without gravity."""
    return f"""<mujoco><option gravity="0 0 0"/><worldbody><flexcomp name="soft" {shape} mass="1" radius="0.001">
      <contact contype="0" conaffinity="0" selfcollide="none"/>{elasticity}</flexcomp></worldbody></mujoco>"""


def stretched(model: str, stretch: float) -> tuple[float, float, float]:
    """Tension of the last vertices along x (N), the largest other force inside (N) and the stored energy (J)."""
    sim = saltus.Simulation(model)
    sim.forward()
    x = sim.data.xpos[1:, 0].copy()
    sim.qpos[0::3] = (stretch - 1) * x
    sim.forward()
    force = sim.data.qfrc_spring.reshape(-1, 3)[:, 0]
    ends = np.isclose(x, x.max()) | np.isclose(x, x.min())
    tension = -float(force[np.isclose(x, x.max())].sum())
    return tension, float(np.max(np.abs(force[~ends]))), float(sim.energy()[0])


def _patch(model: str, stiffness: float, area: float, length: float, references: dict[float, float]) -> Result:
    found, reached = [], []
    for stretch, wanted in references.items():
        tension, inside, energy = stretched(model, stretch)
        reached.append(tension)
        stored = stiffness * area * length * (stretch**2 - 1) ** 2 / 8
        found += [
            Check(f"λ = {stretch}: force", tension, wanted, 1e-12, "N", relative=True),
            Check(f"λ = {stretch}: energy", energy, stored, 1e-12, "J", relative=True),
            Check(f"λ = {stretch}: largest force inside", inside, 0.0, 1e-12 * abs(wanted), "N"),
        ]
    line = np.linspace(0.85, 1.25, 60)
    law = Curve("closed form", line, stiffness * area * line * (line**2 - 1) / 2, "dashed")
    return Result(found, Figure("λ", "N (N)", [Curve("reached", list(references), reached, "points"), law]))


def sheet(poisson: float) -> str:
    """MJCF of a sheet of 0.6 m x 0.3 m x 0.01 m."""
    elasticity = f'<elasticity young="{YOUNG}" poisson="{poisson}" thickness="0.01" elastic2d="stretch"/>'
    return soft('type="grid" dim="2" count="7 4 1" spacing="0.1 0.1 0.1"', elasticity)


def bar(poisson: float) -> str:
    """MJCF of a bar of 0.6 m x 0.2 m x 0.2 m."""
    return soft(
        'type="grid" dim="3" count="7 3 3" spacing="0.1 0.1 0.1"', f'<elasticity young="{YOUNG}" poisson="{poisson}"/>'
    )


@benchmark("patch-sheet", "Patch test of a sheet, ν = 0", source=STVK, allowed=PATCH)
def patch_sheet(data: Data) -> Result:
    """A sheet of width 0.3 m and thickness 0.01 m, E = 1e5 Pa, stretched homogeneously."""
    return _patch(sheet(0.0), YOUNG, 0.003, 0.6, {0.9: -25.65, 1.05: 16.14375, 1.2: 79.2})


@benchmark("patch-sheet-confined", "Patch test of a sheet, ν = 0.3", source=STVK, allowed=PATCH)
def patch_sheet_confined(data: Data) -> Result:
    """A sheet of width 0.3 m and thickness 0.01 m, E = 1e5 Pa, ν = 0.3, stretched while held at its width."""
    references = {1.05: 17.740384615384627, 1.2: 87.03296703296704}
    return _patch(sheet(0.3), YOUNG / (1 - 0.09), 0.003, 0.6, references)


@benchmark("patch-bar", "Patch test of a solid, ν = 0", source=STVK, allowed=PATCH)
def patch_bar(data: Data) -> Result:
    """A bar of 0.2 m x 0.2 m of tetrahedra, E = 1e5 Pa, stretched homogeneously."""
    return _patch(bar(0.0), YOUNG, 0.04, 0.6, {1.05: 215.25, 1.2: 1056.0})


@benchmark("patch-bar-confined", "Patch test of a solid, ν = 0.3", source=STVK, allowed=PATCH)
def patch_bar_confined(data: Data) -> Result:
    """A bar of 0.2 m x 0.2 m of tetrahedra, E = 1e5 Pa, ν = 0.3, stretched while held laterally."""
    references = {1.05: 289.75961538461553, 1.2: 1421.5384615384617}
    return _patch(bar(0.3), YOUNG * 0.7 / (1.3 * 0.4), 0.04, 0.6, references)


# ---------------------------------------------------------------- Hencky's membrane

STIFF, THICK, LOAD = 1e6, 1e-3, 1.0  # Pa, m, Pa: q a/(E h) = 1e-3
HENCKY = (
    "Hencky, 'Über den Spannungszustand in kreisrunden Platten mit verschwindender Biegungssteifigkeit', Z. Math. "
    "Phys. 63 (1915), as corrected by Fichter, NASA TP 3658 (1997): w₀ = W a (q a/(E h))^(1/3)"
)


def membrane(cells: int, poisson: float) -> tuple[saltus.Simulation, NDArray[np.float64]]:
    """A disc of radius 1 m held at its edge, `cells` across, and the areas (m²) that belong to its free vertices."""
    spacing = 2 / cells
    shape = f'type="disc" dim="2" count="{cells + 1} {cells + 1} 1" spacing="{spacing} {spacing} {spacing}"'
    elasticity = f'<elasticity young="{STIFF}" poisson="{poisson}" thickness="{THICK}" elastic2d="stretch"/>'
    places = saltus.Simulation(soft(shape, elasticity)).data.xpos[1:]
    edge = np.hypot(places[:, 0], places[:, 1]) > 1 - 1e-6
    pins = f'<pin id="{" ".join(map(str, np.flatnonzero(edge)))}"/>'
    sim = saltus.Simulation(soft(shape, elasticity + pins), "euler")
    areas = np.zeros(len(places))
    triangles = sim.model.mujoco.flex_elem.reshape(-1, 3)
    (x0, y0), (x1, y1), (x2, y2) = (places[triangles[:, k], :2].T for k in range(3))
    third = np.abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)) / 6
    for k in range(3):
        np.add.at(areas, triangles[:, k], third)
    return sim, areas[~edge]


def at_rest(sim: saltus.Simulation, load: NDArray[np.float64], h: float, most: int = 20_000) -> None:
    """Static equilibrium to 1e-3 of the load, by dynamic relaxation: motion stops at each peak of kinetic energy."""
    sim.timestep, sim.qfrc_applied = h, load
    before = 0.0
    for _ in range(most):
        sim.step()
        kinetic = float(sim.qvel @ sim.qvel)
        if kinetic < before:
            sim.qvel[:] = 0.0
            kinetic = 0.0
            if float(np.max(np.abs(sim.data.qfrc_spring + load))) < 1e-3 * float(np.max(load)):
                return
        before = kinetic


def _hencky(poisson: float, factor: float) -> Result:
    cells, wanted = 20, factor * (LOAD / (STIFF * THICK)) ** (1 / 3)
    sim, areas = membrane(cells, poisson)
    load = np.zeros(sim.model.nv)
    load[2::3] = LOAD * areas
    at_rest(sim, load, 0.3 / np.sqrt(STIFF * THICK * (cells + 1) ** 2))
    places = sim.data.xpos[1:].reshape(-1, 3)
    radius = np.hypot(places[:, 0], places[:, 1])
    check = Check("deflection of the centre", float(places[:, 2].max()), wanted, 0.05, "m", relative=True)
    curves = [Curve("reached", radius, places[:, 2], "points"), Curve("Hencky, centre", [0.0], [wanted], "marks")]
    return Result([check], Figure("r (m)", "w (m)", curves))


ALLOWED = "error of 20 linear elements across, 5 %, which shrinks with their size"


@benchmark("hencky", "Hencky's membrane, ν = 0.3", source=HENCKY, allowed=ALLOWED, slow=True)
def hencky(data: Data) -> Result:
    """A disc without bending stiffness, of 20 elements across, radius 1 m, E h = 1 kN/m, under 1 Pa, its edge held."""
    return _hencky(0.3, 0.65344334)


@benchmark("hencky-zero", "Hencky's membrane, ν = 0", source=HENCKY, allowed=ALLOWED, slow=True)
def hencky_zero(data: Data) -> Result:
    """A disc with ν = 0, without bending stiffness, of 20 elements across, radius 1 m, E h = 1 kN/m, under 1 Pa."""
    return _hencky(0.0, 0.71831924)
