"""Trees as text with line drawing; repeated branches are abbreviated, so that large trees stay
short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

RUN = 6
"""Longest sequence of equal nodes that is shown in full; a round value."""
LINES, LEVELS = 60, 20
"""Number of lines, and of levels, beyond which nodes are only counted: about one screen."""


@dataclass(frozen=True)
class Branch:
    """A node of a tree with its parent."""

    node: str
    parent: str
    label: str
    """Connection to the parent."""
    kind: str
    """Nodes of the same kind are interchangeable."""
    note: str = ""


@dataclass(frozen=True)
class _Row:
    tree: str
    label: str = ""
    note: str = ""
    nodes: int = 1
    """Number of nodes that the row represents."""


def outline(branches: Sequence[Branch]) -> list[str]:
    """Text of one or more trees, one line for each node.

    Long sequences (chains of equal nodes, or neighbours with equal branches) are abbreviated to
    their ends.

    Args:
        branches: the nodes, parents before their children; the parent of a root is "".
    """
    rows: list[_Row] = []
    remaining = len(branches)
    for row in _Tree(branches).rows(""):
        if len(rows) == LINES:
            rows.append(_Row(f"⋮ {remaining} more"))
            break
        rows.append(row)
        remaining -= row.nodes
    first, second = (
        max(len(text) for text in column)
        for column in zip(*[(r.tree, r.label) for r in rows if r.label], strict=True)
    )
    return [
        f"{r.tree:{first}}  {r.label:{second}}  {r.note}".rstrip() if r.label else r.tree
        for r in rows
    ]


class _Tree:
    """Equal branches of a tree, determined without recursion, because chains may be long."""

    def __init__(self, branches: Sequence[Branch]):
        self.children: dict[str, list[Branch]] = {"": [], **{b.node: [] for b in branches}}
        for b in branches:
            self.children[b.parent].append(b)
        self.size: dict[str, int] = {}
        self.shape: dict[str, int] = {}
        """Number of the shape of each branch; equal branches have equal numbers."""
        self.end: dict[str, tuple[int, Branch]] = {}
        """End of the chain that contains a node, in which each node is equal to the previous one
        and its only child: distance and node.
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
        """Lines below a node; the first `shown` nodes of the chain that continues
        there are above.
        """
        here = self.children[node]
        if level == LEVELS and here:
            count = sum(self.size[b.node] for b in here)
            yield _Row(f"{prefix}└─ ⋮ {count} more", nodes=count)
        elif shown == 2 and (steps := self.end[here[0].node][0]) > RUN - 3:
            yield _Row(f"{prefix}└─ ⋮ {steps} more, each connected to the one before", nodes=steps)
            yield from self._branch(self.end[here[0].node][1], prefix + "   ", level + 1, last=True)
        else:
            while here:
                shape = self.shape[here[0].node]
                equal = next(
                    (k for k, b in enumerate(here) if self.shape[b.node] != shape), len(here)
                )
                row, here = here[:equal], here[equal:]
                for b in row if equal <= RUN else row[:2]:
                    yield from self._branch(b, prefix, level, shown, last=not here and b is row[-1])
                if equal > RUN:
                    lead = "├─ " if level else ""
                    yield _Row(
                        f"{prefix}{lead}⋮ {equal - 3} more like these",
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
