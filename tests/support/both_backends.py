"""Parametrisation of tests over both executors of a run: the Python loop and the native stack
machine. The latter executes bytecode here; other tests check that compiled functions give identical
bits.
"""

from __future__ import annotations

import pytest

from varimech.backends import compiler

BACKENDS = (
    "interpreted",
    pytest.param(
        "auto",
        marks=pytest.mark.skipif(
            compiler.find_compiler() is None, reason="no C compiler on this machine"
        ),
    ),
)
both_backends = pytest.mark.parametrize("backend", BACKENDS)
