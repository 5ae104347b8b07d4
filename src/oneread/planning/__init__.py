"""Request -> reads, step by step, knowing only lengths."""

from .lengths import Lengths
from .plan import Plan, Row, make_plan, next_rows

__all__ = ["Lengths", "Plan", "Row", "make_plan", "next_rows"]
