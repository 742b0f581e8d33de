"""Derivatives of steps, runs, events, inverse dynamics and readings, by state, controls and parameters."""
