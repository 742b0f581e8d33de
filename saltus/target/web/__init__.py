"""A model as WebAssembly for browsers: its time loops, and the quantities that a page draws."""
