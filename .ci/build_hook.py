"""Tags of wheels that bring compiled kernels along: for one version of Python, one system and one architecture.

Hatchling calls it whenever it builds a wheel. Without kernels a wheel serves all.
"""

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = "saltus/number/cache/archived"
#: The oldest systems that Numba's and llvmlite's wheels run on, by what Python calls the system.
OLDEST = {"linux": "manylinux_2_28", "macosx": "macosx_12_0", "win": "win"}


def tag(platform: str, version: tuple[int, int]) -> str:
    """The tag of a wheel with kernels, for a system as `sysconfig.get_platform` names it and a version of Python."""
    system, _, machine = platform.partition("-")
    machine = machine.rpartition("-")[2]  # behind the version of macOS
    if system not in OLDEST or machine == "universal2":
        raise ValueError(f"compiled kernels are for one architecture of Linux, macOS or Windows, not for {platform}")
    return "cp{}{}-none-{}_{}".format(*version, OLDEST[system], machine)


class KernelsTag(BuildHookInterface[Any]):
    """Sets the tag where there are kernels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if any(Path(self.root, KERNELS).glob("kernels-*.zip")):
            build_data["pure_python"] = False
            build_data["tag"] = tag(sysconfig.get_platform(), sys.version_info[:2])
