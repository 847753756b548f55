"""Compare the decoding speed with other libraries: greedy, and beam search with four beams.

Random weights, float32, one thread. All sentences of a batch get the same number of tokens; none ends early.
"without a cache" encodes the source once and recomputes the decoder; JoeyNMT decodes like that. CTranslate2
is written in C++ and has our weights. "agreement" is the share of tokens equal to ours, for implementations
with our weights.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import END, PEERS, SIZES, START, Size, glassformer, marian, sentences, torch_transformer, versions
from record import CPU, RESULTS, parse_options, write_result
from table import print_table
from torch import Tensor
from turns import Implementation, Measured, take_turns

from glassformer.decoding import beam_search, greedy_decode

Ids = list[list[int]]
Work = tuple[Size, Tensor, int, int]  # model size, source ids, number of tokens, number of beams

MARIAN = "transformers, Marian"
OURS, UNCACHED = "glassformer", "without a cache"
WITH_OUR_WEIGHTS = (OURS, "ctranslate2")


def write_ours(work: Work, *, use_cache: bool = True) -> Callable[[], Ids]:
    """Decode with our greedy decoding or beam search."""
    size, source_ids, length, beams = work
    model = glassformer(size)[0].eval()
    options: dict[str, Any] = {
        "start_id": START,
        "end_id": END,
        "forbidden_ids": (START, END),
        "max_length": length,
        "use_cache": use_cache,
    }

    def greedily() -> Ids:
        return greedy_decode(model, source_ids, **options).tolist()

    def by_beams() -> Ids:
        found = beam_search(model, source_ids, beam_size=beams, length_penalty="average", **options)
        return [list(best.ids) for best, *_ in found]

    return greedily if beams == 1 else by_beams


def write_with_torch(work: Work) -> Callable[[], Ids]:
    """Decode greedily with torch.nn.Transformer, without a cache."""
    size, source_ids, length, _ = work
    model = torch_transformer(size)[0].eval()

    @torch.inference_mode()
    def write() -> Ids:
        memory = model.encode(source_ids)
        written = torch.full((len(source_ids), 1), START)
        for _ in range(length):
            logits = model.decode(written, memory, source_ids)[:, -1]
            logits[:, : END + 1] = -torch.inf
            written = torch.cat([written, logits.argmax(-1, keepdim=True)], dim=1)
        return written[:, 1:].tolist()

    return write


def write_with_marian(work: Work) -> Callable[[], Ids]:
    """Decode with `generate` of transformers, which uses a cache."""
    size, source_ids, length, beams = work
    model = marian(size)[0].eval()
    mask = torch.ones_like(source_ids)
    limits = {"min_new_tokens": length, "max_new_tokens": length}

    def write() -> Ids:
        written = model.generate(input_ids=source_ids, attention_mask=mask, num_beams=beams, **limits)
        return written[:, 1:].tolist()

    return write


def write_with_joeynmt(work: Work) -> Callable[[], Ids]:
    """Decode with JoeyNMT's search."""
    from types import SimpleNamespace

    from joeynmt.model import Model
    from joeynmt.search import search

    size, source_ids, length, beams = work
    parts = PEERS["joeynmt"](size)[0]
    vocabulary = SimpleNamespace(
        pad_index=0, bos_index=START, eos_index=END, sep_index=None, unk_index=3, specials=[], lang_tags=[]
    )
    embedding = parts["embedding"]
    model = Model(parts["encoder"], parts["decoder"], embedding, embedding, vocabulary, vocabulary).eval()
    batch = SimpleNamespace(
        src=source_ids,
        src_length=torch.full((len(source_ids),), source_ids.shape[1]),
        src_mask=torch.ones_like(source_ids, dtype=torch.bool)[:, None],
        has_trg=False,
        trg_input=None,
        trg_prompt_mask=None,
    )

    @torch.inference_mode()
    def write() -> Ids:
        written, _, _ = search(
            model=model,
            batch=batch,
            max_output_length=length,
            min_output_length=length,
            beam_size=beams,
            beam_alpha=1.0,
        )
        return written.tolist()

    return write


def write_with_ctranslate2(work: Work, *, compute_type: str) -> Callable[[], Ids]:
    """Decode with CTranslate2 and our weights."""
    from ctranslate2_model import load

    size, source_ids, length, beams = work
    with tempfile.TemporaryDirectory() as folder:
        translator = load(glassformer(size)[0], Path(folder), compute_type)
    words = [[str(token) for token in row] for row in source_ids.tolist()]

    def write() -> Ids:
        found = translator.translate_batch(
            words,
            beam_size=beams,
            min_decoding_length=length,
            max_decoding_length=length,
            disable_unk=True,
            suppress_sequences=[[str(START)]],
        )
        return [[int(word) for word in one.hypotheses[0]] for one in found]

    return write


IMPLEMENTATIONS: dict[str, tuple[Callable[..., Callable[[], Ids]], dict[str, Any]]] = {
    OURS: (write_ours, {}),
    f"{OURS}, {UNCACHED}": (write_ours, {"use_cache": False}),
    f"torch.nn.Transformer, {UNCACHED}": (write_with_torch, {}),
    f"joeynmt, {UNCACHED}": (write_with_joeynmt, {}),
    MARIAN: (write_with_marian, {}),
    "ctranslate2": (write_with_ctranslate2, {"compute_type": "float32"}),
    "ctranslate2, int8": (write_with_ctranslate2, {"compute_type": "int8"}),
}


def prepare(name: str, size_name: str, count: int, length: int, beams: int) -> Callable[[], Ids]:
    """Build the model of an implementation; return a function that translates all sentences once."""
    make, options = IMPLEMENTATIONS[name]
    return make((SIZES[size_name], sentences(count, length), length, beams), **options)


def measure(size_name: str, beams: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Time every implementation that supports the search."""
    arguments = (size_name, options.sentences, options.tokens, beams)
    names = [name for name in IMPLEMENTATIONS if beams == 1 or "torch.nn" not in name]
    implementations = {name: Implementation(prepare, (name, *arguments)) for name in names}
    measured = take_turns(implementations, turns=options.turns, warm_up=1)
    for name, one in measured.items():
        if np.shape(one.result) != (options.sentences, options.tokens):
            raise RuntimeError(f"{name} wrote an array of shape {np.shape(one.result)}")
    return [row(name, one, measured, options.sentences) for name, one in measured.items()]


def row(name: str, one: Measured, measured: dict[str, Measured], count: int) -> dict[str, Any]:
    """Return the numbers of one implementation; a ratio above 1 means that ours is faster."""
    same_weights = name.startswith(WITH_OUR_WEIGHTS)
    agree = float(np.mean(np.equal(one.result, measured[OURS].result))) if same_weights else None
    return {
        "implementation": name,
        "sentences_per_second": round(count / float(np.median(one.seconds)), 1),
        "time_ratio_to_glassformer": one.ratio(measured[OURS]),
        "time_ratio_to_marian": one.ratio(measured[MARIAN]),
        "agreement": agree,
    }


def main() -> None:
    """Measure every size and search, print the tables and store the results."""
    sizes = {"default": list(SIZES), "choices": list(SIZES)}
    options = parse_options(__doc__, sizes=sizes, beams=[1, 4], sentences=100, tokens=16, turns=11)
    for size_name in options.sizes:
        for beams in options.beams:
            measured = measure(size_name, beams, options)
            print_table(f"Decoding, {size_name}, beam {beams}", measured)
            settings = vars(options) | {
                "versions": versions(),
                "size": SIZES[size_name].of_the_model(),
                "beam": beams,
            }
            path = RESULTS / f"decoding_speed_{size_name}_beam{beams}.json"
            write_result(path, device=CPU, settings=settings, measured=measured)


if __name__ == "__main__":
    main()
