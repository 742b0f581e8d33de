"""The lab's own scenes by name; without anything that takes long to import, so that a shell may complete them at once."""

MADE = (
    *("pendularm", "pendularm2", "pendulum_ghosts", "double_pendulum_ghosts", "arm", "cart_pole", "free_body"),
    *("humanoid", "newtons_cradle", "bouncing_ball", "muscle", "sit_to_stand"),
)
