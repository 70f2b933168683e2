"""Widgets in notebooks: pages in frames, and their replacement where widgets are not supported."""
