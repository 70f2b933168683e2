"""Uncertainty and tolerance analysis: propagate distributions of parameters to results."""
