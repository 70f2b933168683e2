"""Shared foundations: errors, units, names, expressions, symbols, files, progress. Independent of
mechanisms.
"""
