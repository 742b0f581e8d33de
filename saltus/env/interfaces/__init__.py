"""Environments in the interfaces of other libraries: Gymnasium's Env and VectorEnv, Stable-Baselines3's VecEnv."""
