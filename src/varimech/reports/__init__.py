"""Reports: one HTML page that needs no network, with the mechanism in motion, plots, tables and all
that tells how it was computed.
"""
