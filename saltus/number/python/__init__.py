"""Python's operators, conditions and functions of numbers on floats, lanes and duals, in code that users write."""
