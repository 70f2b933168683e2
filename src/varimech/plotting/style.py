"""Figures for papers: column width, 8 pt, distinguishable in grey, fonts kept as text.

No global setting of matplotlib is changed: sizes are set on the figure itself, and font embedding
while it is saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("paper",)
COLUMN, PAGE = 3.4, 7.0
"""Widths of a column and of a page (in), common in two-column journals."""
WIDE = 9.0
"""Wider figures (in) have panels side by side and take the page width."""
TEXT, SMALL = 8.0, 7.0
"""Font sizes (pt) of labels, and of ticks and legends."""
THIN = 0.9
"""Line width of curves (pt); others are thinned in proportion."""
LETTERS = 52
"""Characters of a legend that fit side by side in a column, at `SMALL`."""
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
"""Resolution of saved bitmaps (pixels per inch), usual for print."""
HATCHES = ("", "////", "....", "xxxx")
FONTS: dict[Any, object] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
"""Keep text as text in vector formats."""


def in_style(
    figure: Figure, style: str | None, *, resize: bool = True, titled: bool = False
) -> Figure:
    """Apply a style to a figure.

    Args:
        figure: the figure; it is changed.
        style: "paper", or None to leave the figure unchanged.
        resize: whether to resize it to the column or page width.
        titled: whether to keep the title, which a paper has in its caption.

    Raises:
        ModelError: for an unknown style.
    """
    if style is None:
        return figure
    if style not in STYLES:
        raise unknown_name("style", style, STYLES)
    from matplotlib.text import Text

    for ax in figure.axes:
        (_thin_curves if _has_curves(ax) else _thin_drawing)(ax)
        # also sets ticks that matplotlib creates later
        ax.tick_params(labelsize=SMALL, width=0.5, length=2.5, labelfontfamily=FAMILY)
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
    """Whether the axes show curves rather than a drawing."""
    return ax.name == "rectilinear" and ax.get_aspect() == "auto" and ax.axison


def _thin_curves(ax: Axes) -> None:
    """Give each curve its own dashes, and each set of bars its own hatching, in addition to
    colours.
    """
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
    if ax.name == "3d":  # label distances do not scale with the font
        ax.tick_params(pad=-3)
        space: Any = ax
        for axis in (space.xaxis, space.yaxis, space.zaxis):
            axis.labelpad = -5
            axis.line.set_linewidth(0.5)


def _fit(figure: Figure) -> None:
    """Resize to the width of a column or of the page; in a column, legends beside curves move above
    them.
    """
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
    """Move a legend above its curves if the figure is narrow; returns the number of rows it takes
    there.
    """
    from matplotlib.lines import Line2D

    legend = ax.get_legend()
    if legend is None:
        return 0
    handles, labels = ax.get_legend_handles_labels()
    if narrow and legend.get_bbox_to_anchor().x0 >= ax.bbox.x1 - 1:
        columns = _columns(labels)
        options: dict[str, object] = {
            "frameon": False,
            "fontsize": SMALL,
            "handlelength": 2.2,
            "columnspacing": 1.0,
            "borderaxespad": 0.1,
        }
        ax.legend(
            handles, labels, ncols=columns, loc="lower left", bbox_to_anchor=(0.0, 1.0), **options
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
        """Saves with fonts as text, in a resolution for print."""

        def print_figure(self, *args: Any, **options: Any) -> Any:
            if options.get("dpi") in (None, "figure"):
                options["dpi"] = PIXELS
            with rc_context(FONTS):
                return super().print_figure(*args, **options)

    PaperCanvas(figure)
