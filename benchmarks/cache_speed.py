"""Measure the speed-up of decoding with a key-value cache.

A model of the pretrained translator's size with random weights decodes fixed numbers of tokens, with and
without a cache, in turns. The result is the median of the processor time over the turns. Without a cache the
source is still encoded only once; the decoder is recomputed.
"""

import argparse
import time

import numpy as np
import torch
from record import Result, run_benchmark
from torch import Tensor

from glassformer.data import END_ID, START_ID
from glassformer.decoding import greedy_decode
from glassformer.modules import Transformer, TransformerConfig

SIZES = {"d_model": 192, "num_heads": 6, "d_ff": 512, "num_encoder_layers": 3, "num_decoder_layers": 3}
VOCABULARY = 6000


def write(model: Transformer, source_ids: Tensor, length: int, *, use_cache: bool) -> tuple[float, Tensor]:
    """Decode a fixed number of tokens per sentence; return the process's seconds and the tokens."""
    start = time.process_time()
    marks = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (END_ID,)}  # no early end
    ids = greedy_decode(model, source_ids, **marks, max_length=length, use_cache=use_cache)
    if ids.is_cuda:
        torch.cuda.synchronize()
    return time.process_time() - start, ids


def measure(model: Transformer, source_ids: Tensor, length: int, turns: int) -> dict[str, object]:
    """Measure the seconds with and without a cache, and their ratio; the tokens must be equal."""
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(turns):
        written = {}
        for use_cache in (True, False):
            taken, written[use_cache] = write(model, source_ids, length, use_cache=use_cache)
            seconds[use_cache].append(taken)
        if not torch.equal(written[True], written[False]):
            raise RuntimeError("decoding with and without a cache gave different tokens")
    ratio = np.median(np.divide(seconds[False], seconds[True]))
    row = {
        "length": length,
        "seconds": {
            "cached": float(f"{np.median(seconds[True]):.3g}"),
            "uncached": float(f"{np.median(seconds[False]):.3g}"),
        },
        "ratio": round(float(ratio), 2),
    }
    print(row, flush=True)
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Decode at every length with and without a cache."""
    generator = torch.Generator().manual_seed(0)
    vocabularies = {"source_vocabulary_size": VOCABULARY, "target_vocabulary_size": VOCABULARY}
    config = TransformerConfig(**vocabularies, **SIZES, norm="pre", tie_embeddings="all")
    model = Transformer(config, generator=generator).to(device).eval()
    measured = []
    for length in options.lengths:
        source_ids = torch.randint(3, VOCABULARY, (options.sentences, length), generator=generator).to(device)
        write(model, source_ids, 2, use_cache=True)
        measured.append(measure(model, source_ids, length, options.turns))
    settings = SIZES | {"vocabulary_size": VOCABULARY, "source_length": "as the translation"}
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, lengths=[8, 16, 32, 64, 128], sentences=8, turns=5)
