"""Models of robots from MuJoCo Playground, if it is installed."""

import warnings
from importlib.util import find_spec
from pathlib import Path

import mujoco

from saltus.errors import OptionError
from saltus.model.load import load
from saltus.model.model import Model

SCENE = "scene_mjx_feetonly_flat_terrain.xml"


def playground_model(robot: str, menagerie: str) -> Model:
    """Load a robot on a flat floor from an installed MuJoCo Playground ("go1"), with meshes from its copy of MuJoCo
    Menagerie ("unitree_go1"); OptionError if it is not installed."""
    spec = find_spec("mujoco_playground")
    root = Path(spec.origin).parent if spec and spec.origin else None
    scene = root and root / "_src" / "locomotion" / robot / "xmls" / SCENE
    if root is None or scene is None or not scene.exists():
        raise OptionError(
            f"the robot's model is not part of Saltus: give model=PATH of an MJCF file with the robot on a floor, such "
            f"as {menagerie}/scene.xml of MuJoCo Menagerie, or install MuJoCo Playground (pip install playground)"
        )
    meshes = root / "external_deps" / "mujoco_menagerie" / menagerie
    files = [*scene.parent.rglob("*"), *meshes.rglob("*")]
    assets = {path.name: path.read_bytes() for path in files if path.is_file()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about files that users did not write
        try:
            return load(mujoco.MjSpec.from_file(str(scene), assets=assets))
        except ValueError as error:
            raise OptionError(f"{scene}: {error}") from None
