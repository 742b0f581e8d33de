"""Compilation of kernels for other machines: `web` compiles a model's time loops to WebAssembly."""
