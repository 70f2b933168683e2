"""Analyses of a single mechanism: equilibrium, motion, gradients and Hessians."""
