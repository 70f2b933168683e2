"""From equations of motion to one time step (implicit integrators) or to rates (explicit ones), as
chains of stages. Knows no coordinates.
"""
