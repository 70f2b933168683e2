"""The page of a studio: with links to its scripts for the server, or self-contained for notebooks."""

from __future__ import annotations

from string import Template

from ..web.modules import asset, in_one

ENTRY = "studio.js"
STYLES = ("style.css", "studio.css")
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src'
    " 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">"
)


def linked_page() -> str:
    """The page with links to scripts and styles on its server."""
    links = "\n".join(f'<link rel="stylesheet" href="{name}">' for name in STYLES)
    return _page(links, f'<script type="module" src="{ENTRY}"></script>')


def whole_page() -> str:
    """The self-contained page, without any links."""
    styles = "\n".join(asset(name) for name in STYLES)
    head = f"{POLICY}\n<style>\n{styles}\n</style>"
    return _page(head, f'<script type="module">\n{in_one(ENTRY)}\n</script>')


def _page(styles: str, script: str) -> str:
    motion = Template(asset("motion.html")).substitute(name="the mechanism", warning="", sigmas="3")
    return Template(asset("studio.html")).substitute(motion=motion, styles=styles, script=script)
