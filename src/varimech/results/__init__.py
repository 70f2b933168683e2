"""Results: labelled arrays, files, tables."""
