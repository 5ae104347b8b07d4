# ruff: noqa: E501  (a table of wordings)
"""How graded policies are worded: names of levels, lines of points, ladders, which level counts."""

from __future__ import annotations

NAMES: dict[int, tuple[tuple[str, ...], ...]] = {
    3: (("low", "medium", "high"), ("green", "amber", "red"), ("minor", "major", "critical"), ("P3", "P2", "P1"), ("accept", "check", "refuse"), ("no action", "watch", "act"), ("C", "B", "A")),
    4: (("none", "low", "medium", "high"), ("P4", "P3", "P2", "P1"), ("info", "minor", "major", "critical"), ("ignore", "watch", "act today", "act now"), ("white", "yellow", "orange", "red"), ("tier 0", "tier 1", "tier 2", "tier 3"), ("D", "C", "B", "A")),
    5: (("very low", "low", "medium", "high", "very high"), ("sev5", "sev4", "sev3", "sev2", "sev1"), ("negligible", "slight", "moderate", "serious", "extreme"), ("E", "D", "C", "B", "A"), ("blue", "green", "yellow", "orange", "red"), ("P5", "P4", "P3", "P2", "P1")),
    6: (("F", "E", "D", "C", "B", "A"), ("grade 0", "grade 1", "grade 2", "grade 3", "grade 4", "grade 5"), ("nil", "trace", "low", "medium", "high", "maximal"), ("none", "very low", "low", "medium", "high", "very high")),
    7: (("class 0", "class 1", "class 2", "class 3", "class 4", "class 5", "class 6"), ("nil", "trace", "low", "fair", "high", "very high", "maximal"), ("G", "F", "E", "D", "C", "B", "A")),
}  # fmt: skip
PREFACES = (
    "", "", "", "", "You triage for the night shift. ", "The team agreed on this policy in {month}. ", "Apply the policy as it is written; your own judgement does not count. ", "Rate the {kind}. ", "Read the {kind} and determine its level. ", "Policy of {co}, version {n}. ",
    "You are given one {kind}. A colleague will act on the number alone, so follow the rules to the letter. What the {kind} does not state counts as not being so. ", "Scoring guide. Facts that are not asked for below must not change the result. ", "Work through the rules one by one before you answer. ",
)  # fmt: skip
ENDINGS = (
    "",
    "",
    "",
    "",
    " Give the level.",
    " Which level is it?",
    " What is not stated counts as not met.",
    " Nothing else counts.",
    " What does the policy give?",
    " Do not round and do not guess.",
)
ADDS = (
    "Add {w} if {c}.", "+{w} if {c}.", "{c}: +{w}.", "Plus {w} when {c}.", "When {c}, add {w}.", "It gains {w} if {c}.", "{w} more if {c}.",
)  # fmt: skip
TAKES = ("Subtract {w} if {c}.", "-{w} if {c}.", "{c}: -{w}.", "Minus {w} when {c}.", "Take {w} off if {c}.", "{w} less if {c}.")
STARTS = (
    "Start at {s}.",
    "Begin with {s}.",
    "The score starts at {s}.",
    "Base score: {s}.",
    "Every {kind} has {s} to begin with.",
)
RUNGS = ("{l} if {c}.", "{l}: {c}.", "If {c}: {l}.", "{l} when {c}.", "{l} means that {c}.")
LOWEST = ("{l} otherwise.", "{l}: none of this.", "In all other cases {l}.", "{l} if nothing of this holds.", "Else {l}.")
HIGHEST_WINS = (
    "The highest matching level wins.",
    "If several match, the highest counts.",
    "Where more than one applies, take the highest.",
    "Of all that match, the highest decides.",
)
BY_RUBRIC = (
    "Rate the {kind} by the rubric. {win}", "Which level of the rubric applies? {win}", "Choose the level whose condition is met. {win}", "Severity by the levels given. {win}", "Level of the {kind}. {win}", "How is this {kind} to be graded? {win}", "{win}",
)  # fmt: skip
STRONGEST = (
    "The highest level whose condition is met counts.",
    "Take the highest that is met.",
    "If several are met, the higher level counts.",
)
BY_NUMBER = ("If several are met, the one with the highest number counts.", "The greatest number whose condition is met counts.")
STRONGEST_LAST = (
    "If several are met, the one listed last counts.",
    "The last that is met counts.",
    "The levels rise from the first to the last; the highest that is met counts.",
)
STRONGEST_REVERSED = (
    "If several are met, the one listed first counts.",
    "The first that is met counts.",
    "Go from the top and stop at the first that is met.",
)
MANY = (
    "none of them holds",
    "exactly one of them holds",
    "exactly two of them hold",
    "exactly three of them hold",
    "exactly four of them hold",
)
