"""Robust design: statistics of objectives over random parameters as quantities of a design, with
derivatives with respect to nominal values, tolerance widths and correlations.
"""
