"""Formulations: chains of stages for one time step (implicit integrators) or for rates (explicit
integrators), built from the equations of motion. Independent of the choice of coordinates.
"""
