"""Illumination of surfaces, and colours of the sky.

The lights are a distant key light, a sky that is brighter above, a fill light at the camera, and a soft highlight
(Blinn 1977, "Models of light reflection for computer synthesized pictures"). Light adds up in linear values, the
squares of screen values.
"""

import math

import numpy as np

from saltus.draw.raster.compiled import part

_TO_KEY = np.array([-0.42, -0.58, 1.15])
TO_KEY = tuple(float(x) for x in _TO_KEY / np.linalg.norm(_TO_KEY))  # direction to the key light, world axes
KEY, SKY, GROUND, FILL = 0.66, 0.34, 0.15, 0.14
HIGHLIGHT = 0.10
RIM = 0.05
ZENITH, HORIZON, NADIR = (0.56, 0.68, 0.82), (0.91, 0.935, 0.96), (0.73, 0.755, 0.79)
SHADOW = 0.40  # fraction of a floor's brightness that a shadow removes


@part
def brightness(nx, ny, nz, vx, vy, vz):
    """Diffuse light and highlight (linear) on a surface with a unit normal n, seen from a unit direction v."""
    key = max(nx * TO_KEY[0] + ny * TO_KEY[1] + nz * TO_KEY[2], 0.0)
    facing = max(nx * vx + ny * vy + nz * vz, 0.0)
    up = 0.5 + 0.5 * nz
    diffuse = KEY * key + GROUND + (SKY - GROUND) * up + FILL * facing
    hx, hy, hz = vx + TO_KEY[0], vy + TO_KEY[1], vz + TO_KEY[2]
    cosine = max(nx * hx + ny * hy + nz * hz, 0.0) / math.sqrt(hx * hx + hy * hy + hz * hz + 1e-12)
    shine = cosine * cosine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine  # to the power of 32
    grazing = 1.0 - facing
    rim = grazing * grazing * grazing * up
    return diffuse, HIGHLIGHT * shine + RIM * rim


def lit(normal) -> float:
    """Screen brightness of a plane relative to one that faces up, without fill light and highlight."""
    nx, ny, nz = normal
    light = lambda key, z: KEY * max(key, 0.0) + GROUND + (SKY - GROUND) * (0.5 + 0.5 * z)  # noqa: E731
    return math.sqrt(light(nx * TO_KEY[0] + ny * TO_KEY[1] + nz * TO_KEY[2], nz) / light(TO_KEY[2], 1.0))
