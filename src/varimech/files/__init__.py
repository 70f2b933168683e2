"""Model files: a mechanism and its studies as YAML, read without trust and written back exactly."""
