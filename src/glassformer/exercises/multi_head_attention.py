"""Checks for the exercises on several heads."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array

from glassformer.exercises.checking import check
from glassformer.exercises.judging import Answer, compare, compare_number
from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.heads import merge_heads, split_heads

_RNG = np.random.default_rng(19)
_BIASES = "the biases are missing: each of the four projections adds one number for each of its outputs"
_HEADS_TIMES = "counted once for each head: the heads share d_model between them, each is d_model / 8 wide"


@check
def check_merge(attempt: Answer) -> None:
    """Judge ``merge(x)``, which lays pieces (heads, time, d_head) side by side: (time, d_model)."""
    compare(
        attempt,
        merge_heads,
        {
            "reshaped without turning the axes first: a row now holds pieces of several words": (
                lambda x: x.reshape(x.shape[1], -1)
            ),
            "the numbers of the heads alternate: each head's piece should stay in one piece": (
                lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1)
            ),
            "the heads are added up: they should stand side by side": lambda x: x.sum(axis=0),
            "the heads are averaged: they should stand side by side": lambda x: x.mean(axis=0),
            "the axes are turned, but two of them still have to become one": lambda x: x.swapaxes(0, 1),
            "the pieces stand one below the other: heads belong side by side, each word in one row": (
                lambda x: x.reshape(-1, x.shape[-1])
            ),
            "the heads stand in reverse order": lambda x: merge_heads(x[::-1]),
        },
        [
            (np.array([[[1.0, 2.0]]]),),
            (np.arange(12.0).reshape(2, 3, 2),),
            (_RNG.standard_normal((3, 5, 2)),),
        ],
    )


@check
def check_parameters(attempt: Any) -> None:
    """Judge how many parameters eight heads of a width of 512 have, biases included."""
    square, biases = 512 * 512, 4 * 512
    compare_number(
        attempt,
        4 * square + biases,
        {
            4 * square: _BIASES,
            8 * 4 * square: _HEADS_TIMES,
            8 * (4 * square + biases): _HEADS_TIMES,
            3 * square: "one matrix is missing: W_O comes after the heads",
            3 * (square + 512): "one matrix is missing: W_O comes after the heads",
            4 * 512 * 64: "that is one head's share: there are eight heads",
            4 * 512 * 64 + 4 * 64: "that is one head's share: there are eight heads",
        },
        lambda value: f"four projections from 512 to 512 numbers, each with a bias, do not have {value:,.0f}",
    )


@check
def check_contributions(attempt: Answer) -> None:
    """Judge ``contributions(attended, output_weight)``: what each head adds to the output."""

    def right(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return attended @ output_weight.reshape(heads, width, -1)

    def by_columns(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return attended @ output_weight.T.reshape(heads, width, -1)

    def alternating(attended: Array, output_weight: Array) -> Array:
        heads = len(attended)
        return np.stack([attended[i] @ output_weight[i::heads] for i in range(heads)])

    def first_block(attended: Array, output_weight: Array) -> Array:
        return attended @ output_weight[: attended.shape[-1]]

    def columns_cut(attended: Array, output_weight: Array) -> Array:
        output = merge_heads(attended) @ output_weight
        return split_heads(output, len(attended))

    compare(
        attempt,
        right,
        {
            "this is their sum, the output: wanted is what each head adds to it": (
                lambda attended, weight: merge_heads(attended) @ weight
            ),
            "the mean: the contributions of the heads add up to the output": (
                lambda attended, weight: right(attended, weight) / len(attended)
            ),
            "W_O is cut across its columns: a head meets d_v of its rows": by_columns,
            "the finished output is cut into pieces: all heads are mixed in each of them": columns_cut,
            "the rows of W_O are dealt out by turns: each head has d_v rows that stand together": alternating,
            "every head meets the first rows of W_O: each has rows of its own": first_block,
        },
        [
            (np.array([[[2.0]]]), np.array([[3.0]])),
            (np.array([[[1.0, 2.0]], [[3.0, 4.0]]]), np.arange(16.0).reshape(4, 4)),
            (_RNG.standard_normal((3, 5, 2)), _RNG.standard_normal((6, 6))),
        ],
    )


@check
def check_mended_heads(attempt: Answer) -> None:
    """Judge the mended ``attend(query, key, value, num_heads)``: attention in each head, merged."""

    def heads(d_k: Any = None, split: Answer = split_heads, merge: Answer = merge_heads) -> Answer:
        def run(query: Array, key: Array, value: Array, num_heads: int) -> Array:
            width = query.shape[-1] if d_k == "d_model" else query.shape[-1] // num_heads
            factor = 1.0 if d_k is None else np.sqrt(query.shape[-1] // num_heads / width)
            if d_k == "undivided":
                factor = np.sqrt(query.shape[-1] // num_heads)
            pieces = [split(x, num_heads) for x in (query * factor, key, value)]
            return merge(scaled_dot_product_attention(*pieces)[0])

        return run

    def reshaped(x: Array, num_heads: int) -> Array:
        return x.reshape(num_heads, len(x), -1)

    def glued(x: Array) -> Array:
        return x.reshape(x.shape[1], -1)

    compare(
        attempt,
        heads(),
        {
            "both bugs are still there: look at the reshape, and at what the scores are divided by": (
                heads("d_model", reshaped, glued)
            ),
            "still cut with a reshape alone: a head gets numbers of several columns": (
                heads(None, reshaped, glued)
            ),
            "cut rightly, but glued with a reshape alone: turn the axes back first": heads(merge=glued),
            "glued rightly, but cut with a reshape alone: turn the axes": heads(split=reshaped),
            "still divided by the root of d_model: a head's vectors have d_model / num_heads numbers": (
                heads("d_model")
            ),
            "the scores are no longer divided by √d_k": heads("undivided"),
            "cut rightly, glued with a reshape alone, divided by the root of d_model": (
                heads("d_model", merge=glued)
            ),
            "one head: num_heads plays no part": (
                lambda query, key, value, num_heads: scaled_dot_product_attention(query, key, value)[0]
            ),
        },
        [
            (*(_RNG.standard_normal((size, width)) for _ in range(3)), num_heads)
            for size, width, num_heads in ((1, 1, 1), (2, 4, 2), (5, 6, 3))
        ],
    )


@check
def check_best_guess(attempt: Any) -> None:
    """Judge how often three answers of four values can be right when only the mixture of them is known."""
    compare_number(
        attempt,
        20 / 64,
        {
            1 / 64: "that is blind guessing: the mixture tells which values there are, only not their order",
            1 / 6: "six orders are too many where two of the values are equal",
            10 / 16: "that is for two questions: here there are three",
            1 / 20: "there are 20 mixtures, each with one right guess: but how many ordered answers?",
            4 / 64: "right is more than three equal values: in any mixture one of the orders can be guessed",
            24 / 64: "that is how often all three values differ: then one order of six is right",
            4 / 64
            + 24 / 64 / 6: "lists with two equal values are missing: one of their three orders is right",
        },
        lambda value: (
            f"a share lies between 0 and 1, got {value:g}"
            if not 0 <= value <= 1
            else f"not {value:g}: count the mixtures of three values, for one answer to each can be right"
        ),
    )


@check
def check_sharpness(attempt: Any) -> None:
    """Judge the smallest whole sharpness with which the hand-made heads can never be wrong."""
    compare_number(
        attempt,
        4,
        {
            2: "without the divisor that would do: scores are divided by √d_k, and here d_k is 8",
            6: "divided by the root of d_model: a head's vectors have 8 numbers, not 16",
            5: "enough, but 4 is too: the pair asked for has four rivals, itself not among them",
            12: "exp, not a product: the odds are exp(sharpness / √8) to 1, not sharpness / √8 to 1",
            3: "the odds are 2.9 to 1 then: four rivals with one and the same value would outweigh it",
            math.sqrt(8) * math.log(4): "the right place: wanted is the next whole number",
        },
        lambda value: (
            f"the pair asked for leads each rival by {math.exp(min(value / math.sqrt(8), 700)):.3g} to 1: "
            "wanted is the smallest whole number at which four rivals together cannot reach it"
        ),
    )
