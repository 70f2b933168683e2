"""Figures fit for a paper, from those for a screen: as wide as a column, 8 pt, told apart in grey,
fonts kept as text.

No setting of matplotlib is changed for good: sizes are set on the figure itself, and how fonts are
embedded while it is saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("paper",)
COLUMN, PAGE = 3.4, 7.0
"""Widths of a column and of a page (in)."""
WIDE = 9.0
"""Figures that are wider than this have panels side by side, and take the page."""
TEXT, SMALL = 8.0, 7.0
"""Points: labels; ticks and legends."""
THIN = 0.9
"""Of curves; others are thinned in proportion."""
LETTERS = 52
"""Of a legend that go beside each other in a column."""
FAMILY = ["STIXGeneral", "DejaVu Serif"]
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1.2, 1.5)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (8, 3)),
)
PIXELS = 300
"""An inch."""
HATCHES = ("", "////", "....", "xxxx")
FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
"""Text stays text."""


def in_style(
    figure: Figure, style: str | None, *, resize: bool = True, titled: bool = False
) -> Figure:
    """The figure as it is, or as `style` wants it; what a caption tells is left out of it, unless
    its title was asked for.
    """
    if style is None:
        return figure
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    from matplotlib.text import Text

    for ax in figure.axes:
        (_thin_curves if _has_curves(ax) else _thin_drawing)(ax)
        ax.tick_params(
            labelsize=SMALL, width=0.5, length=2.5, labelfontfamily=FAMILY
        )  # also of ticks that are yet to come
    if not titled and figure.get_suptitle():
        figure.suptitle("")
    if resize:
        _fit(figure)
    for text in figure.findobj(Text):
        text.set_fontfamily(FAMILY)
        text.set_fontsize(min(text.get_fontsize(), TEXT))
    _keep_text(figure)
    return figure


def _has_curves(ax: Axes) -> bool:
    """Whether it shows curves over an axis, and not things in space."""
    return ax.name == "rectilinear" and ax.get_aspect() == "auto" and ax.axison


def _thin_curves(ax: Axes) -> None:
    """Each curve dashed in a way of its own, where colours alone told them apart."""
    from matplotlib.container import BarContainer

    solid = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 0]  # type: ignore[arg-type]
    for k, line in enumerate(solid):
        line.set_linestyle(DASHES[k % len(DASHES)])
    for line in ax.lines:
        line.set_linewidth(min(THIN, line.get_linewidth()))
        line.set_markersize(0.6 * line.get_markersize())
    for k, bars in enumerate(c for c in ax.containers if isinstance(c, BarContainer)):
        for bar in bars:
            bar.set(hatch=HATCHES[k % len(HATCHES)], edgecolor="black", linewidth=0.4)
    for spine in ax.spines.values():
        spine.set_linewidth(0.5)
    for grid in (*ax.get_xgridlines(), *ax.get_ygridlines()):
        grid.set_linewidth(0.3)


def _thin_drawing(ax: Axes) -> None:
    for line in ax.lines:
        line.set_linewidth(0.55 * line.get_linewidth())
        line.set_markersize(0.55 * line.get_markersize())
        line.set_markeredgewidth(0.6)
    if ax.name == "3d":  # distances of labels do not shrink by themselves
        ax.tick_params(pad=-3)
        space: Any = ax
        for axis in (space.xaxis, space.yaxis, space.zaxis):
            axis.labelpad = -5
            axis.line.set_linewidth(0.5)


def _fit(figure: Figure) -> None:
    """To the width of a column or of the page; in a column legends beside curves go above them."""
    width, height = figure.get_size_inches()
    wide = PAGE if width > WIDE else COLUMN
    rows = sum(_fit_legend(ax, narrow=wide == COLUMN) for ax in figure.axes)
    for legend in list(figure.legends) if wide == COLUMN else ():
        labels = [text.get_text() for text in legend.get_texts()]
        columns, handles = _columns(labels), [h for h in legend.legend_handles if h is not None]
        legend.remove()
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=SMALL,
            columnspacing=1.0,
        )
        rows += -(-len(labels) // columns)
    stretch = 1.25 if all(_has_curves(ax) for ax in figure.axes) else 1.0
    figure.set_size_inches(wide, stretch * height * wide / width + 0.13 * rows)


def _fit_legend(ax: Axes, *, narrow: bool) -> int:
    """Rows that a legend takes above its curves."""
    from matplotlib.lines import Line2D

    legend = ax.get_legend()
    if legend is None:
        return 0
    handles, labels = ax.get_legend_handles_labels()
    if narrow and legend.get_bbox_to_anchor().x0 >= ax.bbox.x1 - 1:
        columns = _columns(labels)
        look: dict[str, Any] = {
            "frameon": False,
            "fontsize": SMALL,
            "handlelength": 2.2,
            "columnspacing": 1.0,
            "borderaxespad": 0.1,
        }
        ax.legend(
            handles, labels, ncols=columns, loc="lower left", bbox_to_anchor=(0.0, 1.0), **look
        )
        return -(-len(labels) // columns)
    for shown, curve in zip(legend.legend_handles, handles, strict=False):
        if isinstance(shown, Line2D) and isinstance(curve, Line2D):
            shown.set(
                linestyle=curve.get_linestyle(),
                linewidth=curve.get_linewidth(),
                markersize=curve.get_markersize(),
            )
    return 0


def _columns(labels: list[str]) -> int:
    return max(1, min(len(labels), LETTERS // (max(map(len, labels)) + 7)))


def _keep_text(figure: Figure) -> None:
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    class PaperCanvas(FigureCanvasAgg):
        """Saves with fonts as text, and pixels fine enough for print."""

        def print_figure(self, *args: Any, **how: Any) -> Any:
            if how.get("dpi") in (None, "figure"):
                how["dpi"] = PIXELS
            with rc_context(FONTS):
                return super().print_figure(*args, **how)

    PaperCanvas(figure)
