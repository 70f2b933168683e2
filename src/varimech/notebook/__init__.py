"""Widgets in notebooks: pages in frames, and what stands in their place where there are none."""
