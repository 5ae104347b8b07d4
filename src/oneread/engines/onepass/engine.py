"""The one-pass engine: reads in, readings out, driven by the batcher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from threading import Lock, RLock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...errors import EngineError
from ..base import NO_TOKENS, PAGE, Capabilities, Read, Reading, new_tokens, wanted
from ..load import Gauges
from .choose import steps_for
from .diffusion_gemma import Weights, forward
from .graphs import Graphs
from .head import cap, logits
from .options import Options
from .packing import Layout, Pack, pack_reads
from .prefix import PrefixCache, PrefixStats, page_keys
from .refine import read_in_steps
from .sampler import Sampler
from .store import KeyValueStore
from .transfer import DeviceBlock, Sizes, read_block, write_block
from .vision import VisionTower, image_rows


class OnePassModel:
    """DiffusionGemma in this process, as the batcher drives it. Calls are serialised by a lock.

    Args:
        weights: on the device that everything runs on.
        options: choices of speed and memory.
        vision: the image tower, or None for a reader of text.
        sampler: of text, and of reads of several steps.
    """

    def __init__(
        self, weights: Weights, options: Options, vision: VisionTower | None = None, sampler: Sampler | None = None
    ) -> None:
        config = weights.config
        self.weights, self.options, self.vision = weights, options, vision
        self.sampler = sampler or Sampler()
        element = weights.embedding.element_size()
        pages = options.kv_bytes // (config.kv_row_bytes(element) * PAGE)
        # One row more than a pass may use, for what pads it.
        self.store = KeyValueStore(config, pages, options.rows + 1, weights.dtype, weights.device)
        self.prefix = PrefixCache(pages)
        self.lock, self._first_in_line = RLock(), Lock()
        self._device = weights.device
        self._layout = Layout(config.window, config.images_both_ways, options.rows + 1)
        self._steps = steps_for(options, weights)
        self._graphs: Graphs | None = None
        if options.graphs:
            self._graphs = Graphs(self._compute, weights.device, options.rows, min(options.graph_rows, options.rows))
        self._closed = False

    @property
    def capabilities(self) -> Capabilities:
        """Labels under noise. The longest read is what the model's positions and the store's pages allow."""
        room = self.options.rows + self.prefix.stats.capacity * PAGE
        window = min(self.weights.config.positions, room)
        images, steps = self.vision is not None, self.sampler.steps
        # An image is computed whole, in one pass. Beside images that leave no page between them, that pass holds parts of the
        # pages before and after, and a canvas of the model's own may be wider than the multiple of a page that is told.
        image_room = max(0, self.options.rows - 3 * PAGE) if images else 0
        return Capabilities("label", window, True, images, generation=True, steps=steps, full=True, image_room=image_room)

    @property
    def prefix_stats(self) -> PrefixStats:
        """Counters of prompt tokens found cached, computed, and shared inside a pass."""
        return self.prefix.stats

    def gauges(self) -> Gauges:
        """On CUDA what this process has allocated on the device, elsewhere weights and store; and the pages that hold prompts."""
        if self._closed:
            return Gauges()
        page = self.weights.config.kv_row_bytes(self.weights.embedding.element_size()) * PAGE
        device, stats = self.weights.device, self.prefix.stats
        held = torch.cuda.memory_allocated(device) if device.type == "cuda" else _nbytes(self.weights) + self.store.nbytes
        return Gauges(held, stats.pages * page, stats.capacity * page)

    def bucket(self, read: Read) -> int:
        """One for all: rows of any length share a pass."""
        return 0

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        """Read all, in one pass if their rows fit one (`Options.rows`), else in as few as their order allows.

        Raises:
            EngineError: a read is longer than `capabilities.window`, has images and no tower to see them, or names token
                ids that the vocabulary lacks.
        """
        with self.turn():
            if self._closed:
                raise EngineError("the engine is closed")
            self._check(reads)
            kinds: dict[tuple[int, bool], list[int]] = {}
            for index, read in enumerate(reads):
                kinds.setdefault((read.steps, read.full), []).append(index)
            readings: dict[int, Reading] = {}
            for (steps, full), members in kinds.items():
                found: list[Reading] = []
                for group in self._groups([reads[index] for index in members]):
                    found += self._pass(group) if steps == 1 and not full else read_in_steps(self, group, steps)
                readings.update(zip(members, found, strict=True))
            return [readings[index] for index in range(len(reads))]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The device for this thread alone, in order of arrival: who leaves and comes again lets others in first.

        All work on the device is done in turns: while a graph is captured, no other thread may touch it.
        """
        with self._first_in_line:
            self.lock.acquire()
        try:
            with self._here():
                yield
        finally:
            self.lock.release()

    def _here(self) -> AbstractContextManager[object]:
        """The engine's device as this thread's current one: Triton launches there, and events are recorded there."""
        return torch.cuda.device(self._device) if self._device.type == "cuda" else nullcontext()

    @torch.inference_mode()
    def warm_up(self, progress: bool = False) -> None:
        """Compile kernels and capture graphs of the sizes in `Options.warm_rows`, so that no request waits for it."""
        with self.lock, self._here():
            if self._graphs is not None:
                most = min(self.options.graph_rows, self.options.rows)
                self._graphs.warm((r for r in self.options.warm_rows if r <= most), progress)

    def close(self) -> None:
        """Free the device's memory."""
        with self.lock:
            self._closed = True
            # The steps too: what tells the copy engine where weights are holds them.
            del self.weights, self.store, self.vision, self._graphs, self._steps
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def _check(self, reads: Sequence[Read]) -> None:
        window, vocab = self.capabilities.window, self.weights.config.vocab
        for read in reads:
            if read.tokens > window:
                raise EngineError(f"a read takes at most {window} tokens here, this one has {read.tokens}")
            if read.images and self.vision is None:
                raise EngineError("this reader was loaded without its image tower")
        tokens = np.concatenate([NO_TOKENS, *(part for read in reads for part in (read.prompt, read.canvas))])
        if len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < vocab:
            raise EngineError(f"token ids should lie between 0 and {vocab - 1}")

    def _groups(self, reads: Sequence[Read]) -> Iterator[list[Read]]:
        """Runs of reads whose rows fit a pass; a read too long for one has its prompt computed into pages first."""
        if 0 < sum([read.tokens for read in reads]) <= self.options.rows:
            # Whatever they share.
            yield list(reads)
            return
        group: list[Read] = []
        rows = 0
        for read in reads:
            size = new_tokens(read, group[-1] if group else None)
            if rows + size > self.options.rows and group:
                # Before a long prompt is computed: a pass in between could evict its pages again.
                yield group
                group, rows, size = [], 0, read.tokens
            if size > self.options.rows:
                size = self._prefill(read)
            group.append(read)
            rows += size
        if group:
            yield group

    def _prefill(self, read: Read) -> int:
        """Compute a long prompt into pages, a pass at a time. Returns the rows that are left for the read's own pass."""
        limit = self.options.rows - len(read.canvas)
        _, bounds = page_keys(read.prompt, read.images)
        starts = [at for at in bounds[:-1] if not any(i.start < at < i.start + i.tokens for i in read.images)]
        done = 0
        while len(read.prompt) - done > limit:
            check_wanted()
            stop = max((s for s in starts if s - done <= self.options.rows), default=0)
            if stop <= done:
                raise EngineError(f"an image takes more rows than a pass has ({self.options.rows})")
            images = tuple(i for i in read.images if i.start < stop)
            self._pass([Read(read.canvas[:0], (), read.prompt[:stop], images=images)])
            done = stop
        return len(read.prompt) - done + len(read.canvas)

    @torch.inference_mode()
    def denoise(self, read: Read, soft: Tensor | None) -> Tensor:
        """One denoising step of a read's whole canvas.

        Args:
            soft: what `expected_embeddings` gave for the step before, (canvas, hidden); None on the first step.

        Returns:
            float32 (canvas, vocab), softcapped logits on the device.
        """
        with self.lock, self._here():
            self._check([read])
            if read.tokens > self.options.rows:
                self._prefill(read)
            with self._packed([read]) as pack:
                # The canvas is a pass's last rows; what stands before it is prompt, which takes no part in this.
                rows = None if soft is None else torch.nn.functional.pad(soft, (0, 0, pack.rows - len(soft), 0))
                device, canvas = self._transfer(pack, rows), len(read.canvas)
                device.batch.wanted = torch.arange(pack.rows - canvas, pack.rows, device=self.weights.device)
                device.batch.wanted_count = torch.full((1,), canvas, dtype=torch.int32, device=self.weights.device)
                weights = self.weights
                return cap(logits(self._hidden(device), weights.embedding), weights.config.softcap)

    @torch.inference_mode()
    def read_hidden(self, reads: Sequence[Read], soft: Tensor | None) -> tuple[list[Reading], Tensor]:
        """One pass: readings, and the (slots, hidden) they were read off, after the final norm. For `read_in_steps`.

        Args:
            soft: (slots, hidden), what the slots are conditioned on; None on a first step.
        """
        weights = self.weights
        with self._packed(reads) as pack:
            rows: Tensor | None = None
            if soft is not None:
                rows = torch.zeros(pack.rows, soft.shape[1], dtype=soft.dtype, device=soft.device)
                rows[torch.from_numpy(pack.slot_rows).long().to(soft.device)] = soft
            device = self._transfer(pack, rows)
            hidden = self._hidden(device)
            block = self._steps.read_slots(hidden, weights, device.labels, device.label_slots)
        scores = block.cpu().numpy()
        return _readings(reads, pack, scores[: len(pack.labels)], scores[len(pack.labels) :]), hidden

    @torch.inference_mode()
    def expected_embeddings(self, scores: Tensor) -> Tensor:
        """Logits (rows, vocab) -> the embedding each row expects under them, (rows, hidden)."""
        weights = self.weights
        shares = torch.softmax(scores.to(weights.dtype), dim=-1, dtype=torch.float32).to(weights.dtype)
        return shares @ weights.embedding * weights.embedding_scale

    @contextmanager
    def _packed(self, reads: Sequence[Read]) -> Iterator[Pack]:
        """A pass over reads. Its new pages can be found once the body is through; if it fails they are dropped."""
        pack = pack_reads(reads, self.prefix, self._layout)
        try:
            yield pack
            self.prefix.written(pack.fresh)
        finally:
            self.prefix.release(pack.pages)

    def _pass(self, reads: Sequence[Read]) -> list[Reading]:
        nothing = np.zeros(0, np.float32)
        with self._packed(reads) as pack:
            # The beginning of a long prompt may be cached already.
            scores, log_sum_exp = self._run(pack) if pack.rows else (nothing, nothing)
        return _readings(reads, pack, scores, log_sum_exp)

    @torch.inference_mode()
    def _run(self, pack: Pack) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """One pass: float32 (labels,) and (slots,)."""
        block = self._graphs.run(pack) if self._graphs is not None and not pack.images else None
        if block is None:
            block = self._read(self._transfer(pack)).cpu().numpy()
        return block[: len(pack.labels)], block[len(pack.labels) :]

    def _compute(self, block: Tensor, sizes: Sizes) -> Tensor:
        """A pass from its block on the device to its one block of results, for `Graphs`."""
        return self._read(read_block(block, sizes))

    def _read(self, device: DeviceBlock) -> Tensor:
        return self._steps.read_slots(self._hidden(device), self.weights, device.labels, device.label_slots)

    def _hidden(self, device: DeviceBlock) -> Tensor:
        """(wanted rows, hidden), after the final norm."""
        self._steps.count = device.count
        return self._steps.norm(forward(self.weights, device.batch, self.store, self._steps), self.weights.norm)

    def _transfer(self, pack: Pack, soft: Tensor | None = None) -> DeviceBlock:
        sizes = Sizes.of(pack)
        # Pinned, so that nothing waits for the copy. Torch keeps this memory for later passes, once the copy is done.
        host = torch.empty(sizes.words, dtype=torch.int32, pin_memory=self.weights.device.type == "cuda")
        write_block(pack, sizes, self.options.rows, host.numpy())
        device = read_block(host.to(self.weights.device, non_blocking=True), sizes)
        if pack.images and self.vision is not None:
            device.batch.image_rows, device.batch.image_values = image_rows(pack.images, self.vision)
        device.batch.soft = soft
        return device


def check_wanted() -> None:
    """Raise `EngineError` where nobody waits any more for what is being computed (`base.wanted`)."""
    if not wanted.get()():
        raise EngineError("nobody waits for this any more")


def _readings(reads: Sequence[Read], pack: Pack, scores: NDArray[np.float32], log_sum_exp: NDArray[np.float32]) -> list[Reading]:
    """A pass's results, read by read."""
    readings, label, slot = [], 0, 0
    for read, reused in zip(reads, pack.reused, strict=True):
        labels, slots = label + sum([len(s.labels) for s in read.slots]), slot + len(read.slots)
        readings.append(Reading(scores[label:labels], log_sum_exp[slot:slots], reused))
        label, slot = labels, slots
    return readings


def _nbytes(part: object) -> int:
    """Of all tensors inside."""
    if isinstance(part, Tensor):
        return part.nbytes
    if isinstance(part, list | tuple):
        return sum(map(_nbytes, part))
    return sum(_nbytes(getattr(part, f.name)) for f in fields(part)) if is_dataclass(part) else 0
