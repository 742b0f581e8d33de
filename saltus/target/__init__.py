"""The same kernels on other machines: `web` turns a model's time loops into WebAssembly."""
