"""Choosing a renderer: what is refused, pictures without any graphics library, and MuJoCo's where OpenGL works.

Reference for the last: MuJoCo's own picture of the same view, whose silhouettes lie over ours. Pictures are drawn in
processes of their own, because a process has one graphics library for its whole life.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import saltus
from saltus import OptionError, SaltusWarning
from saltus.draw.rasteriser import Rasteriser
from saltus.draw.renderer import make_renderer
from saltus.draw.scene.view import View

SKIN = """<mujoco><asset><skin name="coat" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="b" bindpos="0 0 0"
bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></asset>
<worldbody><body name="b"><joint/><geom size="0.1"/></body></worldbody></mujoco>"""
HIDDEN = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("OpenGL", "glfw", "EGL", "vtk", "pyrender", "moderngl"):
            raise ImportError(f"{name} is hidden")
sys.meta_path.insert(0, Hide())
"""
DRAW = """
import json, sys, warnings
import numpy as np
import saltus
from saltus.draw.renderer import make_renderer
from saltus.draw.scene.snapshot import Still
from saltus.draw.scene.view import Camera, View
model = saltus.load("double_pendulum")
view = View(320, 240, camera=Camera((0, 0, -1), 8.0, 90.0, -10.0), com=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    renderer = make_renderer(model, view, sys.argv[1])
    image = renderer.draw(Still([0.7, 0.4]), ghosts=[Still([-0.5, 0.2])], text="t = 0 s")
    renderer.close()
np.save(sys.argv[2], image)
said = [[w.category.__name__, str(w.message)] for w in caught if issubclass(w.category, saltus.SaltusWarning)]
print(json.dumps([type(renderer).__name__, said, "OpenGL" in sys.modules]))
"""


def draw(path, renderer, before="", **environment):
    """(name of the renderer's class, warnings, whether OpenGL was imported), picture."""
    file = path / "picture.npy"
    kept = {
        k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "PYOPENGL_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    }
    answer = subprocess.run(
        [sys.executable, "-c", before + DRAW, renderer, str(file)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1]), np.load(file).astype(int)


def test_unknown_renderers_are_named():
    with pytest.raises(OptionError, match=r"renderer 'mujco'; did you mean 'mujoco'"):
        make_renderer(saltus.load("pendulum"), View(), "mujco")


def test_ours_is_the_usual_one():
    assert isinstance(make_renderer(saltus.load("pendulum"), View()), Rasteriser)


def test_pictures_without_a_graphics_library(tmp_path):
    """No OpenGL can be imported: the picture is the same to the bit."""
    (name, said, opengl), image = draw(tmp_path, "saltus", HIDDEN, MUJOCO_GL="disabled")
    assert name == "Rasteriser" and not said and not opengl
    np.testing.assert_array_equal(image, draw(tmp_path, "saltus")[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "before, environment",
    [("", dict(MUJOCO_GL="disabled")), (HIDDEN, {}), (HIDDEN, dict(MUJOCO_GL="egl"))],
    ids=["disabled", "hidden", "egl-hidden"],
)
def test_mujocos_falls_back_with_a_message(tmp_path, before, environment):
    (name, said, _), image = draw(tmp_path, "mujoco", before, **environment)
    assert name == "Rasteriser"
    ((category, message),) = said
    assert category == "SaltusWarning" and "OpenGL does not work here" in message and "renderer='saltus'" in message
    np.testing.assert_array_equal(image, draw(tmp_path, "saltus")[1])


@pytest.mark.slow
def test_mujocos_picture_lies_over_ours(tmp_path):
    """Where MuJoCo's picture has the bobs' colours, ours has them too, but for what is in its shadow."""
    (name, said, _), theirs = draw(tmp_path, "mujoco", MUJOCO_GL="egl")
    if name == "Rasteriser":
        pytest.skip(f"no OpenGL here: {said[0][1]}")
    ours = draw(tmp_path, "saltus")[1]
    for low, high in ((1, 0), (2, 0)):  # the first bob is red, the second yellow: little green or blue beside red
        mine, other = (
            (image[:, :, high] > 60) & (image[:, :, high] > 1.8 * image[:, :, low]) for image in (ours, theirs)
        )
        assert mine.sum() > 100 and (mine & other).sum() > 0.7 * (mine | other).sum()


def test_a_skin_is_not_left_out_in_silence(recwarn):
    with pytest.warns(SaltusWarning, match="1 skin of the model cannot be drawn"):
        make_renderer(saltus.load(SKIN), View(64, 48))
    recwarn.clear()
    make_renderer(saltus.load("pendulum"), View(64, 48))
    assert not recwarn.list


def test_a_picture_on_a_geom_is_not_left_out_in_silence(tmp_path, recwarn):
    """A texture from a file is named; one of MuJoCo's own patterns is not, nor is a material without any."""
    from PIL import Image

    Image.new("RGB", (8, 8), (200, 30, 30)).save(tmp_path / "bricks.png")
    (tmp_path / "wall.xml").write_text("""
<mujoco><asset><texture name="bricks" type="2d" file="bricks.png"/>
  <texture name="squares" type="cube" builtin="checker" rgb1="1 1 1" rgb2="0 0 0" width="8" height="8"/>
  <material name="wall" texture="bricks"/><material name="dice" texture="squares"/></asset>
  <worldbody><geom type="box" size="1 .1 1" material="wall"/><geom size=".2" pos="0 -1 0" material="dice"/></worldbody>
</mujoco>""")
    with pytest.warns(SaltusWarning, match="texture bricks: drawn as the mean colour"):
        make_renderer(saltus.load(tmp_path / "wall.xml"), View(64, 48))
    assert not any("squares" in str(w.message) for w in recwarn.list)
