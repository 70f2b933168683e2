"""Execution of programs of CasADi functions: interpreted, compiled to C, or CUDA. Independent of
mechanisms.
"""
