"""Tables in CSV files: two columns, or a grid with y in its first row and x in its first column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from .errors import ModelError, unknown_name

LARGEST = 20_000_000
"""Largest file that is read (bytes): far more than a table may have values."""
Path_ = str | PathLike[str]


def read_columns(path: Path_, columns: Sequence[str | int]) -> tuple[np.ndarray, np.ndarray, None]:
    """Read two columns of a file, by names in its first row or by numbers."""
    if isinstance(columns, str) or len(columns) != 2:
        raise ModelError(
            "",
            element="table",
            field="columns",
            value=columns,
            remedy='give those of x and y: ("time", "lift")',
        )
    head, rows = _rows(path)
    places = [_place(path, column, head, len(rows[0][1])) for column in columns]
    x, y = (np.array([_number(path, line, row, k, head) for line, row in rows]) for k in places)
    return x, y, None


def read_grid(path: Path_) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Read a whole file: two columns, or a grid."""
    head, rows = _rows(path)
    count = len(rows[0][1])
    if count == 2:
        return read_columns(path, (0, 1))
    if count < 2:
        raise _invalid(path, f"line {rows[0][0]} has one column", "a table has x and y")
    names = head
    if head is None:
        (line, head), rows = rows[0], rows[1:]
    else:
        line = 1
    try:
        y = np.array([float(cell) for cell in head[1:]])
    except ValueError:
        remedy = f"choose two of {', '.join(head)} by columns=, or put numbers into the first row"
        raise _invalid(path, f"has {count} columns", remedy) from None
    if not rows:
        raise _invalid(path, f"has one row, line {line}", "a table has two or more")
    numbers = np.array(
        [[_number(path, at, row, k, names) for k in range(count)] for at, row in rows]
    )
    return numbers[:, 0], y, numbers[:, 1:]


def _rows(path: Path_) -> tuple[list[str] | None, list[tuple[int, list[str]]]]:
    """Return the column names, if there are any, and all other rows with their line numbers."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise _invalid(path, "is too large", f"at most {LARGEST:,} bytes are read")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _invalid(path, f"cannot be read: {error.strerror}", "give a CSV file") from None
    except UnicodeDecodeError:
        raise _invalid(path, "is not a text in UTF-8", "give a CSV file") from None
    lines = [
        (k, line)
        for k, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise _invalid(path, "is empty", "give a CSV file with the columns x and y")
    between = next((sign for sign in ";\t," if sign in lines[0][1]), None)
    rows = [(k, _cells(line, between)) for k, line in lines]
    wrong = next(((k, row) for k, row in rows if len(row) != len(rows[0][1])), None)
    if wrong is not None:
        problem = f"line {wrong[0]} has {len(wrong[1])} columns, the first {len(rows[0][1])}"
        raise _invalid(path, problem, "give all of them the same number")
    head = rows[0][1]
    if all(map(_is_number, head[1:])) and (_is_number(head[0]) or len(head) > 2):
        return None, rows
    if len(rows) == 1:
        raise _invalid(path, "has no row of numbers", "a table has two or more")
    return head, rows[1:]


def _cells(line: str, between: str | None) -> list[str]:
    if between is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=between))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _place(path: Path_, column: str | int, head: list[str] | None, count: int) -> int:
    if isinstance(column, str):
        if column not in (head or ()):
            raise unknown_name(f"column of {str(path)!r}", column, head or ())
        assert head is not None
        return head.index(column)
    if isinstance(column, bool) or not 0 <= column < count:
        known = f": {', '.join(head)}" if head else ""
        remedy = f"the first column is 0, the last one {count - 1}{known}"
        raise _invalid(path, f"has no column {column!r}", remedy)
    return column


def _number(path: Path_, line: int, row: list[str], k: int, head: list[str] | None) -> float:
    try:
        return float(row[k])
    except ValueError:
        remedy = "write a decimal point" if "," in row[k] else "give a number there"
        column = f"column {k + 1} of {len(row)}" if head is None else f"column {head[k]!r}"
        raise _invalid(path, f"line {line}, {column}: {row[k]!r} is not a number", remedy) from None


def _invalid(path: Path_, problem: str, remedy: str) -> ModelError:
    return ModelError(f"{str(path)!r} {problem}", element="table", remedy=remedy)
