"""Uncertainty analysis: propagation of parameter distributions to objectives."""
