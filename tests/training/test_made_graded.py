"""Policies over numbers and flags give what counting gives; rubrics keep their level; in tickets what happened decides."""

from __future__ import annotations

import operator
import random
import re
from collections import defaultdict
from typing import Any

import pytest

from oneread.canvas.text import option_texts, render
from oneread.questions import Choice, Request, Score, option_count, validate
from training.augment import augment
from training.corpus import Example
from training.made import fault_texts, faults, graded, rubrics
from training.made.graded_cases import DOMAINS, Flag, Kind, Number
from training.made.rubric_texts import SCALES

WORDS = {"more than": operator.gt, "over": operator.gt, "at least": operator.ge, "less than": operator.lt, "under": operator.lt}
WORDS |= {"at most": operator.le, "no more than": operator.le}
SIGNS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


def _answer_text(e: Example) -> str:
    """The text of the right answer, without a score's index."""
    text = option_texts(e.question)[e.answer]
    return text.split(": ", 1)[1] if isinstance(e.question, Score) else text


def _compared(text: str, value: int) -> bool:
    """What a comparison says of a value, read from its words."""
    if found := re.search(r"([<>]=?) (\d+)", text):
        return bool(SIGNS[found[1]](value, int(found[2])))
    number = int(re.search(r"\d[\d,]*", text)[0].replace(",", ""))  # type: ignore[index]
    if re.search(r"\d or more", text):
        return value >= number
    word = next(w for w in ("no more than", "more than", "over", "at least", "less than", "under", "at most") if w in text)
    return bool(WORDS[word](value, number))


def test_conditions_hold_as_their_words_say() -> None:
    rng = random.Random(1)
    fields = [f for _, _, row in DOMAINS.values() for f in row]
    seen: dict[tuple[str, bool], int] = defaultdict(int)
    for _ in range(6000):
        field, by_field = rng.choice(fields), rng.random() < 0.3
        value: Any = field.draw(rng)
        text, holds = field.condition(rng, value, by_field)
        match field:
            case Number():
                assert holds == _compared(text, value), (text, value)
            case Kind():
                named = [v for v in field.values if re.search(rf"\b{v}\b", text.removeprefix(field.name))]
                assert holds == (value in named), (text, value)
            case Flag() if by_field:
                assert holds == (value == text.endswith("true"))
            case Flag():
                assert holds == (value if text in field.means.strip("{}").split("|") else not value), text
        seen[type(field).__name__, holds] += 1
    assert len(seen) == 6
    assert min(seen.values()) > 200


def _amount(line: str) -> int:
    """What one line of a policy adds, read without the code that wrote it."""
    size = int(re.search(r"\d", re.sub(r"c\d", "", line, flags=re.I))[0])  # type: ignore[index]
    return -size if re.search(r"Subtract|-\d|Minus|Take|less", line, re.I) else size


def test_points_are_what_adding_them_up_gives() -> None:
    rng = random.Random(2)
    exceptions = lowered = 0
    for _ in range(1500):
        conditions = [(f"c{i}", rng.random() < 0.5) for i in range(1, rng.randint(3, 6))]
        truth = dict(conditions)
        e = graded.points(rng, "case", "x", conditions)
        text = render(e.question.instructions)
        text = re.split(r" 0 = ", text)[0]
        begun = re.search(r"(?:Start at|Begin with|starts at|score:|Every case has) (\d)", text)
        total = int(begun[1]) if begun else 0
        top, fixed = option_count(e.question) - 1, None
        for line in re.split(r"(?<=\.)\s+|\n", text):
            named = re.search(r"\bc\d", line, re.I)
            if not named:
                continue
            holds = truth[named[0].lower()]
            if re.search(r"in any case|always|Whatever", line):
                exceptions += holds
                fixed = int(re.findall(r"(?<!c)\d", line)[-1 if "Whatever" not in line else 0]) if holds else fixed
            elif holds:
                lowered += _amount(line) < 0
                total += _amount(line)
        wanted = fixed if fixed is not None else max(0, min(total, top))
        shown = _answer_text(e)
        if re.search(r"\d", shown) and "=" not in render(e.question.instructions):
            assert int(re.search(r"\d", shown)[0]) == wanted, (text, conditions, shown)  # type: ignore[index]
        elif isinstance(e.question, Score):
            assert f"{wanted} = {shown}" in render(e.question.instructions), (text, shown)
    assert exceptions > 50
    assert lowered > 100


def test_the_highest_level_that_is_met_wins_from_either_end() -> None:
    rng = random.Random(3)
    reversed_ones = 0
    for _ in range(600):
        conditions = [(f"c{i}", rng.random() < 0.4) for i in range(1, rng.randint(3, 6))]
        e = graded.ladder(rng, "case", "x", conditions)
        met = [c for c, h in conditions if h]
        if e.task != "made:graded_rubric":
            continue
        assert isinstance(e.question, Score)
        shown = [render(x) for x in e.question.levels]
        if met:
            assert shown[e.answer].lower().endswith(met[-1])
        else:
            assert not re.search(r"c\d$", shown[e.answer], re.I)
        down = bool(re.search(r"c\d$", shown[0], re.I))
        reversed_ones += down
        assert down == bool(re.search("listed first|The first that|from the top", render(e.question.instructions)))
    assert reversed_ones > 60


def test_only_names_whose_numbers_rise_are_told_by_the_highest_number() -> None:
    rng = random.Random(9)
    numbered = from_high = 0
    for _ in range(4000):
        e = graded.ladder(rng, "case", "x", [(f"c{i}", rng.random() < 0.4) for i in range(1, rng.randint(3, 6))])
        if e.task != "made:graded_rubric":
            continue
        assert isinstance(e.question, Score)
        text, shown = render(e.question.instructions), [render(x).split(": ")[0] for x in e.question.levels]
        found = [int(m[0]) for s in shown if (m := re.search(r"\d+$", s)) and not re.match(r"c\d$", s, re.I)]
        if re.search("(highest|greatest) number", text):
            numbered += 1
            assert len(found) == len(shown), (text, shown)
            assert found == sorted(found), (text, shown)
        if found != sorted(found) and re.match("P|sev", shown[0]):
            from_high += 1
            assert re.search("last|first", text), (text, shown)
    assert numbered > 20
    assert from_high > 10


def test_steps_up_and_down_are_summed_before_the_result_is_kept_in_bounds() -> None:
    rng = random.Random(10)
    field = next(f for _, _, row in DOMAINS.values() for f in row if isinstance(f, Kind))
    cut = 0
    for _ in range(1500):
        value, truth = field.draw(rng), {f"c{i}": rng.random() < 0.6 for i in range(1, rng.randint(3, 5))}
        e = graded.raised(rng, "case", "x", field, value, list(truth.items()))
        text, shown = render(e.question.instructions), _answer_text(e)
        level = int(re.search(rf"\b{value} (?:[A-Za-z]+ )?(\d)", text)[1])  # type: ignore[index]
        for line in re.split(r"(?<=\.)\s+|\n", text):
            if (named := re.search(r"\bc\d", line, re.I)) and truth[named[0].lower()]:
                level += 1 if re.search(r"\bup\b", line) else -1
        kept = max(0, min(level, option_count(e.question) - 1))
        cut += kept != level
        told = re.search(rf"\b(\d) is {re.escape(shown)}[,.]", text)
        assert kept == int(told[1] if told else re.search(r"\d", shown)[0]), (text, truth, value, shown)  # type: ignore[index]
        assert re.search("Add up all|cancel out|the sum counts", text)
    assert cut > 50


def test_a_joined_condition_puts_parts_of_its_own_in_brackets_and_names_of_fields_stay_as_they_are() -> None:
    rng = random.Random(11)
    for _ in range(100):
        text, holds = graded._joined(rng, [("the region is eu or us", True), ("data was lost", False)])
        assert "(the region is eu or us)" in text
        assert holds == (" or (" in text), text
        assert "(" not in graded._joined(rng, [("5 or more users are affected", True), ("data was lost", False)])[0]
    assert graded._cap("minutes_down > 30") == "minutes_down > 30"
    assert graded._cap("region is eu") == "region is eu"
    assert graded._cap("data was lost") == "Data was lost"
    rules = []
    for _ in range(200):
        conditions = [(f"c{i}", True) for i in range(rng.choice((3, 4)))]
        rules.append(render(graded.how_many(rng, "case", "x", conditions).question.instructions))
    assert any("exactly two of them hold." in r for r in rules)
    assert not any(re.search("(two|three|all) of them holds", r) for r in rules)


def test_ranges_hold_the_number() -> None:
    rng = random.Random(4)
    field = next(f for f in DOMAINS["incident"][2] if f.name == "minutes_down")
    assert isinstance(field, Number)
    for _ in range(400):
        value = field.draw(rng)
        e = graded.ranges(rng, "incident", "x", field, value)
        shown, text = _answer_text(e), render(e.question.instructions)
        if explained := re.search(rf"(?<!\w){re.escape(shown)}: minutes down ([^.]*)\.", text, re.I):
            shown = explained[1]
        numbers = [int(x) for x in re.findall(r"\d+", shown)]
        if " to " in shown:
            assert numbers[0] <= value <= numbers[1]
        elif re.search("less|below|under|fewer", shown):
            assert value < numbers[0]
        elif re.search("or more|at least|and above|from", shown):
            assert value >= numbers[0]
        else:
            assert value == numbers[0]


def test_a_scene_keeps_its_level_whatever_levels_are_offered() -> None:
    rng = random.Random(5)
    directions = set()
    for _ in range(300):
        scale = SCALES[rng.choice(list(SCALES))]
        level = rng.randrange(len(scale.levels))
        e = rubrics._graded(rng, scale, "x", level)
        shown, text = _answer_text(e), render(e.question.instructions)
        if shown not in scale.levels[level][0]:  # the rubric is in the instructions
            assert any(re.search(rf"{re.escape(shown)}(: | - | = | means: ){re.escape(w)}", text) for w in scale.levels[level][0])
        elif isinstance(e.question, Score):
            place = [next(i for i, (ways, _) in enumerate(scale.levels) if x in ways) for x in e.question.levels]
            assert place in (sorted(place), sorted(place)[::-1])
            directions.add(place[0] < place[-1])
    assert directions == {True, False}


def test_variants_leave_the_levels_of_a_policy_in_their_order() -> None:
    levels = ["none", "one", "two"]
    for task, kept in (("made:graded_many", True), ("other", False)):
        e = Example(task, Score(levels, "How many?"), "x", 1)
        variants = [augment(e, random.Random(s), {}, []).question for s in range(80)]
        assert all(isinstance(q, Score) and list(q.levels) == levels for q in variants) == kept


def test_graded_cases_and_tickets_are_valid_and_use_every_level() -> None:
    rng = random.Random(6)
    answers: dict[tuple[int, int], int] = defaultdict(int)
    for _ in range(700):
        for source in (graded.graded, rubrics.rubric, faults.fault):
            for e in source(rng):
                validate(Request(e.state, {"q": e.question}))
                if isinstance(e.question, Score):
                    answers[option_count(e.question), e.answer] += 1
    for n in (3, 4, 5):
        assert min(answers[n, i] for i in range(n)) > 0.5 * sum(answers[n, i] for i in range(n)) / n


def test_no_offered_team_is_as_right_as_the_one_that_is_asked_for() -> None:
    rng = random.Random(7)
    team_of = {name: team for team, ways in faults.TEAMS.items() for name, _ in ways}
    for _ in range(1500):
        _, _, kind, lure, also, _ = faults._event(rng)
        question = faults._team(rng, "x", kind, lure, also)
        assert isinstance(question.question, Choice)
        teams = [team_of[name] for name in question.question.options]
        gold = teams[question.answer]
        assert gold in (kind, faults.STANDS_IN.get(kind))
        assert len(set(teams)) == len(teams) >= 2
        assert not set(teams) & set(also) - {gold}
        if gold != kind:
            assert kind not in teams


def test_a_crash_of_one_function_is_not_asked_about_as_an_outage() -> None:
    rng = random.Random(12)
    asked = 0
    for _ in range(3000):
        for e in faults.fault(rng):
            if e.task == "made:fault_down":
                asked += 1
                assert not re.search("newest feature crashes|feature you announced crashes", render(e.state))
    assert asked > 500


@pytest.mark.parametrize("area", fault_texts.AREAS)
def test_a_part_of_the_product_occurs_with_what_fails_and_with_what_is_owed(area: str) -> None:
    parts = fault_texts.AREAS[area][0].split("|")
    rng = random.Random(8)
    kinds: dict[str, int] = defaultdict(int)
    for _ in range(5000):
        text, _, kind, *_ = faults._event(rng)
        kinds[kind] += any(p.lower() in text.lower() for p in parts)
    assert all(kinds[k] > 5 for k in ("outage", "billing", "feature", "howto", "bug"))
