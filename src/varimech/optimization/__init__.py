"""Optimal design and fitting: problem statement, solvers, results. Uses only the public analyses
of a mechanism.
"""
