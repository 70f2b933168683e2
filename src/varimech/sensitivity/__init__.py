"""Derivatives of runs with respect to parameters."""
