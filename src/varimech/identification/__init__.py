"""Parameters from measured data: fits with confidence intervals, posterior distributions, and
experiments that determine parameters best.
"""
