"""Gradients of losses of whole runs."""
