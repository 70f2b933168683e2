"""Certificates of gradients: evidence by independent methods, judged and reported."""
