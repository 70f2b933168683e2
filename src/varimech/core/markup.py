"""What is shown: tables and pictures as HTML in notebooks, with a promise that showing a thing
never fails; numbers of things in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from numbers import Real

MOST_ROWS = 40
"""Rows of a table that are shown."""


class Displayed:
    """A thing that notebooks show: `_display` says how; should that fail, its text is shown."""

    def _display(self) -> str:
        """HTML."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return shown(self, self._display)


def shown(thing: object, display: Callable[[], str]) -> str:
    """A thing as HTML; should that fail, its text is shown."""
    try:
        return display()
    # a cell whose computation went well must not end with an error of its picture
    except Exception:
        return html_text(repr(thing))


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table, of long ones the beginning; numbers to the right, with six digits."""
    cells = "".join(f"<tr>{''.join(_cell(x) for x in row)}</tr>" for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        cells += f'<tr><td colspan="{len(head)}">… {len(rows) - MOST_ROWS} more</td></tr>'
    heads = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>"


def html_text(text: str) -> str:
    """Text as it is."""
    return f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'


def html_heading(title: str, rest: str = "") -> str:
    """A title, and what is said beside it."""
    return f"<p><b>{escape(title)}</b>{f' · {escape(rest)}' if rest else ''}</p>"


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None or not isinstance(value, Real):
        return f'<td style="text-align:left">{escape("" if value is None else str(value))}</td>'
    return f'<td style="text-align:right">{float(value):.6g}</td>'


def counted(count: int, one: str, many: str) -> str:
    """A number of things in words."""
    return f"{count:,} {one if count == 1 else many}"
