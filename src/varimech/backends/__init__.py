"""Execution of programs of CasADi functions: interpreted, compiled to C, or compiled to CUDA.
Independent of mechanisms.
"""
