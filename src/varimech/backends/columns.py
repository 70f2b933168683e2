"""Columns in C: what is the same straight-line code for every parameter, or every objective, for
several of them at a time.

A column function has arguments that all columns share, and after them those of each column, on
which its results depend linearly. Its C text is taken over with vectors of the processor in place
of numbers, one entry a column, for everything that differs between columns; what does not is
computed once. What belongs to columns stands by rows, filled up with zeros to whole vectors.
"""

from __future__ import annotations

import re

import casadi as ca

from ..stages.plan import lanes, row_length

# statements as CasADi writes them
GIVEN = re.compile(r"\s*a(\d+)=arg\[(\d+)\]\? arg\[\d+\]\[(\d+)\] : 0;").fullmatch
MADE = re.compile(r"\s*a(\d+)=(.*);").fullmatch
PUT = re.compile(r"\s*if \(res\[(\d+)\]!=0\) res\[\d+\]\[(\d+)\]=a(\d+);").fullmatch
REGISTERS = re.compile(r"\ba(\d+)\b").sub
VECTOR = re.compile(r"\bv\d").search


def column_source(column: ca.Function, columns: int, shared: int, width: int | None = None) -> str:
    """A C function of the column function's name, for all columns.

    Args:
        column: the column function.
        columns: number of columns.
        shared: its leading arguments that all columns have in common.
        width: columns in a vector, as many as the processor's vectors have if not given; 1 for
            plain numbers, in rows without padding, as a GPU has them.
    """
    generator = ca.CodeGenerator("column", {"with_header": False, "casadi_int": "long long int"})
    generator.add(column)
    found = re.search(
        r"static int casadi_f0\(.*?\{\n(.*?)\n  return 0;\n\}", generator.dump(), re.DOTALL
    )
    assert found, "CasADi's generated code has changed"
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
{_in_vectors(found[1], shared, blocks)}
  }}
  return 0;
}}
"""


def _in_vectors(body: str, shared: int, blocks: int) -> str:
    """Generated statements, with each register as a number (a…) or a vector (v…), whichever it
    holds at the time.
    """
    kinds: dict[str, str] = {}
    lines: list[str] = []

    def named(register: re.Match[str]) -> str:
        return kinds[register[1]] + register[1]

    def assign(register: str, kind: str, expression: str) -> None:
        kinds[register] = kind
        lines.append(f"{kind}{register}={expression};")

    for line in body.splitlines():
        if given := GIVEN(line):
            register, argument, entry = given.groups()
            if int(argument) < shared:
                assign(register, "a", f"arg[{argument}][{entry}]")
            else:
                assign(register, "v", f"x{argument}[{entry} * {blocks}]")
        elif made := MADE(line):
            expression = REGISTERS(named, made[2])
            if VECTOR(expression):
                assign(
                    made[1], "v", _without_calls(expression) if "(" in expression else expression
                )
            else:
                assign(made[1], "a", expression)
        elif put := PUT(line):
            value = f"v{put[3]}" if kinds[put[3]] == "v" else f"zero+a{put[3]}"
            lines.append(f"y{put[1]}[{put[2]} * {blocks}]={value};")
        else:
            assert "casadi_real a" in line, f"CasADi's generated code has changed: {line}"
    assigned = {line[: line.index("=")] for line in lines}
    types = {"a": "double", "v": "vector"}
    used = {kind: sorted(name for name in assigned if name[0] == kind) for kind in types}
    head = [f"{types[kind]} {', '.join(names)};" for kind, names in used.items() if names]
    return "\n".join([*head, *lines])


def _without_calls(expression: str) -> str:
    """What vectors can do: no functions, but squares and choices."""
    expression = re.sub(r"casadi_sq\((\w+)\)", r"(\1*\1)", expression)
    expression = re.sub(r"\?(v\d+):0\)", r"?\1:zero)", expression)
    assert not re.search(r"\w\(", expression), f"{expression}: columns are not linear"
    return expression


def all_columns(column: ca.Function, columns: int, shared: int) -> ca.Function:
    """The same for all columns as one function, to be interpreted: what belongs to columns stands
    by rows.
    """
    common = [ca.SX.sym("c", column.sparsity_in(k)) for k in range(shared)]
    own = [
        ca.SX.sym("x", row_length(columns), column.numel_in(k))
        for k in range(shared, column.n_in())
    ]
    found = [column.call([*common, *[x[k, :].T for x in own]]) for k in range(row_length(columns))]
    results = [ca.vertcat(*[ca.vec(f[i]).T for f in found]) for i in range(column.n_out())]
    return ca.Function(column.name(), [*common, *own], results)
