"""oneread: typed answers with calibrated probabilities about a piece of evidence, in one forward pass.

>>> from oneread import Choice, Decider, Noul, Score
>>> with Decider() as decider:
...     reply = decider.ask(
...         "Everything is down and we have a demo at noon.",
...         {"urgent": Noul("Does this need a reply within the hour?")},
...     )
>>> reply.answers["urgent"].noul  # doctest: +SKIP
0.97
"""

from .answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer, Usage
from .controls import Asking, Content, Controls
from .decide import Decider
from .errors import EngineError, InvalidRequest, Issue, MissingExtra, OnereadError, ReaderError, UnknownModel
from .questions import Choice, Noul, Question, Request, Score
from .version import __version__

__all__ = [
    "Answer",
    "Answers",
    "Asking",
    "Choice",
    "ChoiceAnswer",
    "Content",
    "Controls",
    "Decider",
    "EngineError",
    "InvalidRequest",
    "Issue",
    "MissingExtra",
    "Noul",
    "NoulAnswer",
    "OnereadError",
    "Question",
    "ReaderError",
    "Request",
    "Score",
    "ScoreAnswer",
    "UnknownModel",
    "Usage",
    "__version__",
]
