"""Inverse kinematics: configurations in which sites, bodies and geoms are where they are wanted."""
