"""Environments as other libraries expect them: Gymnasium's Env and VectorEnv, Stable-Baselines3's VecEnv."""
