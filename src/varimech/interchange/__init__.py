"""Import and export: read URDF files; write equations of motion as CasADi functions and as plain
C.
"""
