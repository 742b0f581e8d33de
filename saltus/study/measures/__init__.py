"""Measures: one number of a recording, by a name such as `height[ball].apex`.

A measure is a quantity over time and its reduction, `QUANTITIES` and `REDUCTIONS`, or one of `NUMBERS`. A quantity that
is not recorded is computed from the recorded state at every sample.
"""
