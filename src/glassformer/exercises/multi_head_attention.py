"""Checks for the exercises on multi-head attention."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.reference.heads import merge_heads, split_heads
from glassformer.reference.softmax import softmax

_BIASES = "you left out the biases; each of the four projections adds one number for each output"
_PER_HEAD = (
    "you counted the projections once for each head; the heads share d_model, and each is d_model / 8 wide"
)


@check(see="Split, not copied")
def check_merge(attempt: Answer, rng: Generator) -> None:
    """Check ``merge(x)``: concatenate heads, from (heads, time, d_head) to (time, d_model)."""
    compare(
        attempt,
        merge_heads,
        {
            "you reshape without swapping axes first, so a row holds pieces of several words": (
                lambda x: x.reshape(x.shape[1], -1)
            ),
            "your heads' numbers alternate; each head's piece should stay contiguous": (
                lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1)
            ),
            "your rows are heads; each row should be a word with the pieces of all heads": (
                lambda x: x.reshape(len(x), -1)
            ),
            "you add the heads; concatenate them": lambda x: x.sum(axis=0),
            "you average the heads; concatenate them": lambda x: x.mean(axis=0),
            "you swapped the axes; two of them still have to be merged": lambda x: x.swapaxes(0, 1),
            "you stack the pieces vertically; concatenate the heads within each word's row": (
                lambda x: x.reshape(-1, x.shape[-1])
            ),
            "your heads are in reverse order": lambda x: merge_heads(x[::-1]),
        },
        [
            (np.array([[[1.0]]]),),
            (np.arange(8.0).reshape(2, 2, 2),),
            (np.arange(12.0).reshape(2, 3, 2),),
            (sample(rng, 3, 5, 2),),
        ],
    )


@check(see="What heads cost")
def check_parameters(attempt: Any) -> None:
    """Check the number of parameters of multi-head attention with d_model 512, biases included."""
    square, biases = 512 * 512, 4 * 512
    compare_number(
        attempt,
        4 * square + biases,
        {
            4 * square: _BIASES,
            4 * square + 3 * 512: "you left out one bias: W_O has one too",
            8 * 4 * square: _PER_HEAD,
            8 * (4 * square + biases): _PER_HEAD,
            3 * square: "you left out one matrix: W_O comes after the heads",
            3 * (square + 512): "you left out one matrix: W_O comes after the heads",
            4 * 512 * 64: "that is one head's share; there are eight heads",
            4 * 512 * 64 + 4 * 64: "that is one head's share; there are eight heads",
        },
        lambda value: (
            f"yours is {value:,.0f}: count four projections from 512 to 512 numbers, each with a bias"
        ),
    )


@check(see="The output is a sum over heads")
def check_contributions(attempt: Answer, rng: Generator) -> None:
    """Check ``contributions(attended, output_weight)``: what each head adds to the output."""

    def right(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return attended @ output_weight.reshape(heads, width, -1)

    def by_columns(attended: Array, output_weight: Array) -> Array:
        heads, _, width = attended.shape
        return attended @ output_weight.T.reshape(heads, width, -1)

    def all_alike(attended: Array, output_weight: Array) -> Array:
        return np.stack([merge_heads(attended)] * len(attended)) @ output_weight

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
            "you return the sum, which is the output; return what each head adds to it": (
                lambda attended, weight: merge_heads(attended) @ weight
            ),
            "you divide by the number of heads; the contributions must add up to the output": (
                lambda attended, weight: right(attended, weight) / len(attended)
            ),
            "you split the columns of W_O; each head multiplies d_v of its rows": by_columns,
            "you split the finished output, where all heads are mixed; split the rows of W_O": columns_cut,
            "your heads take every h-th row of W_O; each head takes d_v contiguous rows": alternating,
            "every head returns the whole output; give each only its own rows of W_O": all_alike,
            "you multiply every head by the first d_v rows of W_O; each head has its own rows": first_block,
        },
        [
            (np.array([[[2.0]]]), np.array([[3.0]])),
            (np.array([[[1.0]], [[2.0]]]), sample(rng, 2, 2)),
            (np.arange(8.0).reshape(2, 2, 2), np.arange(16.0).reshape(4, 4)),
            (sample(rng, 3, 5, 2), sample(rng, 6, 6)),
        ],
    )


@check(see="Split, not copied")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Check the fixed ``attend(query, key, value, num_heads)``: attention in each head, merged."""

    def heads(
        d_k: Answer = lambda d_model, num_heads: d_model // num_heads,
        split: Answer = split_heads,
        merge: Answer = merge_heads,
        weigh: Answer = softmax,
    ) -> Answer:
        def run(query: Array, key: Array, value: Array, num_heads: int) -> Array:
            divisor = np.sqrt(d_k(query.shape[-1], num_heads))
            query, key, value = (split(x, num_heads) for x in (query, key, value))
            return merge(weigh(query @ key.swapaxes(-2, -1) / divisor) @ value)

        return run

    def whole(d_model: int, num_heads: int) -> int:
        return d_model

    def split_by_reshape(x: Array, num_heads: int) -> Array:
        return x.reshape(num_heads, len(x), -1)

    def merged_by_reshape(x: Array) -> Array:
        return x.reshape(x.shape[1], -1)

    compare(
        attempt,
        heads(),
        {
            "both bugs are still there: look at the reshape, and at the divisor of the scores": (
                heads(whole, split_by_reshape, merged_by_reshape)
            ),
            "you still split and merge with a reshape alone; swap axes too": (
                heads(split=split_by_reshape, merge=merged_by_reshape)
            ),
            "you split correctly, but merge with a reshape alone; swap the axes back first": heads(
                merge=merged_by_reshape
            ),
            "you merge correctly, but split with a reshape alone; swap the axes": heads(
                split=split_by_reshape
            ),
            "you still divide by √d_model; a head's vectors have d_model / num_heads numbers": (heads(whole)),
            "your scores are no longer divided by √d_k": heads(lambda d_model, num_heads: 1),
            "you divide by the root of the number of heads; divide by the root of a head's width": (
                heads(lambda d_model, num_heads: num_heads)
            ),
            "you split correctly, but you merge with a reshape alone and divide by √d_model": (
                heads(whole, merge=merged_by_reshape)
            ),
            "you merge correctly, but you split with a reshape alone and divide by √d_model": (
                heads(whole, split=split_by_reshape)
            ),
            "your softmax runs over the heads; each head has its own weights": heads(
                weigh=lambda scores: softmax(scores, axis=0)
            ),
            "your weights all sum to one together; each row of each head should": heads(
                weigh=lambda scores: softmax(scores.ravel()).reshape(scores.shape)
            ),
            "your softmax runs over the queries; each row, one query's weights, should sum to one": heads(
                weigh=lambda scores: softmax(scores, axis=-2)
            ),
            "each word attends to its own heads instead of other words; move the heads to the first axis": (
                heads(
                    split=lambda x, num_heads: x.reshape(len(x), num_heads, -1),
                    merge=lambda x: x.reshape(len(x), -1),
                )
            ),
            "your heads take every h-th column; each head takes contiguous columns": heads(
                split=lambda x, num_heads: x.reshape(len(x), -1, num_heads).transpose(2, 0, 1),
                merge=lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1),
            ),
            "yours ignores num_heads and uses one head": lambda query, key, value, num_heads: heads()(
                query, key, value, 1
            ),
        },
        [
            (*(sample(rng, size, width) for _ in range(3)), num_heads)
            for size, width, num_heads in ((1, 2, 2), (2, 2, 1), (2, 2, 2), (2, 4, 2), (5, 6, 3))
        ],
    )


@check(see="Weights set by hand")
def check_best_share(attempt: Any) -> None:
    """Check how often three answers out of four values can be right if only their mixture is known."""
    compare_number(
        attempt,
        20 / 64,
        {
            1 / 64: "that is a blind guess; the mixture shows the values, just not their order",
            1 / 6: "you counted six orders for every mixture; there are fewer if values are equal",
            10 / 16: "that is the share for two questions; here there are three",
            1 / 20: "there are 20 mixtures with one right guess each; divide by the number of ordered lists",
            4 / 64: "you counted only lists with three equal values; in the others you can guess the order",
            24 / 64: "you counted lists with three different values; only one order of six is right in these",
            4 / 64 + 24 / 64 / 6: "you left out lists with two equal values; one order of three is right",
        },
        lambda value: (
            f"a share lies between 0 and 1, yours is {value:g}"
            if not 0 <= value <= 1
            else f"yours is {value:g}: count the mixtures of three values; one answer to each can be right"
        ),
    )


@check(see="Weights set by hand")
def check_sharpness(attempt: Any) -> None:
    """Check the smallest integer sharpness at which the hand-made heads are never wrong."""
    compare_number(
        attempt,
        4,
        {
            2: "you left out the divisor; scores are divided by √d_k, and here d_k is 8",
            6: "you divided by √d_model; a head's vectors have 8 numbers, not 16",
            5: "5 is enough, but so is 4: the right pair competes with four other pairs, not five",
            12: "more than needed: the ratio of two weights is exp(sharpness / √8), not sharpness / √8",
            3: "with 3 the right pair has 2.9 times the weight of another; four others outweigh it",
            math.sqrt(8) * math.log(4): "close: round up to the next whole number",
        },
        lambda value: (
            f"yours gives the right pair {math.exp(min(value / math.sqrt(8), 700)):.3g} times the weight "
            "of each competing key; find the smallest whole number at which four of those together weigh less"
        ),
    )
