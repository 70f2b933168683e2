"""What a user writes: parameters, bodies, joints, forces, drivers and the start of a mechanism.
Knows no equations.
"""
