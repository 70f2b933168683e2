"""Shared foundations, independent of mechanisms: errors, units, names, expressions, symbols, files,
progress.
"""
