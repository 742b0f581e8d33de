"""Models: what is simulated."""

from saltus.surroundings import check_files, check_mujoco_gl

check_files()
check_mujoco_gl()
