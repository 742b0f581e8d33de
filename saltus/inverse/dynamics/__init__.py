"""Forces from motion: inverse dynamics of recordings, and which inertial parameters they depend on."""
