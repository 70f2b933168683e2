"""Tables and pictures as HTML for notebooks, with the guarantee that displaying an object never
fails; counts in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from numbers import Real

MOST_ROWS = 40
"""Largest number of rows that are shown of a table."""


class Displayed:
    """An object that notebooks display: `_display` returns its HTML; if that fails, its `repr` is
    shown.
    """

    def _display(self) -> str:
        """Return the HTML."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return shown(self, self._display)


def shown(thing: object, display: Callable[[], str]) -> str:
    """Return an object as HTML, or its `repr` if that fails."""
    try:
        return display()
    # a cell whose computation went well must not end with an error of its picture
    except Exception:
        return html_text(repr(thing))


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an HTML table with at most `MOST_ROWS` rows; numbers are right-aligned, with six
    digits.
    """
    cells = "".join(f"<tr>{''.join(_cell(x) for x in row)}</tr>" for row in rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        cells += f'<tr><td colspan="{len(head)}">… {len(rows) - MOST_ROWS} more</td></tr>'
    heads = "".join(f"<th>{escape(h)}</th>" for h in head)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>"


def html_text(text: str) -> str:
    """Return preformatted text."""
    return f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'


def html_heading(title: str, rest: str = "") -> str:
    """Return a bold title followed by further text."""
    return f"<p><b>{escape(title)}</b>{f' · {escape(rest)}' if rest else ''}</p>"


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None or not isinstance(value, Real):
        return f'<td style="text-align:left">{escape("" if value is None else str(value))}</td>'
    return f'<td style="text-align:right">{float(value):.6g}</td>'


def counted(count: int, one: str, many: str) -> str:
    """Return a count with the singular or plural of its noun."""
    return f"{count:,} {one if count == 1 else many}"
