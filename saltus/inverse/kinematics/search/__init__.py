"""Searches for configurations: bounded steps, levels of priority, restarts, loops over many problems."""
