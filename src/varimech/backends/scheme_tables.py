"""The coefficients of an explicit integrator as the driver of compiled programs reads them."""

from __future__ import annotations

import ctypes

import numpy as np

from ..integrators.runge_kutta import Rows, RungeKutta

MATRICES = ("a", "b", "c", "error", "second_error", "more", "more_c", "dense")


class _Record(ctypes.Structure):
    """`vm_scheme` of chain.c."""

    _fields_ = [
        *[(name, ctypes.c_longlong) for name in ("stages", "extra", "degree")],
        *[(name, ctypes.c_void_p) for name in MATRICES],
        ("error_order", ctypes.c_double),
    ]


class SchemeTables:
    """The record of a scheme, and the arrays it points to; the interpreted backend reads the same
    arrays.
    """

    def __init__(self, scheme: RungeKutta):
        s, stages, extra = scheme, len(scheme.b), len(scheme.extra)
        self.stages, self.extra, self.error_order = stages, extra, s.error_order
        self.a = _filled(s.a, stages)
        self.b, self.c = np.array(s.b), np.array(s.c)
        self.error = np.array(s.error)
        self.second_error = np.array(s.second_error)
        self.more = _filled(s.extra, stages + 1 + extra)
        self.more_c = np.array([sum(row) for row in s.extra])
        self.dense = np.array(s.dense)
        arrays = [getattr(self, name) for name in MATRICES]
        degree = self.dense.shape[1] if self.dense.size else 0
        pointers = [a.ctypes.data if a.size else None for a in arrays]
        self._record = _Record(stages, extra, degree, *pointers, float(s.error_order))

    @property
    def address(self) -> int:
        """Address of the record."""
        return ctypes.addressof(self._record)


def _filled(rows: Rows, width: int) -> np.ndarray:
    """Pad rows with zeros."""
    return np.array([[*row, *[0.0] * (width - len(row))] for row in rows]).reshape(len(rows), width)
