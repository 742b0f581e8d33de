"""The symbolic twin: equations of motion by Lagrange's method, shown, exported, and checked against the engine."""
