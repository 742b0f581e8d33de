"""Contents of the rasteriser's samples, to be compared with rays; and pixels of points."""

import mujoco
import numpy as np

from saltus.draw.canvas import NO_LIGHT
from saltus.draw.raster.cover import SAMPLES_X, SAMPLES_Y
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.scene.snapshot import Still
from saltus.number.intrinsics.samples import NUMBERS


def samples(renderer: Rasteriser, still: Still):
    """Item (index in `Subject.at`, -1: none) and depth (m) of each sample of the opaque things, [height, width, 4]."""
    pose = renderer._poses.at(still.qpos)
    canvas, subject = renderer._canvas, renderer._subject
    canvas.start(renderer._viewpoint.at(pose), renderer._floors.at(pose.xpos, pose.xquat), 1.0)
    items = subject.at(pose)
    canvas._rasterise(items, subject.opaque(items), NO_LIGHT, canvas._opaque_keys, canvas._opaque_tiles)
    keys = canvas._opaque_keys.copy()
    numbers = (keys & (NUMBERS - 1)) - 1
    item = np.where(numbers >= 0, canvas._of[numbers, 0], -1)
    with np.errstate(divide="ignore"):
        depth = 1.0 / (keys & ~(NUMBERS - 1)).view(np.float64)
    canvas.finish()
    return item, depth


def rays(renderer: Rasteriser, still: Still, m: mujoco.MjModel, pixels):
    """Geom (-1: none) and depth (m) that a ray through each sample of some pixels [n, 2] (column, row) meets, [n, 4].

    By MuJoCo's mj_ray. What is nearer than the near plane does not count.
    """
    d = mujoco.MjData(m)
    d.qpos[:] = still.qpos
    mujoco.mj_forward(m, d)
    eye = renderer._viewpoint.at(renderer._poses.at(still.qpos))
    geoms, depths = np.full((len(pixels), 4), -1), np.full((len(pixels), 4), np.inf)
    found = np.zeros(1, np.int32)
    for k, (column, row) in enumerate(pixels):
        for s in range(4):
            x = (column + SAMPLES_X[s] - eye.cx) / eye.fx
            y = (eye.cy - row - SAMPLES_Y[s]) / eye.fy
            ray = eye.forward + x * eye.right + y * eye.up
            start = eye.pos + eye.near * ray
            along = mujoco.mj_ray(m, d, start, ray, None, 1, -1, found)
            if along >= 0:
                geoms[k, s], depths[k, s] = found[0], eye.near + along
    return geoms, depths


def covered(renderer: Rasteriser, still: Still):
    """Share of each pixel that is covered by something opaque, [height, width]."""
    return (samples(renderer, still)[0] >= 0).mean(axis=2)


def centroid(weights):
    """x, y (pixels) of the centre of an image [height, width]."""
    rows, columns = np.indices(weights.shape) + 0.5
    return np.array([(weights * columns).sum(), (weights * rows).sum()]) / weights.sum()
