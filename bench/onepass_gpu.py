"""The one-pass engine on one GPU: one command, one table, one JSON file. Random weights of the released sizes.

    python bench/onepass_gpu.py --out results.json                        the table of docs/performance.md
    python bench/onepass_gpu.py --groups check bf16 --rows one many       some rows only
    python bench/onepass_gpu.py --groups variants --out variants.json     every choice of kernel on its own
    python bench/onepass_gpu.py --dry-run                                 the same script on a CPU with a tiny model

Each group of rows (a form of weights, mostly) runs in a process of its own, so that a row that fails or hangs costs no
other: onepass_rows.py measures, this file starts it again for what is left, and prints. With --out naming a file that
exists, its rows are kept and those measured now take their place.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]

from onepass_rows import ROWS  # noqa: E402

Results = dict[str, dict[str, Any]]
"""Figures by "group, row"."""

TABLE = (
    ("bf16, one", "one read, 300 + 32, bf16", "<= 14 ms", "10.5"),
    ("12 bits, one", "one read, 300 + 32, experts in 12 bits", "<= 14 ms", ""),
    ("both, one", "one read, 300 + 32, experts in both forms", "<= 14 ms", ""),
    ("fp8, one", "one read, 300 + 32, FP8", "<= 8 ms", "5.4"),
    ("bf16, many", "32 reads, uncached, bf16", ">= 230/s", "385"),
    ("12 bits, many", "32 reads, uncached, experts in 12 bits", "", ""),
    ("both, many", "32 reads, uncached, experts in both", ">= 230/s", "385"),
    ("fp8, many", "32 reads, uncached, FP8", ">= 420/s", "769"),
    ("bf16, cached", "32 reads, 200 schema tokens cached, bf16", ">= 550/s", "970"),
    ("12 bits, cached", "32 reads, 200 cached, experts in 12 bits", "", ""),
    ("both, cached", "32 reads, 200 cached, experts in both", ">= 550/s", "970"),
    ("fp8, cached", "32 reads, 200 schema tokens cached, FP8", "", ""),
    ("bf16, draws", "8 draws of one request, bf16", "<= 1.3x", "1.0x"),
    ("12 bits, draws", "8 draws, experts in 12 bits", "<= 1.3x", "1.0x"),
    ("both, draws", "8 draws, experts in both forms", "<= 1.3x", "1.0x"),
    ("fp8, draws", "8 draws of one request, FP8", "<= 1.3x", "1.0x"),
    ("bf16, two passes", "two passes, same kernels, bf16", ">= 1.6x", "1.9x"),
    ("12 bits, two passes", "two passes, experts in 12 bits", ">= 1.6x", "1.9x"),
    ("both, two passes", "two passes, experts in both forms", ">= 1.6x", "1.9x"),
    ("fp8, two passes", "two passes, same kernels, FP8", ">= 1.6x", "1.9x"),
    ("transformers, one", "transformers, one read, bf16", "report", ""),
    ("transformers, many", "transformers, 32 reads, bf16", "report", ""),
)


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure(group: str, rows: Iterable[str], args: argparse.Namespace) -> Results:
    """Run a group's rows, in as many processes as it takes."""
    left, results = list(rows), {}
    deadline = time.perf_counter() + args.group_seconds
    while left:
        seconds = deadline - time.perf_counter()
        if seconds < min(15, args.group_seconds / 2):
            return results | {f"{group}, {row}": {"state": "failed", "error": "no time was left"} for row in left}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.jsonl"
            command = [sys.executable, str(Path(__file__).with_name("onepass_rows.py")), group, *left]
            command += ["--out", str(path), "--reps", str(args.reps), *(["--dry-run"] if args.dry_run else [])]
            command += ["--tiles", str(args.tiles)] if args.tiles else []
            try:
                code = subprocess.run(command, timeout=seconds, check=False).returncode
                ending = f"its process ended with {code}"
            except subprocess.TimeoutExpired:
                ending = f"not done when the group's {args.group_seconds:.0f} s were over"
            lines = lines_of(path)
        for line in lines:
            if line["state"] != "begun":
                results[f"{group}, {line['row']}"] = line
                left.remove(line["row"])
        if not left:
            break
        begun = lines[-1]["row"] if lines else left[0]
        if begun in left:
            results[f"{group}, {begun}"] = {"state": "failed", "error": ending}
            left.remove(begun)
    return results


def table(results: Results) -> str:
    lines = [f"{'row':42} {'ms':>8} {'goal':>9} {'floor':>6} {'dec/s':>7} {'GB/s':>6} {'TF/s':>6} {'peak GB':>8}  note"]
    shown = [entry for entry in TABLE if entry[0] in results]
    shown += [(key, key, "", "") for key in results if key.startswith("variants")]
    for key, name, goal, floor in shown:
        r = results[key]
        if r["state"] == "failed":
            lines.append(f"{name:42} FAILED {r['error'][:200]}")
            continue
        cells = [f"{r[k]:.0f}" if r.get(k) is not None else "" for k in ("decisions_per_s", "gbytes_per_s", "tflops", "peak_gb")]
        note = r.get("note", "")
        ours = results.get(key.replace("transformers", "bf16"), {})
        if key.startswith("transformers") and "ms" in ours:
            note = f"ours is {r['ms'] / ours['ms']:.2f}x faster"
        lines.append(
            f"{name:42} {r['ms']:8.2f} {goal:>9} {floor:>6} {cells[0]:>7} {cells[1]:>6} {cells[2]:>6} {cells[3]:>8}  {note}"
        )
    for key, r in results.items():
        if r["state"] == "failed" and key not in {entry[0] for entry in shown}:
            lines.append(f"{key}: FAILED {r['error'][:200]}")
        elif key.startswith("ceilings"):
            lines.append(
                f"{key}: " + "".join(f"{r[k]:.0f} {u}" for k, u in (("gbytes_per_s", "GB/s"), ("tflops", "TF/s")) if k in r)
            )
        elif key.startswith("check"):
            fast, torch = r["fast"], r["torch"]
            lines.append(
                f"{key}: error to float32, mean (max): fast {fast['mean']:.4f} ({fast['max']:.3f}), plain torch "
                f"{torch['mean']:.4f} ({torch['max']:.3f}), spread {r['spread']:.2f}: {'ok' if r['ok'] else 'WRONG'}"
            )
        elif "kinds" in r:
            total = r["device_ms"] or 1.0
            kinds = ", ".join(f"{k} {v:.2f} ({100 * v / total:.0f} %)" for k, v in r["kinds"].items())
            host = f"host {r['host_ms']:.2f} before" if "host_ms" in r else "host not measured"
            lines.append(f"{key}: device {r['device_ms']:.2f} of {r['wall_ms']:.2f} ms, {host}: {kinds}")
            lines.append("    " + "; ".join(f"{k[:44]} {v:.2f}" for k, v in list(r["kernels"].items())[:12]))
    return "\n".join(lines)


def about() -> dict[str, str]:
    import torch
    from torch.version import cuda

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    versions = {"torch": torch.__version__, "cuda": str(cuda)}
    return {"device": device, **versions, "date": time.strftime("%Y-%m-%d"), "command": " ".join(sys.argv)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write all figures here as JSON")
    parser.add_argument("--reps", type=int, default=20, help="timed repetitions of a row of one read; others take fewer")
    parser.add_argument(
        "--groups", nargs="+", choices=ROWS, default=["ceilings", "check", "bf16", "12 bits", "both", "fp8", "transformers"]
    )
    parser.add_argument("--rows", nargs="+", help="only the groups' rows of these names")
    parser.add_argument("--group-seconds", type=float, default=150, help="most time of one group")
    parser.add_argument("--tiles", type=Path, help="the experts' block shapes from onepass_tune.py, instead of plan.py's")
    parser.add_argument("--dry-run", action="store_true", help="a tiny model on the CPU, to try the script")
    args = parser.parse_args()
    known = sorted({row for group in args.groups for row in ROWS[group]})
    if unknown := set(args.rows or ()) - set(known):
        parser.error(f"no group has {', '.join(sorted(unknown))}; rows are {', '.join(known)}")
    results: Results = json.loads(args.out.read_text())["rows"] if args.out and args.out.exists() else {}
    for group in args.groups:
        start = time.perf_counter()
        results |= measure(group, [row for row in ROWS[group] if not args.rows or row in args.rows], args)
        print(f"[{group}: {time.perf_counter() - start:.0f} s]", flush=True)
        if args.out:
            args.out.write_text(json.dumps({"about": about(), "rows": results}, indent=1))
    print(table(results))
    return 1 if any(r["state"] == "failed" or r.get("ok") is False for r in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
