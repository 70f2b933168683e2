"""Tables, lists and sections as HTML; every text is escaped here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..plotting.table import is_written_number
from ..web.encoding import escaped, printed


def table(head: Sequence[str], rows: Sequence[Sequence[object]], *, digits: int = 6) -> str:
    """A table as HTML, words left-aligned and numbers right-aligned."""
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
        f'<div class="table"><table style="--columns:{len(head)}">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def facts(pairs: Mapping[str, object]) -> str:
    """Names with their values, as a list."""
    return (
        '<dl class="facts">'
        + "".join(
            f"<div><dt>{escaped(k)}</dt><dd>{escaped(v)}</dd></div>" for k, v in pairs.items()
        )
        + "</dl>"
    )


def section(key: str, heading: str, *parts: str, lead: str = "") -> str:
    """A section of the page with its heading."""
    lead_html = f'<p class="lead">{escaped(lead)}</p>' if lead else ""
    return f'<section id="{key}"><h2>{escaped(heading)}</h2>{lead_html}{"".join(parts)}</section>'


def note(text: str) -> str:
    """A remark; empty for an empty text."""
    return f'<p class="note">{escaped(text)}</p>' if text else ""


def grid(*parts: str, small: bool = False) -> str:
    """Parts side by side where the page is wide enough; small ones need less width."""
    return f'<div class="grid{" small" if small else ""}">{"".join(parts)}</div>'


def folded(summary: str, *parts: str) -> str:
    """Parts that are shown on demand."""
    return f"<details><summary>{escaped(summary)}</summary>{''.join(parts)}</details>"
