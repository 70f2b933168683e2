"""To and from other programs: URDF files come in; equations of motion go out as CasADi functions
and as plain C.
"""
