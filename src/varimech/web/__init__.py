"""Mechanisms and curves in a browser: the data, scripts and styles that reports, the studio and
notebooks share.
"""
