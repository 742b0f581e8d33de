"""What a soak tries: a file for each sort of input, which makes mutants from seeds, and the workers that try them."""
