"""Request -> reads, step by step, knowing only lengths."""

from .lengths import Lengths, RowForm
from .orders import Order, orders
from .plan import Group, Part, Progress, Row, StagePlan, first_draw, next_rows, plan_stage
from .stages import skip_reason, stages, value_of

__all__ = [
    "Group",
    "Lengths",
    "Order",
    "Part",
    "Progress",
    "Row",
    "RowForm",
    "StagePlan",
    "first_draw",
    "next_rows",
    "orders",
    "plan_stage",
    "skip_reason",
    "stages",
    "value_of",
]
