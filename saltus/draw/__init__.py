"""What a model looks like: scenes, poses, cameras, and pictures without any graphics library."""
