"""Many environments in one compiled loop: what is compiled, its memory, its episodes and what steps return."""
