"""Translate sentences from the command line, a file or a pipe."""

import argparse
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import torch

from glassformer.cli.decoding_options import (
    add_beam_search_options,
    add_model_option,
    add_sampling_options,
    beam_search_options,
    sampling_options,
)
from glassformer.cli.lines import Line, open_sink, read_arguments, read_blocks, read_file
from glassformer.cli.options import add_machine_options, positive_int, to_flag, use_machine
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

Each argument or line is one sentence in UTF-8 and gives one line of output; a blank line gives a blank line.
Lines from a pipe are translated as they arrive. An output file appears once it is complete.

With --n-best, each line of output holds the sentence number, score and translation, separated by tabs. The
same text may occur twice, because different token sequences can spell the same sentence.

A line that is too long for the model, or not valid UTF-8, is reported on standard error and gives a blank
line, so that line numbers still match; the exit code is then 1. Input is never truncated. A translation that
reaches --max-length is cut off there.
"""

Write = Callable[[Sequence[Line]], list[str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer translate``."""
    parser.add_argument(
        "sentences", nargs="*", metavar="SENTENCE", help="sentences to translate (default: standard input)"
    )
    parser.add_argument("--input", type=Path, metavar="FILE", help="input file, one sentence per line")
    parser.add_argument("--output", type=Path, metavar="FILE", help="output file (default: standard output)")
    add_model_option(parser)
    add_machine_options(parser)
    beam_search = add_beam_search_options(parser)
    beam_search.add_argument(
        "--n-best",
        type=positive_int,
        metavar="N",
        help="print the N best translations of each sentence with scores",
    )
    add_sampling_options(parser)


def run(args: argparse.Namespace) -> int:
    """Translate every line, and return 1 if one could not be translated."""
    _require_consistent(args)
    device = use_machine(args)
    translator = Translator.load(find_translator(args.model), device=device)
    write = _choose_writer(translator, args)
    failures = 0
    with open_sink(args.output) as sink:
        for block in _read(args):
            invalid = _report_invalid(block, translator)
            failures += len(invalid)
            valid = [line for line in block if line.number not in invalid]
            written = dict(zip((line.number for line in valid), write(valid), strict=True))
            blank = "{}\t\t" if args.n_best else ""
            for line in block:
                sink.write((written.get(line.number, blank.format(line.number)) + "\n").encode())
            sink.flush()
    if failures:
        lines = (
            "1 line could not be translated and was"
            if failures == 1
            else f"{failures} lines could not be translated and were"
        )
        print(f"glassformer: {lines} left blank", file=sys.stderr)
    return int(failures > 0)


def _require_consistent(args: argparse.Namespace) -> None:
    if args.sentences and args.input:
        args.parser.error("give sentences as arguments or with --input, not both")
    search, sampling = beam_search_options(args), sampling_options(args)
    if not args.sample and (unused := [*sampling, *(["seed"] if "seed" in args else [])]):
        verb = "requires" if len(unused) == 1 else "require"
        args.parser.error(f"{', '.join(map(to_flag, unused))} {verb} --sample")
    search.pop("max_length", None)  # also applies to sampling
    if args.sample and (unused := [*search, *(["n_best"] if args.n_best else [])]):
        args.parser.error(f"{', '.join(map(to_flag, unused))} cannot be used with --sample")
    beam_size = search.get(
        "beam_size", inspect.signature(Translator.translate).parameters["beam_size"].default
    )
    if args.n_best and args.n_best > beam_size:
        args.parser.error(f"--n-best ({args.n_best}) must not exceed --beam-size ({beam_size})")


def _read(args: argparse.Namespace) -> Iterable[list[Line]]:
    if args.sentences:
        return [read_arguments(args.sentences)]
    if args.input:
        return read_file(args.input)
    if sys.stdin is None:
        raise ValueError("there is nothing to translate: give sentences as arguments or with --input")
    if sys.stdin.isatty():
        print("Type a sentence and press Enter; press Ctrl-D to quit.", file=sys.stderr)
    return read_blocks(sys.stdin.buffer)  # type: ignore[arg-type]  # every buffer has read1


def _report_invalid(block: Iterable[Line], translator: Translator) -> set[int]:
    """Report on standard error the lines that cannot be translated, and return their numbers."""
    numbers = set()
    for line in block:
        if reason := line.error or _too_long(line.text, translator):
            print(f"glassformer: line {line.number} {reason}", file=sys.stderr)
            numbers.add(line.number)
    return numbers


def _too_long(text: str, translator: Translator) -> str:
    tokens, most = len(translator.tokenizer.encode([text])[0]) + 1, translator.max_source_length
    if tokens <= most:
        return ""
    return (
        f"is too long: its {len(text.split())} words are {tokens} tokens, but the model reads at most "
        f"{most}; split it into sentences"
    )


def _choose_writer(translator: Translator, args: argparse.Namespace) -> Write:
    search = beam_search_options(args)
    sampling = sampling_options(args) | search

    def write_best(lines: Sequence[Line]) -> list[str]:
        return list(map(_one_line, translator.translate([line.text for line in lines], **search)))

    def write_n_best(lines: Sequence[Line]) -> list[str]:
        found = translator.translate_n_best([line.text for line in lines], n_best=args.n_best, **search)
        return [
            "\n".join(f"{line.number}\t{one.score:.4f}\t{_one_line(one.text)}" for one in translations)
            for line, translations in zip(lines, found, strict=True)
        ]

    def write_sample(lines: Sequence[Line]) -> list[str]:
        # One by one, so that a sample depends only on its own line and its number, not on the other lines.
        return [
            _one_line(translator.sample([line.text], generator=make_generator(line), **sampling)[0])
            for line in lines
        ]

    def make_generator(line: Line) -> torch.Generator:
        return torch.Generator().manual_seed(mix_seed(vars(args).get("seed", 0), line.number))

    if args.sample:
        return write_sample
    return write_n_best if args.n_best else write_best


def _one_line(text: str) -> str:
    """Replace generated line breaks and tabs with spaces."""
    return " ".join(text.split())
