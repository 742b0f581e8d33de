"""Colours of objects, from their materials and textures.

An object's own colour replaces its material's if it differs from MuJoCo's default grey; a texture multiplies the colour
by its mean, its appearance from afar. Patterns are kept for checkered floors only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from saltus.model.enums import PLANE

DEFAULT = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's default rgba
NEUTRAL = ((0.87, 0.88, 0.90), (0.79, 0.81, 0.84))  # floor without colour and material
CONTRAST = 0.07  # between the cells of a floor that has a colour but no pattern
RGB_ROLES = (mujoco.mjtTextureRole.mjTEXROLE_RGB.value, mujoco.mjtTextureRole.mjTEXROLE_RGBA.value)


@dataclass(frozen=True)
class Checker:
    """A pattern of squares in two colours. cell: side of a square (m).

    Four squares meet in the plane's origin; those where x and y have the same sign have rgb2, as in MuJoCo's textures.
    """

    rgb1: tuple[float, float, float]
    rgb2: tuple[float, float, float]
    cell: float


class Looks:
    """Colours and patterns of the objects in a MuJoCo model."""

    def __init__(self, m: mujoco.MjModel):
        self._m = m
        self._means: dict[int, np.ndarray] = {}

    def rgba(self, kind: str, i: int) -> tuple[float, float, float, float]:
        """Colour of a geom, site, tendon or flex."""
        colour, texture = self._colour(kind, i)
        if texture >= 0:
            colour[:3] *= self._mean(texture)
        red, green, blue, alpha = (float(min(max(c, 0.0), 1.0)) for c in colour)
        return red, green, blue, alpha

    def checker(self, geom: int) -> Checker | None:
        """The pattern of a plane: a low-contrast one without a material, else its texture's if that is a checker."""
        colour, texture = self._colour("geom", geom)
        material = int(self._m.geom_matid[geom])
        if material < 0:
            return self._calm(colour)
        cells = _cells(self._pixels(texture)) if texture >= 0 else None
        if cells is None:
            return None
        rgb1, rgb2 = (_rgb(np.clip(c * colour[:3], 0.0, 1.0)) for c in cells)
        return Checker(rgb1, rgb2, self._cell(geom, material))

    def flattened(self) -> list[str]:
        """Names of the textures from files on geoms that are drawn in their mean colour."""
        m, found = self._m, {}
        for geom in range(m.ngeom):
            _, texture = self._colour("geom", geom)
            plane = m.geom_type[geom] == PLANE
            if texture >= 0 and m.tex_pathadr[texture] >= 0 and not (plane and self.checker(geom)):
                found[texture] = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TEXTURE.value, texture) or f"#{texture}"
        return [found[texture] for texture in sorted(found)]

    def _colour(self, kind, i):
        """Colour [4] before the texture, and the texture's index or -1."""
        m = self._m
        own = np.array(getattr(m, f"{kind}_rgba")[i], float)
        material = int(getattr(m, f"{kind}_matid")[i])
        if material < 0:
            return own, -1
        textures = [int(m.mat_texid[material, role]) for role in RGB_ROLES]
        untold = np.allclose(own, DEFAULT, atol=1e-6)
        return (np.array(m.mat_rgba[material], float) if untold else own), max(textures)

    def _pixels(self, texture):
        """A texture's colours [height, width, 3] from 0 to 1."""
        m = self._m
        height, width, channels = (int(x[texture]) for x in (m.tex_height, m.tex_width, m.tex_nchannel))
        start = int(m.tex_adr[texture])
        data = np.asarray(m.tex_data[start : start + height * width * channels]).reshape(height, width, channels)
        return np.broadcast_to(data[:, :, :3], (height, width, 3)) / 255.0

    def _mean(self, texture):
        if texture not in self._means:
            self._means[texture] = self._pixels(texture).mean(axis=(0, 1))
        return self._means[texture]

    def _cell(self, geom, material) -> float:
        """Side of a square of a plane's checker (m); a texture has two by two squares."""
        m = self._m
        repeat = float(m.mat_texrepeat[material, 0]) or 1.0
        size = float(m.geom_size[geom, 0])
        if size <= 0 or m.mat_texuniform[material]:
            return 1.0 / repeat
        return size / repeat

    def _calm(self, colour) -> Checker:
        cell = nice(self._m.stat.extent / 4)
        if np.allclose(colour, DEFAULT, atol=1e-6):
            return Checker(*NEUTRAL, cell)
        light = _rgb(np.clip(colour[:3] * (1 + CONTRAST), 0.0, 1.0))
        return Checker(light, _rgb(colour[:3] * (1 - CONTRAST)), cell)


def nice(x: float) -> float:
    """Largest of 1, 2 and 5 times a power of ten that is not above x; 1 if x is not positive and finite."""
    if not 0 < x < math.inf:
        return 1.0
    power = 10.0 ** math.floor(math.log10(x))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= x * (1 + 1e-9) or step == 1.0)


def _cells(pixels):
    """The two colours of a checker texture of two by two squares, ignoring marks over it; None for other textures."""
    height, width = pixels.shape[0] // 2, pixels.shape[1] // 2
    if min(height, width) < 1:
        return None
    quarters = [pixels[:height, :width], pixels[:height, width:], pixels[height:, width:], pixels[height:, :width]]
    centres = [q[height // 4, width // 4] for q in quarters]  # marks are on the edges and in the middle
    plain = all((np.abs(q - c).max(axis=2) < 0.02).mean() > 0.8 for q, c in zip(quarters, centres, strict=True))
    one, other, opposite, another = centres
    if not plain or np.abs(one - opposite).max() > 0.02 or np.abs(other - another).max() > 0.02:
        return None
    return (one, other) if np.abs(one - other).max() > 0 else None


def _rgb(values) -> tuple[float, float, float]:
    red, green, blue = (float(v) for v in values)
    return red, green, blue
