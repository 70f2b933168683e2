"""From a model and a method to runs: what is to be run, as which programs, by which solver, and why
it failed.
"""
