"""Temperatures without labels: a rule by the number of options, as others measured it.

``log T = a - b * log n`` for raw log-probabilities of n options. Two measurements are known (both by third parties, from
public notes, not repeated here):

- ``glm``: a = 0.96, b = 0.076. GLM-5.3-Flash read in one step, 28 labelled data sets, raw ECE 0.146; the rule gave 71 % of
  what temperatures fitted with labels gave.
- ``jev``: a = 0.62, b = 0.19. The hosted Jev's returned probabilities over the same sets, excess ECE 0.080.

A reader that is calibrated already (the embedded one ships so) needs no rule. Any labelled cases beat it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .buckets import EDGES
from .temperature import TYPES, Temperatures


@dataclass(frozen=True, slots=True)
class Rule:
    """log T = a - b * log n."""

    a: float
    b: float

    def temperature(self, options: int) -> float:
        """T for this many options; never below 1, as the rule was measured on overconfident models only."""
        return max(1.0, math.exp(self.a - self.b * math.log(options)))

    def temperatures(self) -> Temperatures:
        """One temperature for each bucket of option counts, the rule at the geometric middle of the bucket."""
        lows = (2, *(edge + 1 for edge in EDGES[:-1]))
        pairs = tuple((high, self.temperature(round(math.sqrt(low * high)))) for low, high in zip(lows, EDGES, strict=True))
        return Temperatures({name: pairs[:1] if name == "noul" else pairs for name in TYPES})


RULES = {"glm": Rule(0.96, 0.076), "jev": Rule(0.62, 0.19)}
