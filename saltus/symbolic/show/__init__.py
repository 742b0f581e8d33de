"""Equations to look at: LaTeX, steps with words, and the page of a derivation."""
