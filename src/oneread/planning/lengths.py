"""All that planning knows of tokens: how many there are, and how many a row takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lengths:
    """Token counts of one question.

    Attributes:
        frame: tokens that every row of the question repeats: its instructions and their separators.
        options: tokens of each allowed answer, its marker or label included.
    """

    frame: int
    options: tuple[int, ...]

    @property
    def total(self) -> int:
        return self.frame + sum(self.options)


@dataclass(frozen=True, slots=True)
class RowForm:
    """What one row of a reader holds.

    Attributes:
        window: positions a row has.
        longest: tokens a row may hold; more than `window` where options share positions.
        frame: tokens of a row beside its questions and state.
        shared: options of a question, and questions of a row, start at the same position, so that only the longest of
            them takes up positions.
        together: where questions of a row do not see one another: tokens up to which a row's length and its other questions
            do not change a score by even a rounding, so that questions with the same windows share such rows in every
            mode, and longer ones in packed mode. 0 elsewhere.
        align: a row's questions are filled up to a multiple of so many tokens.
        max_options: options of one question that a row can tell apart; None for as many as fit.
        max_questions: questions of one row in packed mode; None for as many as fit.
        second_round: whether the best options of split rows are read together once more.
    """

    window: int
    longest: int
    frame: int
    shared: bool = False
    together: int = 0
    align: int = 1
    max_options: int | None = None
    max_questions: int | None = None
    second_round: bool = True

    def room(self, parts: list[tuple[int, tuple[int, ...]]]) -> int:
        """Tokens left to the state beside these parts, each (frame, options); negative when they do not fit."""
        taken = sum(-(-(frame + sum(options)) // self.align) * self.align for frame, options in parts)
        tokens = self.longest - self.frame - taken
        if not self.shared:
            return min(tokens, self.window - self.longest + tokens)
        return min(tokens, self.window - self.frame - max(frame + max(options) for frame, options in parts))
