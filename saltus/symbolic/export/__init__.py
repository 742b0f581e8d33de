"""Expressions as code: Python, Numba, C, and kernels of the engine."""
