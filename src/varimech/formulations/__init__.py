"""From equations of motion to one time step, as a chain of stages. Knows no coordinates."""
