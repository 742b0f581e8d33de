"""Releases of MuJoCo whose meaning of a model can be asked for."""
