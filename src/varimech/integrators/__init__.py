"""Time discretisations, one a file. Implicit ones say how positions and velocities follow from
accelerations, explicit ones combine rates.
"""
