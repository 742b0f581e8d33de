"""Pictures by MuJoCo's renderer, which needs OpenGL, with the model's lights, textures, skybox and reflections."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from saltus.draw.arrows import FORCE, LONGEST, POINTS, metres_per_newton
from saltus.draw.raster.drawables import GHOST_COLOURS, GHOST_OPACITY
from saltus.draw.scene.camera import Viewpoint
from saltus.draw.scene.poses import Pose, Poses
from saltus.draw.scene.scene import scene
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View
from saltus.draw.text import write
from saltus.errors import SaltusWarning
from saltus.model.model import Model

MAX_GEOMS = 20_000
SHADOW_SIZE, SAMPLES = 2048, 4  # size of MuJoCo's shadow map, and samples per pixel
MARK = 0.012  # radius of a mark as a fraction of the distance to the camera's target
VIS = mujoco.mjtVisFlag


def mujoco_renderer(model: Model, view: View) -> MujocoRenderer | None:
    """Make MuJoCo's renderer; return None, with a SaltusWarning, if OpenGL does not work."""
    try:
        return MujocoRenderer(model, view)
    except _NoOpenGL as error:
        text = f"OpenGL does not work here ({error}); the pictures are drawn by renderer='saltus'"
        warnings.warn(text, SaltusWarning, stacklevel=4)
        return None


class _NoOpenGL(Exception):
    """OpenGL cannot be used; the text says why."""


class MujocoRenderer:
    """Draws a model's states by OpenGL, without flexes of ghosts. Only the thread that made it may use it."""

    def __init__(self, model: Model, view: View):
        self._view, self._scene = view, scene(model, view.groups)
        self._poses, self._viewpoint = Poses(model, view.groups), Viewpoint(model, self._scene, view)
        self._m = self._poses.mujoco
        self._arrow_scale = metres_per_newton(model)
        self.ghost_colours = GHOST_COLOURS
        screen = self._m.vis.global_
        screen.offwidth, screen.offheight = view.width, view.height
        quality = self._m.vis.quality
        quality.shadowsize, quality.offsamples = min(quality.shadowsize, SHADOW_SIZE), SAMPLES
        self._camera = self._make_camera()
        self._option = self._make_option()
        self._drawn = mujoco.MjvScene(self._m, MAX_GEOMS)
        self._drawn.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = view.shadow
        self._opengl, self._context = _open(self._m, view.width, view.height)

    def draw(self, still: Still, ghosts: Sequence[Still] = (), text: str = "") -> NDArray[np.uint8]:
        """Draw a state; see `saltus.draw.renderer.Renderer`."""
        m, option, drawn, everything = self._m, self._option, self._drawn, mujoco.mjtCatBit.mjCAT_ALL.value
        pose = self._poses.at(still.qpos, still.mocap_pos, still.mocap_quat)
        if self._camera.type == mujoco.mjtCamera.mjCAMERA_FREE:
            self._camera.lookat[:] = self._viewpoint.target(pose)
        perturb = mujoco.MjvPerturb()
        mujoco.mjv_updateScene(m, self._poses.data, option, perturb, self._camera, everything, drawn)
        self._marks(still, pose)
        option.flexgroup[:], shown = 0, option.flexgroup.copy()
        for ghost, colour in zip(ghosts, _endless(GHOST_COLOURS), strict=False):
            self._poses.at(ghost.qpos, ghost.mocap_pos, ghost.mocap_quat)
            before = drawn.ngeom
            dynamic = mujoco.mjtCatBit.mjCAT_DYNAMIC.value
            mujoco.mjv_addGeoms(m, self._poses.data, option, perturb, dynamic, drawn)
            for geom in drawn.geoms[before : drawn.ngeom]:
                geom.matid = -1
                geom.rgba[:] = [*(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)), GHOST_OPACITY]
        option.flexgroup[:] = shown
        image = self._render()
        write(image, text)
        return image

    def close(self) -> None:
        """Free the resources of the graphics library."""
        if self._context is not None:
            self._opengl.make_current()
            self._context.free()
            self._opengl.free()
            self._context = None

    def _render(self):
        height, width = self._view.height, self._view.width
        image = np.empty((height, width, 3), np.uint8)
        place = mujoco.MjrRect(0, 0, width, height)
        self._opengl.make_current()
        mujoco.mjr_render(place, self._drawn, self._context)
        mujoco.mjr_readPixels(image, None, place, self._context)
        return image[::-1].copy()

    def _make_camera(self) -> mujoco.MjvCamera:
        camera, view = mujoco.MjvCamera(), self._view
        if self._viewpoint.number is not None:
            camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self._viewpoint.number
            return camera
        free = view.camera if isinstance(view.camera, Camera) else self._scene.camera
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        camera.distance, camera.azimuth, camera.elevation = free.distance, free.azimuth, free.elevation
        self._m.vis.global_.fovy = free.fovy
        return camera

    def _make_option(self) -> mujoco.MjvOption:
        option = mujoco.MjvOption()
        chosen = [group in self._view.groups for group in range(6)]
        for groups in (option.geomgroup, option.sitegroup, option.tendongroup, option.flexgroup):
            groups[:] = chosen
        if not self._view.sites:
            option.sitegroup[:] = 0
        option.flags[VIS.mjVIS_TENDON] = self._view.tendons
        return option

    def _marks(self, still: Still, pose: Pose) -> None:
        """Draw contact points, their forces and the centre of mass."""
        size = MARK * (self._camera.distance if self._viewpoint.number is None else 1.5 * self._scene.extent)
        contacts = still.contacts if self._view.contacts and still.contacts is not None else np.zeros((0, 8))
        for contact in contacts:
            start, force = contact[:3], contact[3:6]
            self._add(mujoco.mjtGeom.mjGEOM_SPHERE, size, start, start, POINTS[int(contact[7])])
            length = min(float(np.linalg.norm(force)) * self._arrow_scale, LONGEST * self._scene.extent)
            if length > 2 * size:
                end = start + force * (length / np.linalg.norm(force))
                self._add(mujoco.mjtGeom.mjGEOM_ARROW, 0.5 * size, start, end, FORCE)
        if self._view.com:
            self._add(mujoco.mjtGeom.mjGEOM_SPHERE, 1.5 * size, pose.com, pose.com, (0.95, 0.8, 0.2, 1.0))
        if self._view.cop and still.cop is not None and np.isfinite(still.cop).all():
            self._add(mujoco.mjtGeom.mjGEOM_SPHERE, 1.8 * size, still.cop, still.cop, FORCE)

    def _add(self, kind, radius, start, end, rgba) -> None:
        if self._drawn.ngeom >= MAX_GEOMS:
            return
        geom = self._drawn.geoms[self._drawn.ngeom]
        mujoco.mjv_initGeom(geom, kind, np.full(3, radius), start, np.eye(3).ravel(), np.array(rgba, np.float32))
        if (start != end).any():
            mujoco.mjv_connector(geom, kind, radius, start, end)
        self._drawn.ngeom += 1


def _open(m: mujoco.MjModel, width: int, height: int):
    """Open an OpenGL context, and MuJoCo's context in it."""
    if _failed:
        raise _NoOpenGL(_failed[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the caller reports the reason once
            opengl = _library()(width, height)
        if not getattr(opengl, "_context", None):
            raise _NoOpenGL("no window system, and MUJOCO_GL is not egl")
        opengl.make_current()
        context = mujoco.MjrContext(m, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        return opengl, context
    # libraries that are absent, broken or without a device raise various errors
    except Exception as error:
        _failed.append(" ".join(str(error).split()) or type(error).__name__)
        raise _NoOpenGL(_failed[0]) from None


_failed: list[str] = []  # the reason, kept because MuJoCo crashes at a second attempt in a process


def _library():
    """The class of context chosen by MUJOCO_GL; if that is not set and there is no window system, EGL's."""
    asked = os.environ.get("MUJOCO_GL", "")
    if sys.platform == "linux" and not asked and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        from mujoco.egl import GLContext

        return GLContext
    from mujoco import gl_context

    found = getattr(gl_context, "GLContext", None)
    if found is None:
        raise _NoOpenGL(f"MUJOCO_GL is {asked}")
    return found


def _endless(values) -> Iterator[str]:
    while True:
        yield from values
