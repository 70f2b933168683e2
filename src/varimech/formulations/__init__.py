"""From equations of motion to one time step (implicit integrators) or to rates (explicit
integrators), as chains of stages. Independent of the choice of coordinates.
"""
