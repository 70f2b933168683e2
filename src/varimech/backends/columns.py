"""Tangents in C: derivatives for several parameters at a time, in vectors of the processor.

A tangent is the same straight-line code for every parameter, (coefficients, state', ρ') → result'. Its C text is taken over with vectors in
place of numbers, one entry a parameter. Derivatives stand by rows, filled up with zeros to whole vectors.
"""

from __future__ import annotations

import re

import casadi as ca
import numpy as np

LARGEST = 8
"""Numbers in a vector: as many as the widest registers hold. Compilers split it for processors with shorter ones."""


def lanes(parameters: int) -> int:
    """Numbers in a vector, for so many parameters: a power of two."""
    return min(LARGEST, 1 << max(0, parameters - 1).bit_length())


def row_length(parameters: int) -> int:
    """Length of a row of derivatives."""
    return -(-parameters // lanes(parameters)) * lanes(parameters)


def seeds(parameters: int) -> np.ndarray:
    """ρ': the identity, by rows."""
    return np.eye(parameters, row_length(parameters))


def tangent_source(column: ca.Function, parameters: int) -> str:
    """A C function of the tangent's name:  arguments coefficients, state', ρ';  result result'."""
    generator = ca.CodeGenerator("tangent", {"with_header": False, "casadi_int": "long long int"})
    generator.add(column)
    found = re.search(r"static int casadi_f0\(.*?\{\n(.*?)\n  return 0;\n\}", generator.dump(), re.DOTALL)
    assert found, "CasADi's generated code has changed"
    width, blocks = lanes(parameters), row_length(parameters) // lanes(parameters)
    body = found[1].replace("casadi_real", "vector")
    body = re.sub(r"arg\[0\]\? arg\[0\]\[(\d+)\] : 0", r"EACH(c[\1])", body)
    body = re.sub(r"arg\[([12])\]\? arg\[\1\]\[(\d+)\] : 0", rf"x\1[\2 * {blocks}]", body)
    body = re.sub(r"if \(res\[0\]!=0\) res\[0\]\[(\d+)\]", rf"y[\1 * {blocks}]", body)
    body = re.sub(r"(\w+)=(-?[\d.]+(?:e[-+]?\d+)?);", r"\1=EACH(\2);", body)
    name = column.name()
    return f"""
static int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{
  typedef double vector __attribute__((vector_size({8 * width}), aligned(8)));
#define EACH(x) ((vector){{{", ".join(["x"] * width)}}})
  const double *c = arg[0];
  for (int block = 0; block < {blocks}; ++block) {{
    const vector *x1 = (const vector *)arg[1] + block, *x2 = (const vector *)arg[2] + block;
    vector *y = (vector *)res[0] + block;
{body}
  }}
  return 0;
#undef EACH
}}
"""


def all_columns(column: ca.Function, parameters: int) -> ca.Function:
    """The same for all parameters as one function, to be interpreted:  (coefficients, state', ρ') → result', by rows."""
    c = ca.SX.sym("c", column.numel_in(0))
    S = ca.SX.sym("S", row_length(parameters), column.numel_in(1))
    e = ca.SX.sym("e", row_length(parameters), parameters)
    slopes = [column(c, S[k, :].T, e[k, :].T).T for k in range(row_length(parameters))]
    return ca.Function(column.name(), [c, S, e], [ca.vertcat(*slopes)])
