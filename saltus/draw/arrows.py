"""Marks in a picture: contact points with their forces as arrows, and the centre of mass.

Marks shine faintly through objects in front of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from saltus.draw.raster.items import Items, balls, joined, rods
from saltus.draw.raster.mesh_buffers import Stock
from saltus.draw.raster.resolve import HIDDEN
from saltus.draw.scene.camera import Eye
from saltus.model.event_enums import NO_MODE, OPEN, SLIP, STICK
from saltus.model.model import Model

FORCE = (0.56, 0.93, 0.24, 1.0)
POINTS = {  # colours of contact points by mode
    NO_MODE: (0.93, 0.12, 0.42, 1.0),
    STICK: (0.0, 0.447, 0.698, 1.0),
    SLIP: (0.835, 0.369, 0.0, 1.0),
    OPEN: (0.97, 0.97, 0.95, 1.0),
}
DARK, BRIGHT = (0.10, 0.10, 0.12, 1.0), (0.98, 0.86, 0.20, 1.0)
THROUGH = 0.6  # opacity behind other objects
SIZE = 0.009  # radius of a contact point as a fraction of the picture's height
WEIGHT = 0.3  # extents: length of the arrow of the heaviest mechanism's weight
LONGEST = 1.0  # extents: largest length of an arrow, as of an impact
STANDARD_GRAVITY = 9.81  # m/s², used in models without gravity


def metres_per_newton(model: Model) -> float:
    """Length of a force's arrow per newton (m/N).

    The weight of the heaviest kinematic tree has an arrow of 0.3 of the model's extent. Models without gravity use
    standard gravity.
    """
    gravity = float(np.linalg.norm(model.opt.gravity)) or STANDARD_GRAVITY
    roots = np.flatnonzero((np.asarray(model.body_parentid) == 0) & (np.arange(model.nbody) > 0))
    heaviest = float(max(np.asarray(model.body_subtreemass)[roots], default=0.0))
    return WEIGHT * float(model.stat.extent) / (heaviest * gravity) if heaviest > 0 else 0.0


def contact_marks(stock: Stock, contacts: NDArray[np.float64], eye: Eye, height: int, scale: float, extent: float):
    """Make items for contacts [n, 8] (position, force on the second geom, distance, mode); scale: m/N."""
    points, forces = contacts[:, :3], contacts[:, 3:6]
    radius = _seen_size(points, eye, height)
    parts = []
    for mode, colour in POINTS.items():
        those = contacts[:, 7] == mode
        if those.any():
            parts.append(balls(stock, points[those], radius[those], colour))
    strength = np.linalg.norm(forces, axis=1)
    length = np.minimum(strength * scale, LONGEST * extent)
    long = length > 1.5 * radius
    if long.any():
        start, direction = points[long], forces[long] / strength[long, None]
        thick = np.minimum(0.5 * radius[long], 0.08 * length[long])
        tip = start + direction * length[long, None]
        # the head takes half of a short arrow
        neck = tip - direction * (5 * thick)[:, None]
        parts.append(rods(stock, start, neck, thick, FORCE, "cylinder"))
        parts.append(rods(stock, neck, tip, 2.2 * thick, FORCE, "cone"))
    return _through(joined(parts))


def mass_marks(stock: Stock, com: NDArray[np.float64], eye: Eye, height: int) -> Items:
    """Make items for the centre of mass [3]: a ball with octants in two colours, as in crash tests."""
    radius = 1.6 * _seen_size(com[None], eye, height)
    parts = [balls(stock, com[None], radius, colour, ("octants", i)) for i, colour in enumerate((DARK, BRIGHT))]
    return _through(joined(parts))


def pressure_marks(stock: Stock, cop: NDArray[np.float64], eye: Eye, height: int) -> Items:
    """Make items for the centre of pressure [3]: a ball in the colour of forces within a dark ring of balls' size."""
    radius = _seen_size(cop[None], eye, height)
    parts = [balls(stock, cop[None], 1.9 * radius, DARK, ("octants", 0))]
    parts += [balls(stock, cop[None], 1.9 * radius, FORCE, ("octants", 1))]
    return _through(joined(parts))


def _seen_size(points, eye, height):
    """Radii (m) [n] with equal sizes on the screen."""
    depth = np.maximum((points - eye.pos) @ eye.forward, eye.near)
    return SIZE * height * depth / eye.fy


def _through(items: Items) -> Items:
    items.looks[:, HIDDEN] = THROUGH
    return items
