"""Benchmarks with outside references: what is simulated, what others found, and how near Saltus comes."""
