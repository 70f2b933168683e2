"""Both executors of a run, as a parametrisation."""

from __future__ import annotations

import pytest

from varimech.backends import compiler

BACKENDS = (
    "interpreted",
    pytest.param(
        "native",
        marks=pytest.mark.skipif(
            compiler.find_compiler() is None, reason="no C compiler on this machine"
        ),
    ),
)
both_backends = pytest.mark.parametrize("backend", BACKENDS)
