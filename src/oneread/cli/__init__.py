"""The command line: ``oneread serve | ask | doctor | eval | calibrate | tune | top | replay | version``."""

from __future__ import annotations

import typer

from .ask import ask
from .calibrate import calibrate
from .doctor import doctor
from .eval import evaluate
from .replay import replay
from .serve import serve
from .top import top
from .tune import tune
from .version import version

app = typer.Typer(
    name="oneread",
    help="Typed answers with calibrated probabilities about a piece of evidence, in one forward pass.",
    epilog='Example: oneread ask "The site is down!" --noul "Does this need a reply within the hour?"',
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",  # "rich" would swallow the brackets of an extra
    pretty_exceptions_show_locals=False,  # locals hold evidence
)
app.command(epilog="Example: ONEREAD_API_KEY=change-me oneread serve --port 9000")(serve)
app.command(epilog='Example: oneread ask "My card was charged twice" --choice "Which team?=billing,outage"')(ask)
app.command(epilog="Example: oneread doctor --port 9000")(doctor)
app.command("eval", epilog="Example: oneread eval cases.jsonl --calibration profile.json --out report/")(evaluate)
app.command(epilog="Example: oneread calibrate cases.jsonl --target-error 0.05 --out profile.json")(calibrate)
app.command(epilog="Example: oneread tune cases.jsonl --out my-reader")(tune)
app.command(epilog="Example: oneread top --url http://127.0.0.1:9000")(top)
app.command(epilog="Example: oneread replay decisions.sqlite --calibration profile.json")(replay)
app.command(epilog="Example: oneread version")(version)
