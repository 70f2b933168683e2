"""Results as widgets of notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.errors import ModelError
from ..reports.page import Reported, framed_page, mechanism_of

if TYPE_CHECKING:
    from .result_view import ResultView


def widget(*results: Reported, show: Mapping[str, object] | None = None) -> ResultView:
    """Show results in a notebook: the moving mechanism with plots and tables.

    The same as a report, in the notebook. Front ends without widgets, such as notebooks on GitHub,
    show the pictures of the results instead. The extra `notebook` installs what it needs.

    Args:
        results: of one mechanism, at most one of each kind, as for `report`.
        show: outputs to plot and points whose paths are drawn, as for `report`.

    Returns:
        A widget with the traits `time` (s) and `playing`: set them to move the mechanism, or observe
        them. `time` follows the page whenever it does not play.

    Raises:
        ModelError: if a result is of another kind, or the package anywidget is missing.
    """
    view = need_widgets("vm.widget")
    return view(
        framed_page(results, show),
        mechanism_of(results[0]),
        "".join(result._repr_html_() for result in results),
    )


def need_widgets(what: str) -> type[ResultView]:
    """The class of result widgets.

    Raises:
        ModelError: if its package is not installed.
    """
    try:
        from .result_view import ResultView
    except ImportError:
        raise ModelError(
            f"{what} needs the package anywidget, which is not installed",
            remedy="pip install 'varimech[notebook]'",
        ) from None
    return ResultView
