"""Saltus's renderer: compiled loops over pixels, without any graphics library.

OpenGL, which MuJoCo's renderer needs, is absent on most servers, in containers and in continuous integration.

A picture is drawn from back to front: sky and planes; the shadow on the floor; opaque items, whose depths are kept to
find hidden ones; ghosts and other translucent items, a layer each; marks; text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from saltus.draw.arrows import contact_marks, mass_marks, metres_per_newton, pressure_marks
from saltus.draw.canvas import Canvas
from saltus.draw.raster.drawables import GHOST_COLOURS, Subject
from saltus.draw.raster.floors import Floors
from saltus.draw.raster.mesh_buffers import Stock
from saltus.draw.scene.camera import Eye, Viewpoint, haze
from saltus.draw.scene.poses import Pose, Poses
from saltus.draw.scene.scene import scene
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import View
from saltus.draw.text import write
from saltus.model.model import Model


class Rasteriser:
    """Draws a model's states. Not thread-safe; several rasterisers can draw in parallel threads."""

    def __init__(self, model: Model, view: View):
        groups = view.groups
        self._view, self._scene, self._poses = view, scene(model, groups), Poses(model, groups)
        self._viewpoint = Viewpoint(model, self._scene, view)
        self._stock = Stock(self._scene)
        self._subject = Subject(self._scene, self._stock, sites=view.sites, tendons=view.tendons)
        self._floors = Floors(self._scene)
        self._canvas = Canvas(view.width, view.height, self._stock)
        self._arrow_scale = metres_per_newton(model)
        self.ghost_colours = GHOST_COLOURS

    def draw(
        self,
        still: Still,
        ghosts: Sequence[Still] = (),
        text: str = "",
        depths: NDArray[np.float32] | None = None,
    ) -> NDArray[np.uint8]:
        """Draw a state; see `saltus.draw.renderer.Renderer`. depths [height, width] (m): filled, see `measure`."""
        pose = self._poses.at(still.qpos, still.mocap_pos, still.mocap_quat)
        eye = self._viewpoint.at(pose)
        canvas, subject = self._canvas, self._subject
        planes = self._floors.at(pose.xpos, pose.xquat)
        canvas.start(eye, planes, float(haze(self._scene, eye.pos, self._viewpoint.target(pose))))
        items = subject.at(pose, still.tree_asleep)
        floor = self._floors.lit
        if self._view.shadow and floor is not None:
            canvas.shadow(items, subject.casting(items), floor)
        canvas.opaque(items, subject.opaque(items))
        if depths is not None:
            canvas.depths(depths)
        for number in reversed(range(len(ghosts))):
            ghost = ghosts[number]
            there = self._poses.at(ghost.qpos, ghost.mocap_pos, ghost.mocap_quat)
            canvas.layer(subject.ghost(there, number))
        if ghosts and subject.has_flexes:
            subject.bend(pose)
        for item in subject.translucent(items, eye):
            canvas.layer(items, item)
        self._marks(still, pose, eye)
        image = canvas.finish()
        write(image, text)
        return image

    def close(self) -> None:
        """Do nothing: the rasteriser holds no external resources."""

    def _marks(self, still: Still, pose: Pose, eye: Eye) -> None:
        height, extent = self._view.height, self._scene.extent
        if self._view.contacts and still.contacts is not None and len(still.contacts):
            marks = contact_marks(self._stock, still.contacts, eye, height, self._arrow_scale, extent)
            self._canvas.layer(marks)
        if self._view.com:
            self._canvas.layer(mass_marks(self._stock, pose.com, eye, height))
        if self._view.cop and still.cop is not None and np.isfinite(still.cop).all():
            self._canvas.layer(pressure_marks(self._stock, still.cop, eye, height))
