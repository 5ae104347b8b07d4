"""bf16 in 12 bits beside the same in fractions, one weight at a time: what is kept, what is rounded and by how much."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oneread.engines.onepass.linear import Linear
from oneread.engines.onepass.packed import ROUNDED_BY, pack, span_of, unpack

BOUND = Fraction(1, 2 ** -int(ROUNDED_BY.removeprefix("2^")))
NEGATIVE_ZERO = 0x8000


def number(bits: int) -> Fraction:
    """A finite bf16 number from its sixteen bits."""
    exponent, mantissa = bits >> 7 & 0xFF, bits & 0x7F
    size = Fraction(mantissa + 128 * (exponent > 0)) * Fraction(2) ** (max(exponent, 1) - 134)
    return -size if bits >> 15 else size


def bits_of(weight: torch.Tensor) -> list[list[int]]:
    return (weight.contiguous().view(torch.int16).int() & 0xFFFF).tolist()


def matrix(bits: list[list[int]] | np.ndarray) -> torch.Tensor:
    """bfloat16 from unsigned bits."""
    return torch.from_numpy(np.asarray(bits, dtype=np.uint16).view(np.int16).copy()).view(torch.bfloat16)


def expected_row(row: list[int]) -> list[Fraction]:
    """What 12 bits hold of a row's weights: multiples of a step below its sixteen exponents, of their own above."""
    base = max(max(bits >> 7 & 0xFF for bits in row) - 15, 0)
    step, least = Fraction(2) ** (base - 133), Fraction(2) ** (base - 126)
    return [w if abs(w := number(bits)) >= least else round(w / step) * step for bits in row]


def read_out(low: torch.Tensor, high: torch.Tensor, scale: torch.Tensor) -> list[list[tuple[bool, Fraction]]]:
    """Sign and value of each weight, from where the module says its bits lie."""
    half, inputs = low.shape
    apart = 64 if inputs % 128 == 0 else 32
    rows = []
    for output in range(2 * half):
        line, upper, row = output % half, output // half, []
        for at in range(inputs):
            block, place = divmod(at, 2 * apart)
            byte = int(low[line, at]) >> 8 * upper & 0xFF
            four = int(high[line, block * apart + place % apart]) >> 8 * (place // apart) + 4 * upper & 0xF
            row.append((four >= 8, number((four & 8) << 12 | (four & 7) << 8 | byte) * Fraction(float(scale[output]))))
        rows.append(row)
    return rows


def check(weight: torch.Tensor) -> int:
    """Pack a matrix and hold every weight to what it should have become. Returns how many were rounded."""
    low, high, scale, changed = pack(weight)
    outputs, inputs = weight.shape
    assert (low.dtype, high.dtype, scale.dtype) == (torch.int16, torch.int16, torch.float32)
    assert (low.shape, high.shape, scale.shape) == ((outputs // 2, inputs), (outputs // 2, inputs // 2), (outputs,))
    got, rounded = bits_of(unpack(low, high, scale, torch.bfloat16)), 0
    for bits, stored, row in zip(bits_of(weight), read_out(low, high, scale), got, strict=True):
        want = expected_row(bits)
        assert [value for _, value in stored] == want
        assert [sign for sign, _ in stored] == [b >> 15 == 1 for b in bits], "zeros and what became zero keep their signs too"
        assert [number(b) for b in row] == want
        assert [b >> 15 for b in row] == [b >> 15 for b in bits]
        largest = max(abs(number(b)) for b in bits)
        for was, now in zip(map(number, bits), want, strict=True):
            assert now == was if abs(was) >= largest / 2**14 else abs(now - was) <= largest * BOUND
            rounded += now != was
    assert changed == rounded
    return changed


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.sampled_from([(2, 64), (4, 64), (2, 128), (2, 192), (4, 256)]),
    largest=st.integers(0, 142),
    spread=st.sampled_from([0, 3, 15, 16, 17, 24, 40, 142]),
    special=st.floats(0, 1),
)
def test_every_weight_is_kept_or_rounded_to_even(
    seed: int, sizes: tuple[int, int], largest: int, spread: int, special: float
) -> None:
    rng = np.random.default_rng(seed)
    exponent = np.maximum(largest - rng.integers(0, spread + 1, sizes), 0)
    # Many mantissas that lie on or beside a half.
    mantissa = np.where(rng.random(sizes) < special, rng.choice([0, 1, 63, 64, 65, 127], sizes), rng.integers(0, 128, sizes))
    check(matrix(rng.integers(0, 2, sizes) << 15 | exponent << 7 | mantissa))


@pytest.mark.parametrize("inputs", [64, 128, 192, 384])
def test_weights_of_a_trained_kind_are_nearly_all_kept(inputs: int) -> None:
    weight = torch.randn(8, inputs, generator=torch.Generator().manual_seed(inputs)).bfloat16() * 0.02
    assert check(weight) < weight.numel() / 500
    weight = torch.randn(2, inputs, generator=torch.Generator().manual_seed(1)) ** 9
    assert check(weight.bfloat16()) > 0, "and of a kind of many sizes some are rounded"


@pytest.mark.parametrize("inputs", [64, 128])
def test_each_bit_lies_where_the_module_says(inputs: int) -> None:
    """One weight unlike all others, in each place."""
    for output in range(4):
        for at in range(inputs):
            weight = torch.full((4, inputs), 1.5).bfloat16()
            weight[output, at] = -(2.0**-9)
            packed = pack(weight)
            assert torch.equal(unpack(*packed[:3], torch.float32), weight.float())
            assert read_out(*packed[:3])[output][at] == (True, Fraction(-1, 512))


def test_what_is_least_of_sixteen_exponents_is_kept_and_less_is_rounded() -> None:
    row = [1.0] + [0.0] * 63
    # Of a largest weight 1, 2^-14 has its seven bits left, 2^-15 six, 2^-21 none, and half of that rounds to even: to nothing.
    row[1:6] = [2.0**-14 * (1 + 127 / 128), 2.0**-15 * (1 + 2 / 128), 2.0**-21, -(2.0**-22), 1.5 * 2.0**-21]
    row[6:9] = [2.0**-15 * (1 + 1 / 128), 2.0**-22 * (1 + 1 / 128), 2.0**-30]
    weight = torch.tensor([row, row]).bfloat16()
    assert check(weight) == 2 * 5
    low, high, scale, _ = pack(weight)
    kept = unpack(low, high, scale, torch.float32)[0]
    assert kept[:4].tolist() == row[:4]
    assert kept[4:9].tolist() == [0.0, 2.0**-20, 2.0**-15, 2.0**-21, 0.0]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("zeros", [0] * 64),
        ("zeros of both signs", [0, NEGATIVE_ZERO] * 32),
        ("subnormal", [0, 1, 2, 5, 64, 127, NEGATIVE_ZERO | 1, NEGATIVE_ZERO | 127] * 8),
        ("subnormal and the least normal", [1, 3, 127, 128, 129, 255, 256, NEGATIVE_ZERO | 3] * 8),
        ("all of the sixteen exponents from the bottom", [e << 7 | 5 for e in range(16)] * 4),
        ("one more", [e << 7 | 5 for e in range(1, 17)] * 3 + list(range(16))),
        ("subnormal ones that are rounded", [18 << 7, *range(1, 64)]),
        ("the largest that are held", [142 << 7 | 127, NEGATIVE_ZERO | 142 << 7 | 127] * 32),
        ("the largest beside the least", [142 << 7 | 127, 1, NEGATIVE_ZERO | 1, 1 << 7] * 16),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rows_of_odd_values(name: str, row: list[int]) -> None:
    del name
    # Beside a row of another size, since each has a scale of its own.
    check(matrix([row, [127 << 7 | 3] * 64]))
    check(matrix([row, row, [0] * 64, row]))


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 65536.0, -65536.0, 3e38])
def test_numbers_that_twelve_bits_do_not_hold_are_refused(value: float) -> None:
    weight = torch.ones(4, 64).bfloat16()
    weight[2, 17] = value
    with pytest.raises(ValueError, match="finite numbers below 65,536"):
        pack(weight)


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (torch.ones(3, 64).bfloat16(), r"an even number of outputs, not torch\.bfloat16 \[3, 64\]"),
        (torch.ones(2, 2, 64).bfloat16(), r"not torch\.bfloat16 \[2, 2, 64\]"),
        (torch.ones(2, 64), r"a bfloat16 matrix .* not torch\.float32 \[2, 64\]"),
        (torch.ones(2, 64).half(), r"a bfloat16 matrix .* not torch\.float16"),
        (torch.ones(2, 96).bfloat16(), "a multiple of 64 inputs, not 96"),
        (torch.ones(2, 32).bfloat16(), "a multiple of 64 inputs, not 32"),
    ],
    ids=["outputs", "stack", "float32", "float16", "96", "32"],
)
def test_other_forms_are_refused(weight: torch.Tensor, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        pack(weight)


def test_inputs_that_share_a_number_stand_half_a_block_apart() -> None:
    assert [span_of(inputs) for inputs in (64, 128, 192, 704, 2816)] == [32, 64, 32, 32, 64]


def test_a_matrix_that_is_a_part_of_another_is_packed_as_its_copy() -> None:
    wide = torch.randn(6, 128, generator=torch.Generator().manual_seed(0)).bfloat16()
    part = wide[1:5, 64:]
    assert not part.is_contiguous()
    for got, want in zip(pack(part), pack(part.clone()), strict=True):
        assert got == want if isinstance(got, int) else torch.equal(got, want)


def test_a_stack_is_unpacked_whole_and_expert_by_expert() -> None:
    weights = torch.randn(3, 4, 128, generator=torch.Generator().manual_seed(0)).bfloat16()
    low, high, scale = (torch.stack(parts) for parts in zip(*(pack(weight)[:3] for weight in weights), strict=True))
    stack = Linear(low, scale, high=high)
    assert (stack.outputs, stack.inputs) == (4, 128)
    assert stack.nbytes == weights.numel() * 12 // 8 + 3 * 4 * 4
    whole = stack.dequantised(torch.bfloat16)
    assert whole.dtype == torch.bfloat16
    x = torch.randn(5, 128, generator=torch.Generator().manual_seed(1)).bfloat16()
    for expert in range(3):
        one = stack[expert]
        assert (one.outputs, one.inputs) == (4, 128)
        assert torch.equal(one.dequantised(torch.bfloat16), whole[expert])
        assert torch.equal(one(x), torch.nn.functional.linear(x, whole[expert]))
    assert torch.equal(whole.float(), stack.dequantised(torch.float32))
