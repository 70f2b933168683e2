"""Functions of problems for other frameworks: JAX and PyTorch."""
