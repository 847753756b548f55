"""Checks for the exercises on several heads."""

import math
from typing import Any

import numpy as np
from numpy import ndarray as Array
from numpy.random import Generator

from glassformer.checking.check import check
from glassformer.checking.compare import Answer, compare, compare_number, sample
from glassformer.reference.heads import merge_heads, split_heads
from glassformer.reference.softmax import softmax

_BIASES = "biases are missing: each of the four projections adds one number for each of its outputs"
_HEADS_TIMES = "counted once for each head: the heads share d_model between them, each is d_model / 8 wide"


@check(see="Cut, not copied")
def check_merge(attempt: Answer, rng: Generator) -> None:
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
            "a row is a head here: each row should be a word, with what all heads say to it": (
                lambda x: x.reshape(len(x), -1)
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
            (np.array([[[1.0]]]),),
            (np.arange(8.0).reshape(2, 2, 2),),
            (np.arange(12.0).reshape(2, 3, 2),),
            (sample(rng, 3, 5, 2),),
        ],
    )


@check(see="What heads cost")
def check_parameters(attempt: Any) -> None:
    """Judge how many parameters eight heads of a width of 512 have, biases included."""
    square, biases = 512 * 512, 4 * 512
    compare_number(
        attempt,
        4 * square + biases,
        {
            4 * square: _BIASES,
            4 * square + 3 * 512: "one bias is missing: W_O has its own, too",
            8 * 4 * square: _HEADS_TIMES,
            8 * (4 * square + biases): _HEADS_TIMES,
            3 * square: "one matrix is missing: W_O comes after the heads",
            3 * (square + 512): "one matrix is missing: W_O comes after the heads",
            4 * 512 * 64: "that is one head's share: there are eight heads",
            4 * 512 * 64 + 4 * 64: "that is one head's share: there are eight heads",
        },
        lambda value: f"four projections from 512 to 512 numbers, each with a bias, do not have {value:,.0f}",
    )


@check(see="Side by side, then projected: a sum")
def check_contributions(attempt: Answer, rng: Generator) -> None:
    """Judge ``contributions(attended, output_weight)``: what each head adds to the output."""

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
            "this is their sum, the output: wanted is what each head adds to it": (
                lambda attended, weight: merge_heads(attended) @ weight
            ),
            "the mean: the contributions of the heads add up to the output": (
                lambda attended, weight: right(attended, weight) / len(attended)
            ),
            "W_O is cut across its columns: a head meets d_v of its rows": by_columns,
            "the finished output is cut into pieces: all heads are mixed in each of them": columns_cut,
            "the rows of W_O are dealt out by turns: each head has d_v rows that stand together": alternating,
            "each head is handed what all of them say, so each gives the whole output": all_alike,
            "every head meets the first rows of W_O: each has rows of its own": first_block,
        },
        [
            (np.array([[[2.0]]]), np.array([[3.0]])),
            (np.array([[[1.0]], [[2.0]]]), sample(rng, 2, 2)),
            (np.arange(8.0).reshape(2, 2, 2), np.arange(16.0).reshape(4, 4)),
            (sample(rng, 3, 5, 2), sample(rng, 6, 6)),
        ],
    )


@check(see="Cut, not copied")
def check_attend(attempt: Answer, rng: Generator) -> None:
    """Judge the mended ``attend(query, key, value, num_heads)``: attention in each head, merged."""

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

    def reshaped(x: Array, num_heads: int) -> Array:
        return x.reshape(num_heads, len(x), -1)

    def glued(x: Array) -> Array:
        return x.reshape(x.shape[1], -1)

    compare(
        attempt,
        heads(),
        {
            "both bugs are still there: look at the reshape, and at what the scores are divided by": (
                heads(whole, reshaped, glued)
            ),
            "still cut with a reshape alone: a head gets numbers of several columns": (
                heads(split=reshaped, merge=glued)
            ),
            "cut rightly, but glued with a reshape alone: turn the axes back first": heads(merge=glued),
            "glued rightly, but cut with a reshape alone: turn the axes": heads(split=reshaped),
            "still divided by the root of d_model: a head's vectors have d_model / num_heads numbers": (
                heads(whole)
            ),
            "the scores are no longer divided by √d_k": heads(lambda d_model, num_heads: 1),
            "divided by the root of the number of heads: what counts is how wide a head's vectors are": (
                heads(lambda d_model, num_heads: num_heads)
            ),
            "cut rightly, glued with a reshape alone, divided by the root of d_model": (
                heads(whole, merge=glued)
            ),
            "glued rightly, cut with a reshape alone, divided by the root of d_model": (
                heads(whole, split=reshaped)
            ),
            "the softmax runs over the heads: each head has weights of its own": heads(
                weigh=lambda scores: softmax(scores, axis=0)
            ),
            "all weights together sum to one: each row of each head should": heads(
                weigh=lambda scores: softmax(scores.ravel()).reshape(scores.shape)
            ),
            "the softmax runs over the queries: the weights of one query, a row, sum to one": heads(
                weigh=lambda scores: softmax(scores, axis=-2)
            ),
            "each word attends among its own heads: turn the axes, so that the heads come first": (
                heads(
                    split=lambda x, num_heads: x.reshape(len(x), num_heads, -1),
                    merge=lambda x: x.reshape(len(x), -1),
                )
            ),
            "the columns are dealt out to the heads by turns: a head has columns that stand together": heads(
                split=lambda x, num_heads: x.reshape(len(x), -1, num_heads).transpose(2, 0, 1),
                merge=lambda x: x.transpose(1, 2, 0).reshape(x.shape[1], -1),
            ),
            "one head: num_heads plays no part": lambda query, key, value, num_heads: heads()(
                query, key, value, 1
            ),
        },
        [
            (*(sample(rng, size, width) for _ in range(3)), num_heads)
            for size, width, num_heads in ((1, 2, 2), (2, 2, 1), (2, 2, 2), (2, 4, 2), (5, 6, 3))
        ],
    )


@check(see="With our own hands")
def check_best_share(attempt: Any) -> None:
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


@check(see="With our own hands")
def check_sharpness(attempt: Any) -> None:
    """Judge the smallest whole sharpness with which the hand-made heads can never be wrong."""
    compare_number(
        attempt,
        4,
        {
            2: "without the divisor that would do: scores are divided by √d_k, and here d_k is 8",
            6: "divided by the root of d_model: a head's vectors have 8 numbers, not 16",
            5: "enough, but 4 is too: the pair asked for has four rivals, itself not among them",
            12: "more than needed: the odds are exp(sharpness / √8) to 1: exp, no product, and the root of 8",
            3: "the odds are 2.9 to 1 then: four rivals with one and the same value would outweigh it",
            math.sqrt(8) * math.log(4): "the right place: wanted is the next whole number",
        },
        lambda value: (
            f"the pair asked for leads each rival by {math.exp(min(value / math.sqrt(8), 700)):.3g} to 1: "
            "wanted is the smallest whole number at which four rivals together cannot reach it"
        ),
    )
