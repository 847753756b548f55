"""Translate sentences: those that are named, those of a file, or what comes through a pipe."""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch

from glassformer.cli.lines import Line, open_sink, read_arguments, read_blocks, read_file
from glassformer.cli.options import add_machine_options, to_flag, use_machine, whole
from glassformer.cli.searching import (
    add_model_option,
    add_sampling_options,
    add_search_options,
    given_sampling,
    given_search,
)
from glassformer.runtime import mix_seed
from glassformer.training.folders import find_translator
from glassformer.translator import Translator

USAGE = "[SENTENCE ...]"
EPILOG = """\
examples:
  glassformer translate "I am tired." "Where is the station?"
  glassformer translate --input letter.en --output letter.fr
  echo "I am tired." | glassformer translate
  glassformer translate --n-best 3 "I like it."
  glassformer translate --sample --temperature 0.7 --seed 5 "I like it."
  glassformer translate --model runs/first --beam-size 1 "I am tired."

Each argument or line is one sentence, and gives one line; text is UTF-8. A blank line gives a blank line.
From a pipe, what has come is translated and passed on at once. An output file appears when it is complete.

With --n-best, each line is: number of the sentence, score, translation, with a tab between.

A line that is too long for the model or no UTF-8 gives a blank line, so that all others keep their place; it
is named on stderr, and in the end the exit code is 1. Nothing is cut silently.
"""

Write = Callable[[Sequence[Line]], list[str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of a translation."""
    parser.add_argument(
        "sentences", nargs="*", metavar="SENTENCE", help="what to translate (default: what comes in)"
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help="a file with a sentence in each line")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where to write (default: print)")
    add_model_option(parser)
    add_machine_options(parser)
    add_search_options(parser)
    parser.add_argument(
        "--n-best", type=whole, metavar="N", help="give so many translations of a sentence, with scores"
    )
    add_sampling_options(parser)


def run(chosen: argparse.Namespace) -> int:
    """Translate what was asked for; give 1 if a line could not be."""
    _refuse_contradictions(chosen)
    device = use_machine(chosen)
    translator = Translator.load(find_translator(chosen.model), device=device)
    write = _choose_writer(translator, chosen)
    failures = 0
    with open_sink(chosen.output) as sink:
        for block in _read(chosen):
            unreadable = _name_unreadable(block, translator)
            failures += len(unreadable)
            readable = [line for line in block if line.number not in unreadable]
            written = dict(zip((line.number for line in readable), write(readable), strict=True))
            blank = "{}\t\t" if chosen.n_best else ""
            for line in block:
                sink.write((written.get(line.number, blank.format(line.number)) + "\n").encode())
            sink.flush()
    if failures:
        print(f"glassformer: lines that could not be translated, and are blank: {failures}", file=sys.stderr)
    return int(failures > 0)


def _refuse_contradictions(chosen: argparse.Namespace) -> None:
    if chosen.sentences and chosen.input:
        chosen.refuse("sentences come as arguments or from --input, not both")
    search, sampling = given_search(chosen), given_sampling(chosen)
    if not chosen.sample and (unused := [*sampling, *(["seed"] if "seed" in chosen else [])]):
        chosen.refuse(f"{', '.join(map(to_flag, unused))}: only with --sample")
    search.pop("max_length", None)  # which both have
    if chosen.sample and (unused := [*search, *(["n_best"] if chosen.n_best else [])]):
        chosen.refuse(f"{', '.join(map(to_flag, unused))}: not with --sample")


def _read(chosen: argparse.Namespace) -> Iterable[list[Line]]:
    if chosen.sentences:
        return [read_arguments(chosen.sentences)]
    if chosen.input:
        return read_file(chosen.input)
    if sys.stdin is None:
        raise ValueError("there is nothing to translate: name a sentence, or a file by --input")
    if sys.stdin.isatty():
        print("Type a sentence and press Enter; Ctrl-D ends.", file=sys.stderr)
    return read_blocks(sys.stdin.buffer)  # type: ignore[arg-type]  # it has read1, as every buffer has


def _name_unreadable(block: Iterable[Line], translator: Translator) -> set[int]:
    """Say on stderr which lines cannot be translated, and why; return their numbers."""
    numbers = set()
    for line in block:
        if reason := line.fault or _too_long(line.text, translator):
            print(f"glassformer: line {line.number} {reason}", file=sys.stderr)
            numbers.add(line.number)
    return numbers


def _too_long(text: str, translator: Translator) -> str:
    tokens, most = len(translator.tokenizer.encode([text])[0]) + 1, translator.longest_source
    if tokens <= most:
        return ""
    return (
        f"is too long: its {len(text.split())} words are {tokens} tokens, and the model reads at most "
        f"{most}; split it into sentences"
    )


def _choose_writer(translator: Translator, chosen: argparse.Namespace) -> Write:
    search = given_search(chosen)

    def best(lines: Sequence[Line]) -> list[str]:
        return list(map(_one_line, translator.translate([line.text for line in lines], **search)))

    def several(lines: Sequence[Line]) -> list[str]:
        found = translator.translate_n_best([line.text for line in lines], n_best=chosen.n_best, **search)
        return [
            "\n".join(f"{line.number}\t{one.score:.4f}\t{_one_line(one.text)}" for one in translations)
            for line, translations in zip(lines, found, strict=True)
        ]

    def drawn(lines: Sequence[Line]) -> list[str]:
        # One by one, so that what a line draws depends on its number alone, not on what came with it.
        return [
            _one_line(translator.sample([line.text], generator=chance(line), **options)[0]) for line in lines
        ]

    def chance(line: Line) -> torch.Generator:
        return torch.Generator().manual_seed(mix_seed(vars(chosen).get("seed", 0), line.number))

    options = given_sampling(chosen) | search
    if chosen.sample:
        return drawn
    return several if chosen.n_best else best


def _one_line(text: str) -> str:
    """Keep a line a line, even if the model wrote the end of one into it."""
    return " ".join(text.split())
