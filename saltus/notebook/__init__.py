"""What notebooks show of models, simulations, recordings and results; loaded when one is displayed."""
