"""Symbolic elimination against NumPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from varimech.stages.elimination import Factorisation


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("size", [1, 2, 5, 12])
def test_solves_like_numpy(size: int, symmetric: bool) -> None:
    rng = np.random.default_rng(size)
    A = rng.standard_normal((size, size)) * (rng.random((size, size)) < 0.4)
    A = A + A.T if symmetric else A
    A += np.diag(np.abs(A).sum(axis=1) + 1)
    b = rng.standard_normal((size, 3))
    pattern = ca.DM(A).sparsity() if size > 1 else ca.Sparsity.dense(1, 1)
    symbols = ca.SX.sym("A", ca.sparsify(ca.DM(A)).sparsity() if size > 1 else pattern)
    x = Factorisation(symbols, symmetric=symmetric).solve(ca.SX(b))
    solved = ca.Function("solve", [symbols], [x])(ca.sparsify(ca.DM(A)))
    np.testing.assert_allclose(np.array(solved), np.linalg.solve(A, b), rtol=1e-12, atol=1e-14)


def test_arrow_matrix_does_not_fill() -> None:
    """Ordering: an arrow with its dense row first would fill completely; eliminated last, it costs
    a few operations a row.
    """
    n = 40
    A = ca.SX.eye(n) * 10
    A[0, :] = 1
    A[:, 0] = 1
    A[0, 0] = 100
    symbols = ca.SX.sym("A", A.sparsity())
    x = Factorisation(symbols, symmetric=True).solve(ca.SX.ones(n))
    assert ca.Function("f", [symbols], [x]).n_instructions() < 20 * n


def test_symmetric_elimination_is_cheaper() -> None:
    n = 12
    symbols = ca.SX.sym("A", n, n)
    counts = [
        ca.Function(
            "f", [symbols], [Factorisation(symbols, symmetric=s).solve(ca.SX.ones(n))]
        ).n_instructions()
        for s in (True, False)
    ]
    assert counts[0] < 0.75 * counts[1]
