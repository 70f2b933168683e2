"""Tables, lists and sections as HTML; every text is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..plotting.table import is_written_number
from .encoding import escaped, printed


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], *, digits: int = 6) -> str:
    """Words to the left and numbers to the right."""
    right = [
        bool(rows)
        and any(is_written_number(row[k]) for row in rows)
        and all(row[k] is None or is_written_number(row[k]) for row in rows)
        for k in range(len(head))
    ]
    kind = ['class="num"' if r else "" for r in right]
    heads = "".join(
        f'<th scope="col" {k}>{escaped(h)}</th>' for h, k in zip(head, kind, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td {k}>{escaped(printed(cell, digits))}</td>"
            for cell, k in zip(row, kind, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        '<div class="table"><table'
        f' style="--columns:{len(head)}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def facts(pairs: Mapping[str, Any]) -> str:
    """Names and what they are."""
    return (
        '<dl class="facts">'
        + "".join(
            f"<div><dt>{escaped(k)}</dt><dd>{escaped(v)}</dd></div>" for k, v in pairs.items()
        )
        + "</dl>"
    )


def section(key: str, heading: str, *parts: str, lead: str = "") -> str:
    """A part of the page with its heading."""
    said = f'<p class="lead">{escaped(lead)}</p>' if lead else ""
    return f'<section id="{key}"><h2>{escaped(heading)}</h2>{said}{"".join(parts)}</section>'


def note(text: str) -> str:
    """A remark on what is shown; nothing for none."""
    return f'<p class="note">{escaped(text)}</p>' if text else ""


def grid(*parts: str, small: bool = False) -> str:
    """Side by side where there is room; small ones need less."""
    return f'<div class="grid{" small" if small else ""}">{"".join(parts)}</div>'


def folded(summary: str, *parts: str) -> str:
    """Shown when asked for."""
    return f"<details><summary>{escaped(summary)}</summary>{''.join(parts)}</details>"
