"""From a model to its equations of motion: generalised coordinates, constraints, mass matrix,
forces and consistent initial conditions.
"""
