"""Benchmarks with outside references: simulations, published or exact results, and Saltus's errors against them."""
