"""What the engine tells of its memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oneread.engines.load import Gauged
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.prefix import PAGE

from .tiny import random_read


def test_weights_store_and_pages_are_told(open_engine: Callable[..., OnePassModel]) -> None:
    plain, cached = open_engine(kv_bytes=0), open_engine(kv_bytes=2**22)
    assert isinstance(cached, Gauged)
    page = cached.weights.config.kv_row_bytes(4) * PAGE
    assert plain.gauges().kv_room == 0
    assert cached.gauges().kv == 0
    assert cached.gauges().kv_room == 2**22 // page * page
    assert cached.gauges().held - plain.gauges().held >= cached.gauges().kv_room
    assert plain.gauges().held > plain.weights.embedding.nbytes
    cached.forward([random_read(np.random.default_rng(0), 3 * PAGE, 4)])
    assert cached.gauges().kv == 3 * page
