"""Ways to carry out a program of CasADi functions. Knows nothing of mechanisms."""
