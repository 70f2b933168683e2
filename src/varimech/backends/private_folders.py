"""Whether files and folders are private: only this user (and the administrator) can change them, or
put others in their place.

A folder is private if it belongs to this user and no one else may write to it, and if nobody can
replace one of the folders above it: these belong to this user or the administrator, and no one else
may write to them, or they keep what belongs to others (the sticky bit, as of /tmp), or the group
that may is the user's own. Systems without owners and modes (Windows) keep caches in the user's
profile and are not checked.
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
"""Bits of a mode by which others than the owner may write."""


def is_private(path: Path) -> bool:
    """Whether a file or folder itself is no link, belongs to this user, and cannot be written by
    others.

    Raises:
        OSError: if it is not there.
    """
    if grp is None:
        return not path.is_symlink()
    found = path.lstat()
    return (
        not stat.S_ISLNK(found.st_mode)
        and found.st_uid == os.geteuid()
        and not found.st_mode & OTHERS
    )


def exposure(folder: Path) -> str | None:
    """Why others could put files into a folder, whose path has no links; None if they cannot.

    Raises:
        OSError: if it is not there.
    """
    if grp is None:
        return None
    found = folder.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(folder)
    if found.st_uid != os.geteuid():
        return f"it belongs to another user ({_user(found.st_uid)})"
    if found.st_mode & OTHERS:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    for above in folder.parents:
        found = above.stat()
        if found.st_uid not in (0, os.geteuid()):
            return f"{above} belongs to another user ({_user(found.st_uid)})"
        own_group = not found.st_mode & stat.S_IWOTH and _alone_in(found.st_gid)
        if found.st_mode & OTHERS and not found.st_mode & stat.S_ISVTX and not own_group:
            return f"others may write to {above} (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _alone_in(gid: int) -> bool:
    """Whether a group has the name of this user, or of the administrator, and no other members:
    many systems give each user such a group.
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
