"""The studio: a local page on which a designer changes a mechanism and sees the consequences at
once.
"""
