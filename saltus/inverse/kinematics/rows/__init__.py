"""Residuals of tasks and their Jacobians: targets, closed loops, geoms kept apart."""
