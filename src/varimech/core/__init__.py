"""Shared foundations: errors, units, names, expressions, symbols, files, progress. Know nothing of
mechanisms.
"""
