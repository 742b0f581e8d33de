"""A model as WebAssembly: its time loops and what is drawn of it, for browsers."""
