"""Radau IIA with three stages: order five, stiffly accurate, with error control and dense output."""
