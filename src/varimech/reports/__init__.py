"""Reports: one self-contained HTML page with the animated mechanism, plots, tables, and the method
and accuracy of the computation.
"""
