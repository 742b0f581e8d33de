"""Many environments in one compiled loop: its kernels, memory, episodes and results."""
