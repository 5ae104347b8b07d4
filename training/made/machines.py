# ruff: noqa: E501  (a table of texts, one a line)
"""Logs, failing tests, incidents and commits."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, pick, score, wrap

LEVELS = ("debug", "info", "warning", "error", "fatal")
LOG_TEXT: dict[str, tuple[str, ...]] = {
    "debug": ("cache lookup key={w} hit=true", "entering handler {w}", "parsed {n} tokens in {m} ms", "pool size is {m}"),
    "info": ("server started on port {n}", "user {n} logged in", "job {w} finished in {m} s", "listening for connections", "{n} rows imported"),
    "warning": ("disk usage at {m}%", "retrying request to {w} (attempt 2)", "config key {w} is deprecated", "slow query: {n} ms", "certificate expires in {m} days"),
    "error": ("failed to write {w}: permission denied", "could not connect to {w}:{n}: connection refused", "unhandled exception in {w}", "payment {n} rejected by provider", "request to /{w} failed with status 500"),
    "fatal": ("out of memory, killing process {n}", "data directory is corrupt, shutting down", "kernel panic: unable to mount root", "cannot open database, exiting", "all replicas lost, halting"),
}  # fmt: skip
WORDS = (
    "auth",
    "billing",
    "search",
    "catalog",
    "mailer",
    "worker",
    "gateway",
    "cart",
    "profile",
    "reports",
    "ingest",
    "scheduler",
    "uploads",
    "sessions",
)
TAGS = {
    "debug": ("DEBUG", "D", "[debug]", "TRACE"),
    "info": ("INFO", "I", "[info]", "NOTICE"),
    "warning": ("WARN", "WARNING", "W", "[warn]"),
    "error": ("ERROR", "E", "[error]", "ERR", "SEVERE"),
    "fatal": ("FATAL", "CRITICAL", "PANIC", "[crit]", "EMERG"),
}
SEVERITY_SCALES = (
    ("debug", "info", "warning", "error", "fatal"),
    ("noise", "routine event", "something to watch", "a failure", "the system goes down"),
    ("trace detail", "informational", "warning", "error", "critical"),
)
THREE = (("harmless", "needs a look", "broken"), ("info", "warning", "error"), ("fine", "degraded", "failing"))


def _line(rng: random.Random, level: str, tagged: bool) -> str:
    text = rng.choice(LOG_TEXT[level]).format(w=rng.choice(WORDS), n=rng.randint(100, 9999), m=rng.randint(2, 97))
    stamp = pick(
        rng,
        "2025-0{a}-1{b} 0{a}:{c}:1{b} ",
        "[1{a}:{c}:0{b}] ",
        "",
        "Mar {c} 0{b}:1{a}:22 host{a} ",
        a=str(rng.randint(1, 9)),
        b=str(rng.randint(0, 9)),
        c=str(rng.randint(10, 28)),
    )
    name = rng.choice(WORDS)
    if not tagged:
        return f"{stamp}{name}: {text}"
    return stamp + pick(
        rng,
        "{t} {w}: {x}",
        "{w} {t} {x}",
        "{t} [{w}] {x}",
        'level={t} svc={w} msg="{x}"',
        t=rng.choice(TAGS[level]),
        w=name,
        x=text,
    )


def log_line(rng: random.Random) -> Iterator[Example]:
    level = rng.choice(LEVELS)
    state = wrap(rng, _line(rng, level, rng.random() < 0.75), ("line", "log", "message"))
    i = LEVELS.index(level)
    yield score(
        rng,
        "made:log_severity",
        state,
        i,
        ("How severe is this log line?", "severity", "Rate the severity.", "How bad is it?"),
        SEVERITY_SCALES,
    )
    if i in (1, 2, 3):
        yield score(rng, "made:log_three", state, i - 1, ("How serious is the event?", "severity of the line"), THREE)
    labels: dict[str, Label] = {k: ((k, f"a {k} message"), (k.upper(), f"level {k}")) for k in LEVELS}
    yield choice(
        rng,
        "made:log_level",
        state,
        ("Log level?", "At which level was this logged?", "Classify the log line by severity."),
        labels,
        level,
    )
    yield noul(
        rng,
        "made:log_problem",
        state,
        i >= 3,
        ("Is this a failure?", "Did something fail?", "Should an alert be raised?", "Is this an error?"),
        ("Is this line harmless?", "Is this normal operation?") if i != 2 else (),
    )
    other = rng.choice([x for x in LEVELS if x != level])
    a, b = _line(rng, level, True), _line(rng, other, True)
    worse = int(LEVELS.index(other) > i)
    two: dict[str, Label] = {
        "first": (("first", "the first line"), ("a", "line A")),
        "second": (("second", "the second line"), ("b", "line B")),
    }
    yield choice(
        rng,
        "made:log_worse",
        {"first": a, "second": b},
        ("Which line is more severe?", "Which of the two lines is worse?"),
        two,
        ("first", "second")[worse],
    )


CAUSES: dict[str, tuple[Label, tuple[str, ...]]] = {
    "environment": ((("environment", "Missing package, tool, file or wrong version on the machine"), ("setup", "the machine or its dependencies are not set up right"), ("dependency", "A dependency is missing or the wrong version")),
        ("ImportError: libGL.so.1: cannot open shared object file", "ModuleNotFoundError: No module named '{p}'", "Error: Cannot find module '{p}'", "bash: {p}: command not found", "error: package `{p}` requires rustc 1.75 or newer", "E   ImportError: cannot import name 'Field' from '{p}'",
         "pkg_resources.DistributionNotFound: The '{p}' distribution was not found", "OSError: [Errno 28] No space left on device", "node: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found", "E   ModuleNotFoundError: No module named '{p}.core'", "java.lang.UnsupportedClassVersionError: {p} has been compiled by a more recent version")),
    "assertion": ((("code_bug", "The code gives a wrong result"), ("regression", "an assertion about behaviour fails"), ("logic_error", "The tested code is wrong")),
        ("E   AssertionError: assert {n} == {m}", "Expected: \"{p}\"  Received: undefined", "thread 'main' panicked at 'assertion failed: left == right'", "AssertionError: {n} != {m} : total is wrong", "--- FAIL: Test{p} (0.01s) got {n}, want {m}", "E   TypeError: unsupported operand type(s) for +: 'int' and 'str'", "E   KeyError: '{p}'", "IndexError: list index out of range in {p}.py line {n}")),
    "timeout": ((("timeout", "Something took too long"), ("flaky", "a race or a time limit; may pass on retry"), ("timing", "Time limit exceeded")),
        ("Timeout: test exceeded {n} ms", "E   TimeoutError: timed out after {m} s waiting for selector", "passed on retry 2 of 3", "deadline exceeded while waiting for {p}", "Test timed out after {m} seconds; it passed in the previous run")),
    "network": ((("network", "A host could not be reached"), ("connectivity", "connection problem"), ("external_service", "A remote service failed")),
        ("requests.exceptions.ConnectionError: Max retries exceeded with url: /{p}", "dial tcp 10.0.0.{m}:5432: connect: connection refused", "getaddrinfo ENOTFOUND {p}.example.org", "curl: (6) Could not resolve host: {p}.internal", "ssl.SSLError: handshake failure with {p}")),
    "permission": ((("permission", "Access was denied"), ("credentials", "a token or right is missing"), ("access", "Not allowed")),
        ("PermissionError: [Errno 13] Permission denied: '/{p}/data'", "remote: Permission to org/{p}.git denied", "401 Unauthorized: token expired", "AccessDenied: not authorized to perform s3:GetObject on {p}")),
    "syntax": ((("syntax", "The source does not parse or compile"), ("compile_error", "compilation fails")),
        ("SyntaxError: invalid syntax ({p}.py, line {n})", "error[E0308]: mismatched types --> src/{p}.rs:{m}", "error TS2304: Cannot find name '{p}'.", "{p}.c:{n}: error: expected ';' before '}}' token", "IndentationError: unexpected indent")),
}  # fmt: skip
RUNNERS = (
    "$ pytest -q\n",
    "$ npm test\n",
    "FAILED tests/test_{p}.py\n",
    "$ cargo test\n",
    "Run make check\n",
    "CI job unit-tests\n",
    "",
    "collecting ...\n",
    "$ go test ./...\n",
    "tox -e py311\n",
)
PACKAGES = (
    "orjson",
    "numpy",
    "lodash",
    "flask",
    "pandas",
    "uvloop",
    "react-dom",
    "boto3",
    "celery",
    "sqlalchemy",
    "attrs",
    "chalk",
    "serde",
    "httpcore",
    "jinja2",
    "protobuf",
    "scipy",
    "yaml",
    "dotenv",
    "redis",
    "click",
)


def failure(rng: random.Random) -> Iterator[Example]:
    cause = rng.choice(list(CAUSES))
    slots = {"p": rng.choice(PACKAGES), "n": str(rng.randint(2, 900)), "m": str(rng.randint(2, 90))}
    text = rng.choice(RUNNERS).replace("{p}", slots["p"]) + rng.choice(CAUSES[cause][1]).format(**slots)
    if rng.random() < 0.4:
        text += pick(
            rng, "\n1 failed, {n} passed in {m}s", "\nError: Process completed with exit code 1.", "\n1 error in 0.{m}s", **slots
        )
    state = wrap(rng, text, ("output", "log", "stderr"))
    yield choice(
        rng,
        "made:failure_cause",
        state,
        (
            "Why did the test fail?",
            "What caused the failure?",
            "cause",
            "Root cause of this output?",
            "What kind of failure is this?",
        ),
        {k: v[0] for k, v in CAUSES.items()},
        cause,
    )
    yield noul(
        rng,
        "made:failure_env",
        state,
        cause == "environment",
        (
            "Is the environment at fault?",
            "Is something missing on the machine?",
            "Is this a setup problem rather than a code problem?",
        ),
    )
    if cause in ("assertion", "timeout", "environment"):
        yield noul(rng, "made:failure_retry", state, cause == "timeout", ("Could a retry help?", "Is the failure likely flaky?"))


AREAS: dict[str, tuple[str, tuple[str, ...]]] = {
    "auth": ("sign-in and sessions", ("login", "sign-in", "password reset", "/session")), "billing": ("charges and invoices", ("checkout", "payment", "/invoices")), "search": ("queries and the index", ("search", "autocomplete", "/query")),
    "mail": ("outgoing messages", ("notification mail", "newsletter", "/send")), "upload": ("files and images", ("file upload", "image resize", "/files")), "report": ("exports and charts", ("monthly report", "CSV export", "/export")), "profile": ("user settings", ("avatar page", "settings page", "/me")),
}  # fmt: skip
FOLDERS = ("src/{a}.py", "app/{a}/handler.ts", "services/{a}.go", "{a}.rb", "lib/{a}/index.js", "{a}/views.py")


def incident(rng: random.Random) -> Iterator[Example]:
    area = rng.choice(list(AREAS))
    what = rng.choice(AREAS[area][1])
    level = rng.randint(0, 2)  # 0 cosmetic, 1 degraded, 2 blocked
    text = rng.choice((
        ("The colour of the button on the {w} is slightly off.", "Typo in the headline near {w}.", "The icon of {w} is two pixels too low.", "Spacing looks odd around {w}."),
        ("{w} takes {n} seconds instead of one.", "About {m}% of {w} requests fail and work on retry.", "{w} sometimes shows old data.", "{w} is slow since the last deploy."),
        ("Every {w} attempt ends in a server error 50{d}.", "{w} returns HTTP 502 for all users since the release.", "Nobody can use {w}: internal server error.", "{w} fails every time with status 503.", "500 on each {w} call, no one gets through."),
    )[level]).format(w=what, n=rng.randint(4, 60), m=rng.randint(5, 40), d=rng.randint(0, 4))  # fmt: skip
    text = text[0].upper() + text[1:] if rng.random() < 0.7 else text
    state = wrap(rng, text, ("report", "issue", "alert"), service=rng.choice(WORDS)) if rng.random() < 0.4 else text
    yield noul(
        rng,
        "made:incident_look",
        state,
        level > 0,
        ("Should someone investigate now?", "Is a closer look needed?", "investigate", "Open an incident?"),
        ("Can this be ignored for now?",),
        ("users are affected", "nobody is affected"),
    )
    levels = (
        ("cosmetic", "degraded", "blocked"),
        ("minor", "major", "critical"),
        ("looks only", "works, but badly", "users cannot work"),
    )
    yield score(rng, "made:incident_level", state, level, ("How severe is it?", "severity", "Impact on users"), levels)
    names: dict[str, Label] = {
        "cosmetic": (("cosmetic", "only looks"), ("minor", "nobody is stopped")),
        "degraded": (("degraded", "slow or partly failing"), ("partial", "some requests fail")),
        "blocked": (("blocked", "users cannot proceed at all"), ("down", "completely unusable")),
    }
    yield choice(
        rng,
        "made:incident_severity",
        state,
        ("Severity?", "How bad is it for users?"),
        names,
        ("cosmetic", "degraded", "blocked")[level],
    )
    folder = rng.choice(FOLDERS)
    files: dict[str, Label] = {
        k: ((folder.format(a=k), f"code for {v[0]}"), (folder.format(a=k), v[0])) for k, v in AREAS.items()
    }
    plain = {files[k][0][0]: v for k, v in files.items()}
    yield choice(
        rng,
        "made:incident_file",
        state,
        ("Which file should be opened first?", "Where is the fault most likely?", "Pick the file to look at.", "file"),
        plain,
        folder.format(a=area),
        6,
    )


COMMITS: dict[str, tuple[Label, tuple[str, ...]]] = {
    "feat": ((("feature", "Adds something new"), ("feat", "new behaviour")), ("add dark mode to {p}", "support streaming in {p}", "introduce a cache for {p}", "allow several {p} at once")),
    "fix": ((("fix", "Repairs a defect"), ("bugfix", "corrects wrong behaviour")), ("stop {p} from crashing on empty input", "correct off-by-one in {p}", "handle missing {p} without an exception", "prevent a leak in {p}")),
    "docs": ((("docs", "Documentation only"), ("documentation", "text for readers")), ("explain how to install {p}", "fix a typo in the readme of {p}", "describe the options of {p}")),
    "test": ((("test", "Tests only"), ("tests", "adds or changes tests")), ("cover {p} with unit tests", "add a regression test for {p}", "make tests of {p} faster")),
    "refactor": ((("refactor", "Same behaviour, other structure"), ("cleanup", "moves code without changing behaviour")), ("split {p} into two modules", "rename variables in {p}", "remove dead code from {p}")),
    "deps": ((("dependencies", "Updates a dependency"), ("chore", "versions and tooling")), ("bump {p} from 1.{m} to 1.{n}", "pin {p}", "update lock file for {p}")),
    "perf": ((("performance", "Makes something faster"), ("perf", "speed or memory")), ("halve the time of {p}", "avoid a copy in {p}", "speed up {p} by {m}%")),
}  # fmt: skip


def commit(rng: random.Random) -> Iterator[Example]:
    kind = rng.choice(list(COMMITS))
    text = rng.choice(COMMITS[kind][1]).format(p=rng.choice((*WORDS, *PACKAGES)), n=rng.randint(10, 99), m=rng.randint(1, 70))
    state = wrap(rng, text if rng.random() < 0.5 else text.capitalize() + ".", ("commit", "title", "subject"))
    yield choice(
        rng,
        "made:commit_type",
        state,
        ("What kind of change is this?", "commit type", "Classify the commit.", "Label for the pull request"),
        {k: v[0] for k, v in COMMITS.items()},
        kind,
    )
    yield noul(
        rng, "made:commit_code", state, kind not in ("docs", "test", "deps"), ("Does this change the product's own code?",)
    )
    asked = rng.choice(list(COMMITS))
    yield noul(
        rng,
        "made:commit_is",
        state,
        asked == kind,
        (f"Is this a {COMMITS[asked][0][0][0]} change?", f"{COMMITS[asked][0][0][1]}: is that what the commit does?"),
    )
