"""Model files: a mechanism and its studies as YAML, read as untrusted input and written back
exactly.
"""
