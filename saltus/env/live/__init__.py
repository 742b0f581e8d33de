"""Environments in the lab: one simulation of the lab's, which a policy controls."""
