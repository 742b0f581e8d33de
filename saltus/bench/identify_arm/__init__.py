"""Identification of an arm with seven joints: how far values are off, and how often intervals hold them."""
