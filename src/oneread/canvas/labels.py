"""Questions -> prompts and canvases of token ids for a reader with labels: a chat prompt, and an answer with open slots.

A question read alone (each its own canvas, so that no other question matters)::

    <bos><|turn>user\n{state}\n\nQuestion: {instructions}\nA: {option}\nB: {option}\nAnswer with ... only.<turn|>\n
    <|turn>model\n<|channel>thought\n<channel|>          canvas: {slot}<turn|><pad>...

Questions packed on one canvas, before the state so that a fixed schema is one prefix of many prompts::

    ...<|turn>user\nQuestion 1: ...\n\nQuestion 2: ...\n\nReply with one line ...\n\n{state}<turn|>\n...
    canvas: 1:{slot}\n2:{slot}\n<turn|><pad>...

A slot holds noise; everything else on the canvas is the answer's fixed text. The thought stands in the prompt, not on the
canvas, where it is known to read far worse; it is empty, or was written before. Then a turn before the user's says that
thinking is on::

    <bos><|turn>system\n<|think|><turn|>\n<|turn>user\n...<|turn>model\n<|channel>thought\n{thought}<channel|>

Question ids are never shown. Labels are single tokens of the
tokenizer: ``yes`` and ``no``, a level's digit, or for options letters, then pairs of letters, as many as it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tokenizers import Tokenizer

from ..controls import Content
from ..engines.base import NO_TOKENS, PromptImage, Read, Slot, Tokens
from ..planning.lengths import Lengths, RowForm
from ..questions import Noul, Question, Score, question_type
from .label_form import PLAIN, LabelForm, Setting
from .label_tokens import TextTokens
from .text import option_texts, render

ASKS = {
    "noul": "Answer with yes or no only.",
    "choice": "Answer with the letter of one option only.",
    "score": "Answer with the number of one level only.",
}
PACKED_ASK = 'Reply with one line per question, in order, formatted as "number: answer".'
GAP = "\n\n"


@dataclass(frozen=True, slots=True, eq=False)
class LabelQuestion:
    """A question as token ids.

    Attributes:
        kind: its type's wire name.
        head: context and instructions.
        options: what stands after the label of each allowed answer; empty when there is nothing to say of it.
    """

    kind: str
    head: Tokens
    options: tuple[Tokens, ...]


class LabelCanvas:
    """Compiles questions and states for one tokenizer, and lays them into reads. Safe to use from any thread.

    Args:
        tokenizer: a Gemma 4 tokenizer.
        cache_tokens: texts of questions are kept, least recently used first out, up to this many token ids.

    Raises:
        ReaderError: the tokenizer lacks a special token, or ``yes``, ``no`` or a digit is not one token of it.

    Attributes:
        ordered: whether the order of options can change a score.
        labels: by question type, on a canvas of one question (False) or on a packed one (True).
        thinks: whether the tokenizer can say that thinking is on.
        thought_end: the token after a thought.
    """

    ordered = True

    def __init__(self, tokenizer: Tokenizer, form: LabelForm, cache_tokens: int = 1_000_000) -> None:
        self.form = form
        text = self._text = TextTokens(tokenizer, cache_tokens)
        self.labels = {False: text.labels(""), True: text.labels(" ")}
        # By question type, the tokens of the longest "\nAB:" that stands before an option.
        self._widest = {
            kind: max(len(text.encode(f"\n{name}:")) for name in labels.ids) for kind, labels in self.labels[True].items()
        }
        self._turn_end, self._pad = text.special("<turn|>"), text.special("<pad>")
        turn = text.special("<|turn>")
        bos, user = np.array([text.special("<bos>")], np.int32), _join([turn], text.kept("user\n"))
        self.thinks, self.thought_end = text.has("<|think|>"), text.special("<channel|>")
        on: list[Tokens] = []
        if self.thinks:
            on = [_join([turn], text.kept("system\n"), [text.special("<|think|>"), self._turn_end], text.kept("\n"))]
        self._opening = {False: _join(bos, user), True: _join(bos, *on, user)}
        self._closing = _join(
            [self._turn_end], text.kept("\n"), [turn], text.kept("model\n"), [text.special("<|channel>")], text.kept("thought\n")
        )

    @property
    def row_form(self) -> RowForm:
        """What planning knows of a plain read."""
        return self.form_for(PLAIN)

    def form_for(self, setting: Setting) -> RowForm:
        """What planning knows of a read in this setting."""
        fixed = len(self._opening[setting.thought > 0]) + len(self._closing) + 1 + len(self._text.kept(GAP + PACKED_ASK + GAP))
        # A thought is written in whole blocks, each as wide as the widest canvas.
        fixed += -(-setting.thought // self.form.canvas) * self.form.canvas
        fixed += sum(image.tokens + 2 for image in setting.images) + (setting.width or self.form.step)
        fewest = min(len(found["choice"].ids) for found in self.labels.values())
        canvas = min(setting.width or self.form.canvas, setting.lines or self.form.canvas)
        return RowForm(self.form.window, self.form.window, fixed, max_options=fewest, max_questions=self._most_lines(canvas))

    def compile(self, question: Question, context: str = "") -> LabelQuestion:
        """The question's token ids. `context` holds lines that stand before the instructions."""
        head = "\n".join(filter(None, (context, render(question.instructions))))
        texts = option_texts(question)
        if isinstance(question, Noul | Score):
            # Their texts begin with the label itself.
            texts = tuple(text.partition(": ")[2] for text in texts)
        options = tuple(self._text.kept(f" {text}") if text else NO_TOKENS for text in texts)
        return LabelQuestion(question_type(question), self._text.kept(f" {head}"), options)

    def encode_state(self, state: Content) -> Tokens:
        """The state's token ids, without framing."""
        return self._text.encode(render(state))

    def lengths(self, question: LabelQuestion) -> Lengths:
        """Token counts for planning at their longest: the widest label, and the question's line on the canvas."""
        label = self._widest[question.kind]
        line = len(self._text.kept("999:")) + len(self.labels[True][question.kind].before) + 1 + len(self._text.kept("\n"))
        asked = len(self._text.kept(f"{GAP}Question 999:")) + len(self._text.kept(f"\n{ASKS[question.kind]}"))
        return Lengths(asked + len(question.head) + line, tuple(len(text) + label for text in question.options))

    def row(
        self,
        parts: Sequence[tuple[LabelQuestion, Sequence[int]]],
        state: Tokens,
        packed: bool = False,
        seed: int = 42,
        draw: int = 0,
        setting: Setting = PLAIN,
        thought: Tokens = NO_TOKENS,
    ) -> Read:
        """One read: of each question the options of these indices, in this order, over this part of the state.

        The reading's scores stand question after question in the order of the options.

        Args:
            packed: whether the answer is written as numbered lines; needed for more than one question.
            seed, draw: of the noise in the slots; the same two give the same noise.
            thought: token ids of a thought written before; an empty one stands there else.
        """
        opened, images = self.to_think(parts, state, packed, setting)
        canvas, slots = self._answer(parts, packed, setting.width, np.random.default_rng((seed, draw)))
        prompt = _join(opened, thought, [self.thought_end])
        return Read(canvas, slots, prompt, images=images, steps=setting.steps, full=setting.full)

    def to_think(
        self, parts: Sequence[tuple[LabelQuestion, Sequence[int]]], state: Tokens, packed: bool, setting: Setting
    ) -> tuple[Tokens, tuple[PromptImage, ...]]:
        """The prompt of a read up to where its thought begins, and the images in it."""
        assert packed or len(parts) == 1, "questions that share a canvas are packed"
        asked = [self._question(q, options, n if packed else 0) for n, (q, options) in enumerate(parts, 1)]
        gap = self._text.kept(GAP)
        before: list[Tokens] = [self._opening[setting.thought > 0]]
        after: list[Tokens] = []
        if packed:
            before += [piece for question in asked for piece in (question, gap)][:-1]
            before.append(self._text.kept(GAP + PACKED_ASK + GAP))
        elif self.form.first == "question":
            before += [*asked, gap]
        else:
            after = [gap, *asked]
        placed, pictures = self._pictures(setting.images, sum(map(len, before)))
        return _join(*before, *pictures, state, *after, self._closing), placed

    def _question(self, question: LabelQuestion, options: Sequence[int], number: int) -> Tokens:
        """A question's part of the prompt; number 0 for one that is read alone."""
        pieces = [self._text.kept(f"Question {number}:" if number else "Question:"), question.head]
        for name, index in zip(self._names(question, options, number > 0), options, strict=True):
            if len(question.options[index]):
                pieces += [self._text.kept(f"\n{name}:"), question.options[index]]
        return _join(*pieces, self._text.kept(f"\n{ASKS[question.kind]}"))

    def _pictures(self, images: Sequence[PromptImage], at: int) -> tuple[tuple[PromptImage, ...], list[Tokens]]:
        """Images moved to where they stand in the prompt, the first one's frame at `at`, and their tokens."""
        if not images:
            return (), []
        opens, soft, closes = (self._text.special(name) for name in ("<|image>", "<|image|>", "<image|>"))
        placed, pictures = [], []
        for image in images:
            placed.append(replace(image, start=at + 1))
            pictures.append(_join([opens], [soft] * image.tokens, [closes]))
            at += image.tokens + 2
        return tuple(placed), pictures

    def _answer(
        self,
        parts: Sequence[tuple[LabelQuestion, Sequence[int]]],
        packed: bool,
        width: int | None,
        noise: np.random.Generator,
    ) -> tuple[Tokens, tuple[Slot, ...]]:
        """The canvas and its slots."""
        ids: list[int] = []
        slots = []
        for number, (question, options) in enumerate(parts, 1):
            if packed:
                ids += self._text.kept(f"{number}:").tolist()
            labels = self.labels[packed][question.kind]
            ids += labels.before.tolist()
            slots.append(Slot(len(ids), tuple(labels.ids[name] for name in self._names(question, options, packed))))
            ids.append(int(noise.integers(self._text.vocab)))
            if packed:
                ids += self._text.kept("\n").tolist()
        ids.append(self._turn_end)
        ids += [self._pad] * (-len(ids) % self.form.step if width is None else width - len(ids))
        return np.array(ids, np.int32), tuple(slots)

    def _names(self, question: LabelQuestion, options: Sequence[int], packed: bool) -> list[str]:
        """The label of each option: a choice's letters go by place, a noul's words and a score's digits by answer."""
        names = list(self.labels[packed][question.kind].ids)
        return names[: len(options)] if question.kind == "choice" else [names[index] for index in options]

    def _most_lines(self, canvas: int) -> int:
        """How many questions a canvas of so many rows holds; at least one."""
        rows = number = 0
        slot = 1 + max(len(labels.before) for labels in self.labels[True].values())
        while True:
            rows += len(self._text.kept(f"{number + 1}:")) + slot + len(self._text.kept("\n"))
            if rows >= canvas:
                return max(1, number)
            number += 1


def _join(*pieces: Tokens | Sequence[int]) -> Tokens:
    return np.concatenate([np.asarray(piece, np.int32) for piece in pieces])
