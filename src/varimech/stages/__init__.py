"""Stage-by-stage solution of equation systems, with exact derivatives. Independent of mechanisms
and of time integration.
"""
