"""Python's operators on duals and on lanes, registered with the compiler."""
