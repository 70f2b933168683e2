"""C code of the maps of plans for vectors of samples: the loops of plan_tables.py with a vector in
place of every number, in which each sample has one entry.

A map has the arguments of `VM_LANE_MAP` in lane_plans.c. Constants of a plan are numbers, the same
for all samples; which ports read them is known only when a plan is executed.
"""

from __future__ import annotations

from ..stages.plan import Map, Mode, Port

ARGUMENTS = (
    "long long count, long long width, long long columns, const vm_port *ports,"
    " vm_vector *const *bases, const double *constants, const int *const *tables, vm_vector *w"
)
PORT = "typedef struct { long long base, offset, table; } vm_port;"


def lane_map(name: str, kernel: str, operation: Map) -> str:
    """Return the C text of one map; all its sizes except the length of a row are constants."""
    inputs, outputs = operation.inputs, operation.outputs
    shared = len(inputs) + len(outputs) if operation.shared is None else operation.shared
    begin, once, each, after = list[str](), list[str](), list[str](), list[str]()
    for k, port in enumerate((*inputs, *outputs)):
        reading = k < len(inputs)
        begin.append(f"vm_vector *p{k} = bases[ports[{k}].base] + ports[{k}].offset;")
        if port.table is not None:
            begin.append(f"const int *t{k} = tables[ports[{k}].table];")
        gather = once if k < shared else each
        in_place = (port.table is None or port.adjacent) and k < shared
        if reading:
            numbers = (
                f"const double *k{k} = ports[{k}].base == 1 ? constants + ports[{k}].offset : 0;"
            )
            begin.append(numbers)
            gather += _read(k, port, columns=k >= shared, in_place=in_place)
        elif in_place and port.mode == Mode.SET:
            gather.append(f"vm_vector *b{k} = p{k} + {_first(k, port)};")
        else:
            gather.append(f"vm_vector b{k}[{port.rows}];")
            after.append(_write(k, port, columns=k >= shared))
    arguments = ", ".join(f"b{k}" for k in range(len(inputs))) or "0"
    results = ", ".join(f"b{len(inputs) + k}" for k in range(len(outputs)))
    call = [
        f"const vm_vector *const arg[] = {{{arguments}}};",
        f"vm_vector *const res[] = {{{results}}};",
        f"{kernel}(arg, res, w);",
    ]
    body = "\n      ".join([*each, *call, *after])
    return "\n  ".join(
        [
            f"static void {name}({ARGUMENTS}) {{",
            *begin,
            "for (long long e = 0; e < count; ++e) {",
            *[f"  {line}" for line in once],
            f"  for (long long c = 0; c < columns; ++c) {{\n      {body}\n    }}",
            "}\n}",
        ]
    )


def _first(k: int, port: Port) -> str:
    """Return the index of the first row of an element."""
    if port.table is not None:
        return f"t{k}[e * {port.rows}]"
    return "0" if port.same else f"e * {port.rows}"


def _row(k: int, port: Port) -> str:
    """Return the index of row r of an element."""
    if port.table is not None:
        return f"t{k}[e * {port.rows} + r]"
    return "r" if port.same else f"(e * {port.rows} + r)"


def _read(k: int, port: Port, *, columns: bool, in_place: bool) -> list[str]:
    place = f"{_row(k, port)} * width + c" if columns else _row(k, port)
    loop = f"for (int r = 0; r < {port.rows}; ++r)"
    numbers = f"if (k{k}) {loop} g{k}[r] = vm_all(k{k}[{place}]);"
    if in_place:
        pointer = f"const vm_vector *b{k} = k{k} ? g{k} : p{k} + {_first(k, port)};"
        return [f"vm_vector g{k}[{port.rows}];", numbers, pointer]
    gather = f"{numbers} else {loop} g{k}[r] = p{k}[{place}];"
    return [f"vm_vector g{k}[{port.rows}];", gather, f"const vm_vector *b{k} = g{k};"]


def _write(k: int, port: Port, *, columns: bool) -> str:
    loop = f"for (int r = 0; r < {port.rows}; ++r)"
    if port.mode == Mode.LARGEST:
        return f"{loop} vm_largest_of_lanes(p{k}, b{k}[r]);"
    place = f"{_row(k, port)} * width + c" if columns else _row(k, port)
    return f"{loop} p{k}[{place}] {'+=' if port.mode == Mode.ADD else '='} b{k}[r];"
