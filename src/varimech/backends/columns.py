"""C code of column functions: straight-line code that is the same for every parameter, or every
objective, executed for several of them at a time.

A column function has arguments that all columns share, followed by those of each column, in which
its results are linear. In its C text, everything that differs between columns becomes a vector of
the processor, with one entry for each column; everything else is computed once. Values of columns
are stored by rows, filled up with zeros to whole vectors.
"""

from __future__ import annotations

import re

import casadi as ca

from ..core.symbols import for_writing
from ..stages.plan import lanes, row_length

# patterns of the statements that CasADi writes
READ = re.compile(r"\s*a(\d+)=arg\[(\d+)\]\? arg\[\d+\]\[(\d+)\] : 0;").fullmatch
ASSIGNED = re.compile(r"\s*a(\d+)=(.*);").fullmatch
WRITTEN = re.compile(r"\s*if \(res\[(\d+)\]!=0\) res\[\d+\]\[(\d+)\]=a(\d+);").fullmatch
REGISTERS = re.compile(r"\ba(\d+)\b").sub
VECTOR = re.compile(r"\bv\d").search


def column_source(column: ca.Function, columns: int, shared: int, width: int | None = None) -> str:
    """Return a C function of the column function's name, for all columns.

    Args:
        column: the column function.
        columns: number of columns.
        shared: number of its leading arguments that all columns share.
        width: number of columns in a vector, by default as many as the processor's vectors hold; 1
            for plain numbers in rows without padding, as on a GPU.
    """
    generator = ca.CodeGenerator("column", {"with_header": False, "casadi_int": "long long int"})
    generator.add(for_writing(column))
    body = re.search(
        r"static int casadi_f0\(.*?\{\n(.*?)\n  return 0;\n\}", generator.dump(), re.DOTALL
    )
    assert body, "CasADi's generated code has changed"
    width = lanes(columns) if width is None else width
    blocks = -(-columns // width)
    vector = f" __attribute__((vector_size({8 * width}), aligned(8)))" if width > 1 else ""
    arguments, results = range(shared, column.n_in()), range(column.n_out())
    own = [f"const vector *x{k} = (const vector *)arg[{k}] + block;" for k in arguments]
    own += [f"vector *y{k} = (vector *)res[{k}] + block;" for k in results]
    return f"""
static int {column.name()}(const double **arg, double **res, long long *iw, double *w, int mem) {{
  typedef double vector{vector};
  const vector zero = {{0}};
  for (int block = 0; block < {blocks}; ++block) {{
    {" ".join(own)}
{_in_vectors(body[1], shared, blocks)}
  }}
  return 0;
}}
"""


def _in_vectors(body: str, shared: int, blocks: int) -> str:
    """Return generated statements in which each register is a number (a…) or a vector (v…),
    according to its content at the time.
    """
    kinds: dict[str, str] = {}
    lines: list[str] = []

    def named(register: re.Match[str]) -> str:
        return kinds[register[1]] + register[1]

    def assign(register: str, kind: str, expression: str) -> None:
        kinds[register] = kind
        lines.append(f"{kind}{register}={expression};")

    for line in body.splitlines():
        if read := READ(line):
            register, argument, entry = read.groups()
            if int(argument) < shared:
                assign(register, "a", f"arg[{argument}][{entry}]")
            else:
                assign(register, "v", f"x{argument}[{entry} * {blocks}]")
        elif assignment := ASSIGNED(line):
            expression = REGISTERS(named, assignment[2])
            if VECTOR(expression):
                assign(
                    assignment[1],
                    "v",
                    _without_calls(expression) if "(" in expression else expression,
                )
            else:
                assign(assignment[1], "a", expression)
        elif written := WRITTEN(line):
            value = f"v{written[3]}" if kinds[written[3]] == "v" else f"zero+a{written[3]}"
            lines.append(f"y{written[1]}[{written[2]} * {blocks}]={value};")
        else:
            assert "casadi_real a" in line, f"CasADi's generated code has changed: {line}"
    assigned = {line[: line.index("=")] for line in lines}
    types = {"a": "double", "v": "vector"}
    used = {kind: sorted(name for name in assigned if name[0] == kind) for kind in types}
    head = [f"{types[kind]} {', '.join(names)};" for kind, names in used.items() if names]
    return "\n".join([*head, *lines])


def _without_calls(expression: str) -> str:
    """Replace the functions that vectors lack: squares and choices are written as operators."""
    expression = re.sub(r"casadi_sq\((\w+)\)", r"(\1*\1)", expression)
    expression = re.sub(r"\?(v\d+):0\)", r"?\1:zero)", expression)
    assert not re.search(r"\w\(", expression), f"{expression}: columns are not linear"
    return expression


def all_columns(column: ca.Function, columns: int, shared: int) -> ca.Function:
    """Return one function for all columns, for interpretation; values of columns are stored by
    rows.
    """
    common = [ca.SX.sym("c", column.sparsity_in(k)) for k in range(shared)]
    own = [
        ca.SX.sym("x", row_length(columns), column.numel_in(k))
        for k in range(shared, column.n_in())
    ]
    values = [column.call([*common, *[x[k, :].T for x in own]]) for k in range(row_length(columns))]
    results = [ca.vertcat(*[ca.vec(f[i]).T for f in values]) for i in range(column.n_out())]
    return ca.Function(column.name(), [*common, *own], results)
