"""A log of decisions that an operator may switch on, and its replay against another reader or calibration."""

from .entry import LogError
from .replay import Replay, replay
from .store import DecisionLog, entries

__all__ = ["DecisionLog", "LogError", "Replay", "entries", "replay"]
