"""Steps and runs as functions of arrays with vector-Jacobian products, below `saltus.torch` and `saltus.jax`."""
