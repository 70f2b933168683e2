"""Relative coordinates: joint coordinates along a spanning tree; closed loops are cut and closed
by constraints.
"""
