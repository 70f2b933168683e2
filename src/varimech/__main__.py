"""`python -m varimech` is the command `varimech`."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
