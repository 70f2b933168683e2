"""Optimal design: problem statement, solvers and results. Uses mechanisms through their analyses
only.
"""
