"""Commands that run many simulations and compare them."""
