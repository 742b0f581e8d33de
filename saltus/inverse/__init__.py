"""From motion back to its cause: configurations that meet targets, parameters that explain a recording."""
