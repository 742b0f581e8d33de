"""The lab's own scenes by name, for a shell to complete, which importing the scenes themselves would take too long."""

MADE = (
    *("pendularm", "pendularm2", "pendulum_ghosts", "double_pendulum_ghosts", "arm", "cart_pole", "free_body"),
    *("humanoid", "newtons_cradle", "bouncing_ball", "muscle", "sit_to_stand"),
)
