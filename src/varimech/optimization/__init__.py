"""Optimal design and parameter fitting: problem statement, solvers and results. Uses mechanisms
through their analyses only.
"""
