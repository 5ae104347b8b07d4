"""``oneread version``"""

from __future__ import annotations

import platform

from ..version import __version__
from .console import out


def version() -> None:
    """Print the version of oneread, of Python and of the platform."""
    out.print(f"oneread {__version__} (Python {platform.python_version()}, {platform.system()} {platform.machine()})")
