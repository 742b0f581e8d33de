"""Names of MuJoCo's releases, "mujoco-3.17", and the release that a model declares.

A model declares a release by a text in its file, which MuJoCo ignores:

    <custom><text name="semantics" data="mujoco-3.17"/></custom>
"""

import re

import mujoco
import numpy as np

from saltus.errors import ModelError
from saltus.model.enums import BALL, FREE, WRAP_CYLINDER, WRAP_SPHERE

#: Major and minor number of a release.
Release = tuple[int, int]
TITLE = "semantics"  # name of the text in a file
OLDEST: Release = (3, 8)
NEWEST: Release = (4, 0)
LAST_OF_3 = 17  # the last release before 4.0 is 3.17


def name_of(release: Release) -> str:
    """The name of a release: "mujoco-3.17"."""
    return "mujoco-{}.{}".format(*release)


def release_of(name: str) -> Release | None:
    """The release of a name, or None if it is none between `OLDEST` and `NEWEST`."""
    found = re.fullmatch(r"mujoco-([34])\.(\d{1,2})", name)
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    there = OLDEST <= release <= NEWEST and (release[0] > 3 or release[1] <= LAST_OF_3)
    return release if there else None


def declared(m: mujoco.MjModel) -> Release:
    """The release that a model declares, by default the newest. ModelError: it declares one that is not offered."""
    for k in range(m.ntext):
        if mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_TEXT, k) == TITLE:
            start = m.text_adr[k]
            text = bytes(m.text_data[start : start + m.text_size[k]]).rstrip(b"\0").decode(errors="backslashreplace")
            release = release_of(text)
            if release is None:
                raise ModelError(expected(text), element="text", name=TITLE)
            return release
    return NEWEST


def expected(name: object) -> str:
    """Text of the error for a name that is no release."""
    offered = f"a release from {name_of(OLDEST)} to {name_of((3, LAST_OF_3))}, or {name_of(NEWEST)}"
    return f"no semantics {name!r}; expected {offered}"


def older_features(m: mujoco.MjModel) -> set[str]:
    """Feature keys of kernels that follow an older release where a model declares one."""
    if declared(m) >= (4, 0):
        return set()
    found = set()
    if np.isin(m.jnt_type, (BALL, FREE)).any():
        found.add("uncorrected_rotations")
    if np.isin(m.wrap_type, (WRAP_SPHERE, WRAP_CYLINDER)).any():
        found.add("half_plane_sides")
    return found
