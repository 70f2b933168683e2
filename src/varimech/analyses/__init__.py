"""Analyses of one model, as functions of a `Simulation`: motion, ensembles, first and second
derivatives; and of a model at rest.
"""
