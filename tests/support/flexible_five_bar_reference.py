"""The flexible five-bar by an independent method: minimal coordinates, equations derived by hand,
derivatives by complex steps.

Coordinates are the angles of bars A1, 3B and 23 and the inner nodes of the beam, so there is no
constraint. A uniform rigid bar has the consistent mass of its ends, like a segment of the beam, so
all that has mass are segments between nodes r(q) with a constant matrix m:

    Jᵀ m J q̈ = Jᵀ (f − m J̇ q̇),     J = ∂r/∂q,     f = gravity, springs, stretching and bending at the nodes.

All columns of a batch, one for each parameter, are integrated at once by the 12 stages of DOP853
with equal steps.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.integrate._ivp import dop853_coefficients

NOMINAL = {
    "E": 206.94e9,
    "a0": 1.0628e-4,
    "I": 9.4125e-10,
    "rho": 7829.0,
    "L0": 3.25**0.5,
    "L": 3.25**0.5,
}
LA = LB = 2**0.5
L23 = LENGTH = 3.25**0.5
B = np.array([1.0, 0.0])
TINY = 1e-30


class FlexibleFiveBar:
    """A batch: the nominal mechanism, and one variant for each parameter with an imaginary
    perturbation; `power` is the exponent of L0 in the bending stiffness.
    """

    def __init__(
        self,
        n: int,
        wrt: tuple[str, ...],
        *,
        E: float = NOMINAL["E"],
        power: int = -5,
        linear: bool = False,
    ):
        self.n, self.linear = n, linear
        self.nominal = {**NOMINAL, "E": E}
        p = {k: np.full(len(wrt) + 1, v, dtype=complex) for k, v in self.nominal.items()}
        for k, name in enumerate(wrt):
            p[name][k + 1] += 1j * TINY
        L0 = p["L0"] + p["L"] - LENGTH
        self.segment, self.tension = L0 / n, p["E"] * p["a0"]
        self.bending = p["E"] * p["I"] / LENGTH**5 * n**3 * (n**2 + 2) * (L0 / LENGTH) ** power
        self.wrt = wrt
        # nodes: the beam from point 1 to point 2, then point 3, A and B
        beam = p["rho"] * p["a0"] * p["L"] / n
        masses = [(i, i + 1, beam) for i in range(n)] + [
            (n + 2, 0, 1.0),
            (n, n + 1, 1.5),
            (n + 1, n + 3, 1.0),
        ]
        self.m = np.zeros((len(wrt) + 1, n + 4, n + 4), dtype=complex)
        for i, j, mass in masses:
            for row, column, share in ((i, i, 3), (j, j, 3), (i, j, 6), (j, i, 6)):
                self.m[:, row, column] += mass / share
        self.weight = self.m.sum(axis=2)[..., None] * np.array([0, -9.81])
        self.start = self._start(p["L"])

    def _start(self, L: np.ndarray) -> np.ndarray:
        """Initial q: bar A1 and the beam keep their angles, and the loop is closed."""
        one, two = (
            np.array([-1, -1]),
            np.array([-1, -1]) + L[:, None] * np.array([1.5, -1]) / LENGTH,
        )
        angles = np.tile(
            np.array([np.arctan2(-1, 1), np.arctan2(-1, -1.5)], dtype=complex), (L.size, 1)
        )
        arms = np.array([LB, L23])
        for _ in range(12):
            c, s = arms * np.cos(angles), arms * np.sin(angles)
            gap = np.stack([1 + c.sum(1), s.sum(1)], axis=1) - two
            angles -= np.linalg.solve(np.stack([-s, c], axis=1), gap[..., None])[..., 0]
        inner = [one + (two - one) * (i / self.n) for i in range(1, self.n)]
        return np.concatenate([np.full((L.size, 1), np.arctan2(-1, -1)), angles, *inner], axis=1)

    def nodes(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """r, J and J̇ q̇."""
        n, count, size = self.n, *q.shape
        r, J, bias = (
            np.zeros((count, n + 4, 2, *rest), dtype=complex) for rest in ((), (size,), ())
        )
        e = np.stack([np.cos(q[:, :3]), np.sin(q[:, :3])], axis=2)
        turned = np.stack([-e[..., 1], e[..., 0]], axis=2)
        r[:, n:, :] += B
        r[:, n + 2] -= B
        for node, angle, arm in ((0, 0, LA), (n + 1, 1, LB), (n, 1, LB), (n, 2, L23)):
            r[:, node] += arm * e[:, angle]
            J[:, node, :, angle] += arm * turned[:, angle]
            bias[:, node] -= arm * e[:, angle] * v[:, angle, None] ** 2
        for i in range(1, n):
            k = 3 + 2 * (i - 1)
            r[:, i] = q[:, k : k + 2]
            J[:, i, 0, k] = J[:, i, 1, k + 1] = 1
        return r, J, bias

    def forces(self, r: np.ndarray) -> np.ndarray:
        """f at the nodes."""
        n = self.n
        f = self.weight.copy()
        for node, length in ((0, 5**0.5), (n, 4.25**0.5)):
            d = r[:, node] - B
            f[:, node] -= 100 * (1 - length / _norm(d))[:, None] * d
        d = np.diff(r[:, : n + 1], axis=1)
        size = _norm(d)
        stretch = size / self.segment[:, None]
        pull = (
            self.tension[:, None]
            * (stretch - 1 if self.linear else np.log(stretch) / stretch)
            / size
        )[..., None] * d
        a, b = d[:, :-1], d[:, 1:]
        moment = self.bending[:, None] * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
        pull[:, :-1] += moment[..., None] * np.stack([b[..., 1], -b[..., 0]], axis=2)
        pull[:, 1:] += moment[..., None] * np.stack([-a[..., 1], a[..., 0]], axis=2)
        f[:, :n] += pull
        f[:, 1 : n + 1] -= pull
        return f

    def rates(self, y: np.ndarray) -> np.ndarray:
        """(q̇, q̈)."""
        q, v = np.split(y, 2, axis=1)
        r, J, bias = self.nodes(q, v)
        f = self.forces(r) - self.m @ bias
        each = [(J[:, :, d].transpose(0, 2, 1), J[:, :, d], f[:, :, d, None]) for d in range(2)]
        M = sum(Jt @ (self.m @ Jd) for Jt, Jd, _ in each)
        Q = sum(Jt @ fd for Jt, _, fd in each)
        return np.concatenate([v, np.linalg.solve(M, Q)[..., 0]], axis=1)

    def run(self, duration: float, step: float) -> tuple[dict[str, np.ndarray], dict[str, float]]:
        """Positions of points 1 and 2 at the end, and p ∂x₁/∂p for each parameter."""
        a, b = dop853_coefficients.A[:12, :12], dop853_coefficients.B
        y = np.concatenate([self.start, np.zeros_like(self.start)], axis=1)
        for _ in range(round(duration / step)):
            k: list[np.ndarray] = []
            for i in range(12):
                k.append(
                    self.rates(y + step * sum((a[i, j] * k[j] for j in range(i)), np.zeros_like(y)))
                )
            y = y + step * sum(weight * rate for weight, rate in zip(b, k, strict=True))
        r, _, _ = self.nodes(*np.split(y, 2, axis=1))
        derivatives = {
            p: float(r[k + 1, 0, 0].imag / TINY * self.nominal[p]) for k, p in enumerate(self.wrt)
        }
        return {"1": r[0, 0].real, "2": r[0, self.n].real}, derivatives


def _norm(d: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((d * d).sum(axis=-1)))


if __name__ == "__main__":  # modulus, step and duration
    modulus, step, duration = (float(x) for x in sys.argv[1:])
    print(FlexibleFiveBar(2, tuple(NOMINAL), E=modulus).run(duration, step))
    for formula, power in (("printed", 2), ("summed", -2)):
        print(formula, FlexibleFiveBar(2, ("L0",), E=modulus, power=power).run(duration, step)[1])
