"""Control from exact derivatives: regulators, equilibria, modes, trajectories that are optimal."""
