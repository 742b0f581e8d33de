"""Motions that are wanted: smooth functions of time on the configuration manifold."""
