"""A run's config and report -> reader.json without its files, for training.export.

python -m training.card RUN OUT.json [--name oneread-mini-1]
"""

from __future__ import annotations

import argparse
import datetime
import json
from pathlib import Path

DESCRIPTION = (
    "A small encoder that reads option markers, trained on labelled decisions: English first, up to 512 positions a row."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--name", default="oneread-mini-1")
    args = parser.parse_args()
    config = json.loads((args.run / "config.json").read_text())
    m, form, settings = config["model"], config["form"], config["settings"]
    entries = {
        "name": args.name,
        "description": DESCRIPTION,
        "release_date": datetime.date.today().isoformat(),
        "licence": "Apache-2.0",
        "model": {
            "layers": m["layers"],
            "width": m["width"],
            "heads": m["heads"],
            "ffn": m["inner"],
            "vocab": m["vocab"],
            "positions": m["positions"],
            "position_offset": m["position_offset"],
            "relative_buckets": m["buckets"],
            "relative_distance": 128,
            "eps": m["eps"],
            "gelu": "erf",
        },
        "form": {**form, "longest": settings["longest"]} if form["layout"] != "full" else form,
        "temperatures": json.loads((args.run / "report.json").read_text())["temperatures"],
    }
    args.out.write_text(json.dumps(entries, indent=2))


if __name__ == "__main__":
    main()
