"""What comes out: labelled arrays, files, tables."""
