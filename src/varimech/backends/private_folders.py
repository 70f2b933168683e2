"""Checks that files and folders are private: only this user (and the administrator) can change
them, or put others in their place.

A folder is private if it belongs to this user, no one else may write to it, and nobody can replace
one of the folders above it. For that, each folder above belongs to this user or the administrator,
and no one else may write to it, or it protects the files of others (the sticky bit, as of /tmp), or
the group that may write is the user's own. Systems without owners and modes (Windows) keep caches
in the user's profile and are not checked.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

try:
    import grp
    import pwd
except ImportError:  # Windows
    grp = pwd = None  # type: ignore[assignment]

OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode by which users other than the owner may write."""


def is_private(path: Path) -> bool:
    """Return whether a file or folder is not a link, belongs to this user, and cannot be written by
    others.

    Raises:
        OSError: if it does not exist.
    """
    if grp is None:
        return not path.is_symlink()
    status = path.lstat()
    return (
        not stat.S_ISLNK(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & OTHERS
    )


def exposure(folder: Path) -> str | None:
    """Explain why others could put files into a folder, whose path has no links; None if they
    cannot.

    Raises:
        OSError: if it does not exist.
    """
    if grp is None:
        return None
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(folder)
    if status.st_uid != os.geteuid():
        return f"it belongs to another user ({_user(status.st_uid)})"
    if status.st_mode & OTHERS:
        return f"others may write to it (mode {stat.S_IMODE(status.st_mode):o})"
    for above in folder.parents:
        status = above.stat()
        if status.st_uid not in (0, os.geteuid()):
            return f"{above} belongs to another user ({_user(status.st_uid)})"
        own_group = not status.st_mode & stat.S_IWOTH and _alone_in(status.st_gid)
        if status.st_mode & OTHERS and not status.st_mode & stat.S_ISVTX and not own_group:
            return f"others may write to {above} (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _alone_in(gid: int) -> bool:
    """Return whether a group has the name of this user, or of the administrator, and no other
    members: many systems give each user such a group.
    """
    try:
        group = grp.getgrgid(gid)
        own = {pwd.getpwuid(uid).pw_name for uid in (0, os.geteuid())}
    except KeyError:
        return False
    return group.gr_name in own and set(group.gr_mem) <= own


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
