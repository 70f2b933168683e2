"""Trees as text, drawn with lines; what is alike is told once, so that large ones stay short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RUN = 6
"""Longest row of alike nodes that is written out."""
LINES, LEVELS = 60, 20
"""Lines and levels after which the rest is counted only."""


@dataclass(frozen=True)
class Branch:
    """A node of a tree and what it hangs on."""

    node: str
    parent: str
    label: str
    """How it hangs there."""
    kind: str
    """Nodes of one kind are alike."""
    note: str = ""


@dataclass(frozen=True)
class _Row:
    tree: str
    label: str = ""
    note: str = ""
    nodes: int = 1
    """How many it stands for."""


def outline(branches: Sequence[Branch]) -> list[str]:
    """A tree or several, one line a node; parents come before their children, and that of a root is
    "".

    Long rows, of nodes that each carry the next or of neighbours with equal branches, are shortened
    to their ends.
    """
    rows: list[_Row] = []
    left = len(branches)
    for row in _Tree(branches).rows(""):
        if len(rows) == LINES:
            rows.append(_Row(f"⋮ {left} more"))
            break
        rows.append(row)
        left -= row.nodes
    first, second = (
        max(len(text) for text in column)
        for column in zip(*[(r.tree, r.label) for r in rows if r.label], strict=True)
    )
    return [
        f"{r.tree:{first}}  {r.label:{second}}  {r.note}".rstrip() if r.label else r.tree
        for r in rows
    ]


def shortened(texts: Sequence[str], most: int) -> list[str]:
    """The first and the last of many, and how many there are between them."""
    if len(texts) <= most:
        return list(texts)
    ends = (most - 1) // 2
    return [
        *texts[: most - 1 - ends],
        f"⋮ {len(texts) - most + 1} more",
        *texts[len(texts) - ends :],
    ]


class _Tree:
    """Which nodes are alike. Found from the leaves to the root and back without recursion: chains
    may be long.
    """

    def __init__(self, branches: Sequence[Branch]):
        self.children: dict[str, list[Branch]] = {"": [], **{b.node: [] for b in branches}}
        for b in branches:
            self.children[b.parent].append(b)
        self.size: dict[str, int] = {}
        self.shape: dict[str, int] = {}
        """Equal for equal branches."""
        self.end: dict[str, tuple[int, Branch]] = {}
        """Of the row of alike nodes, each the only child of the one before, that goes on here: how
        far away, and which.
        """
        shapes: dict[tuple[str, tuple[int, ...]], int] = {}
        for b in reversed(branches):
            here = self.children[b.node]
            self.size[b.node] = 1 + sum(self.size[c.node] for c in here)
            self.shape[b.node] = shapes.setdefault(
                (b.kind, tuple(self.shape[c.node] for c in here)), len(shapes)
            )
            self.end[b.node] = (0, b)
            if len(here) == 1 and here[0].kind == b.kind:
                steps, last = self.end[here[0].node]
                self.end[b.node] = (steps + 1, last)

    def rows(self, node: str, prefix: str = "", level: int = 0, shown: int = 0) -> Iterator[_Row]:
        """Lines below a node; `shown` nodes of the row that goes on there stand above."""
        here = self.children[node]
        if level == LEVELS and here:
            count = sum(self.size[b.node] for b in here)
            yield _Row(f"{prefix}└─ ⋮ {count} more", nodes=count)
        elif shown == 2 and (steps := self.end[here[0].node][0]) > RUN - 3:
            yield _Row(f"{prefix}└─ ⋮ {steps} more, each on the one before", nodes=steps)
            yield from self._branch(self.end[here[0].node][1], prefix + "   ", level + 1, last=True)
        else:
            while here:
                shape = self.shape[here[0].node]
                alike = next(
                    (k for k, b in enumerate(here) if self.shape[b.node] != shape), len(here)
                )
                row, here = here[:alike], here[alike:]
                for b in row if alike <= RUN else row[:2]:
                    yield from self._branch(b, prefix, level, shown, last=not here and b is row[-1])
                if alike > RUN:
                    lead = "├─ " if level else ""
                    yield _Row(
                        f"{prefix}{lead}⋮ {alike - 3} more like these",
                        nodes=sum(self.size[b.node] for b in row[2:-1]),
                    )
                    yield from self._branch(row[-1], prefix, level, last=not here)

    def _branch(
        self, b: Branch, prefix: str, level: int, shown: int = 0, *, last: bool
    ) -> Iterator[_Row]:
        lead, beyond = ("", "") if level == 0 else ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield _Row(f"{prefix}{lead}{b.node}", b.label, b.note)
        goes_on = self.end[b.node][0] > 0
        yield from self.rows(b.node, prefix + beyond, level + 1, shown + 1 if goes_on else 0)
