"""Displays of models, simulations, recordings and results in notebooks; loaded when one is shown."""
