"""The public evaluation set sys1bench as a file of labelled cases for `oneread eval`. It is never trained on.

pip install sys1bench==0.3.2
python bench/sys1bench_cases.py sys1bench.jsonl && oneread eval sys1bench.jsonl
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any


def criteria(question: dict[str, Any]) -> Any:
    """As on the wire: an object of options, an array of levels, or nothing for a noul."""
    match question["type"]:
        case "choice":
            return {option["key"]: option["description"] for option in question["criteria"]}
        case "score":
            return [level["description"] for level in sorted(question["criteria"], key=lambda level: level["level"])]
        case _:
            return question["criteria"]


def case(record: dict[str, Any]) -> dict[str, Any]:
    """One line: a state with all its questions and their right answers."""
    return {
        "task": record["domain"],
        "group": record["language"],
        "state": record["state"],
        "questions": {
            key: {"type": q["type"], "instructions": q["instructions"], "criteria": criteria(q)}
            for key, q in record["questions"].items()
        },
        "answers": {key: q["ground_truth"] for key, q in record["questions"].items()},
    }


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = files("sys1bench").joinpath("data/canary/canary.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.dumps(case(json.loads(line)), ensure_ascii=False) for line in lines]
    Path(sys.argv[1]).write_text("\n".join(cases) + "\n", encoding="utf-8")
    print(f"{len(cases)} lines written to {sys.argv[1]}")


if __name__ == "__main__":
    main()
