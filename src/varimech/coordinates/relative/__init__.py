"""Relative coordinates: those of the joints along a spanning tree, closed loops cut and closed by
constraints.
"""
