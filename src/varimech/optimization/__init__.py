"""Optimal design and fitting: what to minimise within which bounds, who solves it, what came out;
knows mechanisms by their verbs only.
"""
