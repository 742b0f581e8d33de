"""Sources that are neither MJCF nor URDF: errors that name the format and the way from it."""

from pathlib import Path

from saltus.errors import ModelError

SUFFIXES = (".xml", ".urdf")  # which MuJoCo's compiler reads
XACRO = (
    "of xacro, which is not expanded here; write `xacro robot.urdf.xacro > robot.urdf` (pip install xacro) and load "
    "the result"
)
#: Suffixes of other formats, and the way from each.
REMEDIES = {
    ".mjcf": "MuJoCo's compiler reads MJCF from files whose names end in .xml; rename it",
    ".mjb": "a compiled model of MuJoCo: load mujoco.MjModel.from_binary_path(path)",
    ".xacro": f"a file {XACRO}",
    ".sdf": "SDFormat is not read; convert it to URDF or MJCF",
    ".usd": "USD is not read; convert it to MJCF",
    ".usda": "USD is not read; convert it to MJCF",
    ".zip": "an archive: unpack it and load the file inside",
    **dict.fromkeys((".stl", ".obj", ".msh", ".dae"), "a mesh, not a mechanism: name it in <asset><mesh file=.../>"),
    **dict.fromkeys((".json", ".yaml", ".yml", ".toml"), "not a mechanism's description"),
}


def check_suffix(path: Path) -> None:
    """Raise ModelError for a file whose name says that it is neither MJCF nor URDF."""
    suffix = path.suffix
    if suffix not in SUFFIXES:
        remedy = "rename it in lower case" if suffix.lower() in SUFFIXES else REMEDIES.get(suffix.lower())
        remedy = remedy or (f"unknown kind of file {suffix!r}" if suffix else "a file without a suffix")
        raise ModelError(f"{remedy}; expected {', '.join(SUFFIXES)}", file=str(path))


def check_format(text: str, file: str | None = None) -> None:
    """Raise ModelError for empty text."""
    if not text.strip():
        raise ModelError("empty; expected MJCF or URDF text, the path of a file, or a name", file=file)
