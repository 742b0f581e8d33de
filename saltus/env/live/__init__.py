"""Environments in the lab: a simulation controlled by a policy."""
