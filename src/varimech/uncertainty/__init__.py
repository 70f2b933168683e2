"""Tolerances and uncertainty: what spreads of parameters make of results."""
