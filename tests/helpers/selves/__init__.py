"""Kernels against themselves: as plain Python on 50-digit numbers, and compiled for floats, lanes and duals."""
