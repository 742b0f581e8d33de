"""Drawing of models: scenes, poses, cameras, and pictures without any graphics library."""
