"""Reports: one HTML page that needs no network, with an animation, plots, tables and solver
settings.
"""
