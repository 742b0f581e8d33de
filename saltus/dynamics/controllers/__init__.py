"""Controllers in the time loop that compute with the equations of motion, and the motions that they follow."""
