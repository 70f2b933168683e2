"""Sparse decisions on rank, and sparse solutions, against singular values of the dense matrix."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import qr

from varimech.coordinates import linear
from varimech.coordinates.least_norm import dependencies
from varimech.coordinates.sparse_factors import factors_of

SIZE = 170
"""Just above what is dense in a start."""


def banded(seed: int, rows: int, columns: int, *, width: int = 6) -> np.ndarray:
    """Rows that touch a few neighbouring columns each, at random: no mechanism is so badly
    conditioned.
    """
    rng = np.random.default_rng(seed)
    A = np.zeros((rows, columns))
    for row, begin in enumerate(np.linspace(0, columns - width, rows).astype(int)):
        A[row, begin : begin + width] = rng.standard_normal(width)
    return A


def truss(seed: int, diagonals: int, *, pinned: int = 0, shaken: float = 0.2) -> np.ndarray:
    """Rows of bars between the nodes of a grid in the plane, in any order: with one diagonal in
    each field it is rigid but for three motions, with both it has redundant bars.
    """
    rng, (nx, ny) = np.random.default_rng(seed), (12, 8)
    nodes = {(i, j): (i, j) + shaken * rng.uniform(-1, 1, 2) for i in range(nx) for j in range(ny)}
    steps = [(1, 0), (0, 1), (1, 1), (-1, 1)][: 2 + diagonals]
    number, rows = {node: k for k, node in enumerate(nodes)}, []
    for i, j in nodes:
        for di, dj in steps:
            if (i + di, j + dj) in nodes:
                row, bar = np.zeros(2 * len(nodes)), nodes[i + di, j + dj] - nodes[i, j]
                for node, sign in (((i, j), -1), ((i + di, j + dj), 1)):
                    row[2 * number[node] : 2 * number[node] + 2] = sign * bar
                rows.append(row)
    return np.asarray(rng.permutation(rows))[:, pinned:]


CASES = {
    "rigid": truss(0, 1),
    "redundant": truss(1, 2),
    "redundant and determined": truss(2, 2, pinned=3),
    "loose": truss(3, 0),
    "special position": truss(4, 2, shaken=0.0),
    "nearly singular": truss(5, 1, shaken=1e-4)[:-20],
    "units": (A := truss(6, 2)) * np.geomspace(1e-2, 1e2, len(A))[:, None],
    "doubled": np.vstack([A, A[:7], np.zeros((2, A.shape[1]))]),
}


@pytest.mark.parametrize("name", CASES)
def test_sparse_decisions_are_those_of_singular_values(name: str) -> None:
    A = CASES[name]
    σ = np.linalg.svd(A, compute_uv=False)
    rank = int((σ > linear.RANK * σ[0]).sum())
    factors = factors_of(ca.sparsify(ca.DM(A)), linear.RANK)
    assert factors is not None and factors.rank == rank == linear.rank_of(ca.sparsify(ca.DM(A)))
    b = np.random.default_rng(6).standard_normal((len(A), 2))
    expected = np.linalg.pinv(A, rcond=linear.RANK) @ b
    accuracy = 1e-14 * (σ[0] / σ[rank - 1]) ** 2  # least squares with a large residual
    assert factors.solve(b) == pytest.approx(expected, abs=accuracy * np.abs(expected).max())
    B, D, C = factors.dependencies()
    assert np.linalg.matrix_rank(A[B], tol=linear.RANK * σ[0]) == rank == len(B)
    assert A[D] == pytest.approx(C.T @ A[B], abs=1e-9 * np.abs(A).max())
    Z = factors.null_space()
    assert Z.shape == (A.shape[1], A.shape[1] - rank)
    assert pytest.approx(np.eye(Z.shape[1]), abs=1e-12) == Z.T @ Z
    assert np.abs(A @ Z).max(initial=0.0) < 1e-9 * σ[0]


@pytest.mark.parametrize("seed", range(4))
def test_unclear_matrices_are_left_to_the_dense_decision(seed: int) -> None:
    A = banded(seed, 150, SIZE)
    A = np.vstack([A, A[:20] + A[1:21]])
    if seed == 3:  # just above the limit
        A = truss(7, 2)
        A = np.vstack([A, A[:1] + 3 * linear.RANK * np.linalg.norm(A, 2) * np.eye(A.shape[1])[:1]])
    σ, dm = np.linalg.svd(A, compute_uv=False), ca.sparsify(ca.DM(A))
    assert linear.rank_of(dm) == int((σ > linear.RANK * σ[0]).sum())
    b = A @ np.random.default_rng(6).standard_normal(A.shape[1])
    expected = np.linalg.lstsq(A, b, rcond=linear.RANK)[0]
    assert linear.solution(dm, b) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


def test_matrices_without_numbers_are_refused() -> None:
    for A in (np.zeros((200, SIZE)), np.full((200, SIZE), np.nan)):
        assert factors_of(ca.sparsify(ca.DM(A)), linear.RANK) is None


def test_factors_are_kept_for_the_same_matrix() -> None:
    A, other = CASES["redundant"], CASES["redundant"].copy()
    other[np.nonzero(other)[0][0], np.nonzero(other)[1][0]] *= 1 + 1e-15
    first, same, changed = (
        factors_of(ca.sparsify(ca.DM(x)), linear.RANK) for x in (A, A.copy(), other)
    )
    assert first is same is not changed


@pytest.mark.parametrize("copies", [0, 30])
def test_sparse_accelerations_balance_and_meet_the_constraints(copies: int) -> None:
    rng = np.random.default_rng(8)
    Φ_q = truss(9, 0)
    Φ_q = np.vstack([Φ_q, Φ_q[:copies] - 2 * Φ_q[1 : copies + 1]])
    n = Φ_q.shape[1]
    M = np.diag(np.geomspace(1e-3, 1e3, n))
    M[0, 1] = M[1, 0] = 5e-4
    force, γ = rng.standard_normal(n), Φ_q @ rng.standard_normal(n)
    sparse_M, sparse_Φ_q = (ca.sparsify(ca.DM(x)) for x in (M, Φ_q))
    x = linear.weighed_solution(sparse_M, sparse_Φ_q, np.hstack([force, γ]))
    a, λ = x[:n], Φ_q @ x[n:]
    assert M @ a + Φ_q.T @ λ == pytest.approx(force, abs=1e-7)
    assert Φ_q @ a == pytest.approx(γ, abs=1e-7 * np.abs(γ).max())
    # λ has no part in the null space of Φ_qᵀ: it is the shortest one
    _, σ, Vt = np.linalg.svd(Φ_q.T)
    null = Vt[(σ > 1e-9 * σ[0]).sum() :]
    assert len(null) == copies
    assert np.abs(null @ λ).max(initial=0.0) < 1e-7 * np.abs(λ).max()


@pytest.mark.parametrize("light", [0.0, 1e-3])
def test_the_motion_of_least_inertia(light: float) -> None:
    """The last coordinate is free, and the only one of so little mass."""
    J = truss(10, 2)
    J[:, -1], n = 0.0, J.shape[1]
    M = np.diag(np.r_[np.linspace(1.0, 2.0, n - 1), light])
    inertia, motion = linear.least_inertia(*(ca.sparsify(ca.DM(x)) for x in (M, J)))
    assert inertia == pytest.approx(light, rel=1e-6, abs=2e-12)
    assert np.abs(motion).argmax() == n - 1
    assert linear.mobility(ca.sparsify(ca.DM(J)))[-1] == pytest.approx(1.0)


def test_large_dependencies_agree_with_those_of_pivoted_reflections() -> None:
    A = CASES["redundant"]
    _, R, _ = qr(A.T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > 1e-7 * abs(R[0, 0])).sum())
    B, D, C = dependencies(A)
    assert (len(B), len(D)) == (rank, len(A) - rank)
    assert A[D] == pytest.approx(C.T @ A[B], abs=1e-9)
