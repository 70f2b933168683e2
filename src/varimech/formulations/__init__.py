"""From equations of motion to one time step, as stages of nonlinear or linear equations. Knows no coordinates."""
