"""Certificates of gradients: recompute a gradient with independent methods, judge and report it."""
