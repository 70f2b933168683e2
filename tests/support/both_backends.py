"""Both executors of a run, as a parametrisation: the loop in Python, and the machine. The latter
executes bytecode here; that compiled functions give the same bits is the subject of other tests.
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
