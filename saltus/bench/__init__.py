"""Benchmarks of Saltus beside its peers, measured in one process; `saltus bench` runs them."""
