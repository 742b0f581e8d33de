"""Parameters of a model from recorded motion."""
