"""Inputs of a soak: a file for each sort, which makes mutants from seeds, and the workers that try them."""
