"""Names of the lab's scenes for shell completion, without the slow import of the scenes."""

MADE = (
    *("pendularm", "pendularm2", "pendulum_ghosts", "double_pendulum_ghosts", "arm", "cart_pole", "swing_up"),
    *("free_body", "humanoid_mppi", "humanoid", "newtons_cradle", "bouncing_ball", "muscle", "sit_to_stand"),
)
