"""The one-pass engine: DiffusionGemma in torch (extra ``torch``). Importing this package needs no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import MissingExtra

if TYPE_CHECKING:
    from .engine import OnePassModel

INSTALL = "pip install 'oneread[torch]'"


def need_torch() -> None:
    """Say what to install where torch is not.

    Raises:
        MissingExtra: torch is not installed.
    """
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra(f"DiffusionGemma needs the extra 'torch': {INSTALL}") from error


def load_onepass(*args: Any, **keywords: Any) -> OnePassModel:
    """`load.load_onepass`, once torch is known to be there. Raises as `need_torch` does."""
    need_torch()
    from .load import load_onepass as load

    return load(*args, **keywords)
