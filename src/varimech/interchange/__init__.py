"""Exchange with other programs: URDF files are read; equations of motion are exported as CasADi
functions and as plain C.
"""
