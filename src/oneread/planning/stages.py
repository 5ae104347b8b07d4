"""In which order questions are asked, and which are skipped: `depends_on`, `ask_if`, `ask`."""

from __future__ import annotations

from collections.abc import Mapping

from ..answers import Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer, Skipped
from ..controls import AnswerValue, Asking
from ..errors import InvalidRequest, Issue, Loc
from ..questions import Choice, Noul, Question, Score, question_type

NOTHING = Asking()


def stages(
    questions: Mapping[str, Question], asking: Mapping[str, Asking], ask: tuple[str, ...] | None = None
) -> tuple[tuple[str, ...], ...]:
    """The ids of each stage; a question stands in the first stage after all that it needs. Request order within a stage.

    Args:
        ask: answer only these and what they need; None answers all.

    Raises:
        InvalidRequest: an unknown id, an answer that cannot be, or a cycle.
    """
    issues = [issue for key in asking for issue in _faults(key, questions, asking)]
    issues += [_unknown(("ask", i)) for i, key in enumerate(ask or ()) if key not in questions]
    if issues:
        raise InvalidRequest(issues)
    wanted = _with_needs(ask, asking) if ask is not None else set(questions)
    level: dict[str, int] = {}
    left = [key for key in questions if key in wanted]
    while left:
        ready = [key for key in left if all(need in level for need in _of(asking, key).needs)]
        if not ready:
            raise InvalidRequest(
                [
                    Issue(_loc(key, questions, "depends_on"), "Questions should not wait for one another in a circle", "cycle")
                    for key in left
                    if _waits_for_itself(key, asking)
                ]
            )
        for key in ready:
            level[key] = 1 + max((level[need] for need in _of(asking, key).needs), default=-1)
        left = [key for key in left if key not in level]
    depth = 1 + max(level.values(), default=-1)
    return tuple(tuple(key for key in questions if level.get(key) == i) for i in range(depth))


def skip_reason(asked: Asking, answers: Mapping[str, Answer], skipped: Mapping[str, Skipped]) -> Skipped | None:
    """Why a question is not asked, given what earlier stages answered; None when it is."""
    for key, wanted in asked.ask_if.items():
        if key in skipped:
            return Skipped(key, None, wanted)
        was = value_of(answers[key])
        if was not in wanted:
            return Skipped(key, was, wanted)
    return None


def value_of(answer: Answer) -> AnswerValue:
    """The single answer that conditions look at: P(yes) of at least a half, the top option, the most probable level."""
    match answer:
        case NoulAnswer(noul):
            return noul >= 0.5
        case ChoiceAnswer(choice):
            return choice
        case ScoreAnswer(probabilities=probabilities):
            return max(range(len(probabilities)), key=probabilities.__getitem__)


def _of(asking: Mapping[str, Asking], key: str) -> Asking:
    return asking.get(key, NOTHING)


def _loc(key: str, questions: Mapping[str, Question], *rest: str | int) -> Loc:
    return ("questions", key, question_type(questions[key]), *rest)


def _unknown(loc: Loc) -> Issue:
    return Issue(loc, "There is no question with this id", "unknown_question")


def _faults(key: str, questions: Mapping[str, Question], asking: Mapping[str, Asking]) -> list[Issue]:
    asked = asking[key]
    issues = [_unknown(_loc(key, questions, "depends_on", i)) for i, need in enumerate(asked.depends_on) if need not in questions]
    for need, wanted in asked.ask_if.items():
        loc = _loc(key, questions, "ask_if", need)
        if need not in questions:
            issues.append(_unknown(loc))
            continue
        if not wanted:
            issues.append(Issue(loc, "At least 1 answer is needed", "too_short", {"min_length": 1}))
        issues += [
            Issue((*loc, i), f"This can never be the answer; allowed are {_allowed(questions[need])}", "impossible_answer")
            for i, value in enumerate(wanted)
            if not _possible(questions[need], value)
        ]
    return issues


def _possible(question: Question, value: AnswerValue) -> bool:
    match question:
        case Noul():
            return isinstance(value, bool)
        case Choice(options):
            return isinstance(value, str) and value in options
        case Score(levels):
            return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(levels)


def _allowed(question: Question) -> str:
    match question:
        case Noul():
            return "true and false"
        case Choice():
            return "the names of the options"
        case Score(levels):
            return f"the levels 0 to {len(levels) - 1}"


def _with_needs(ask: tuple[str, ...], asking: Mapping[str, Asking]) -> set[str]:
    found: set[str] = set()
    waiting = list(ask)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += _of(asking, key).needs
    return found


def _waits_for_itself(key: str, asking: Mapping[str, Asking]) -> bool:
    seen: set[str] = set()
    waiting = list(_of(asking, key).needs)
    while waiting:
        need = waiting.pop()
        if need == key:
            return True
        if need not in seen:
            seen.add(need)
            waiting += _of(asking, need).needs
    return False
