"""Time integration schemes, one per file. Implicit schemes express positions and velocities in
terms of accelerations; explicit schemes combine rates.
"""
