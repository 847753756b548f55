"""Score a translator on the tests of a corpus, or on sentences of your own."""

import argparse
from pathlib import Path
from typing import Any

from glassformer.cli.options import add_data_option, add_machine_options, use_machine
from glassformer.cli.searching import add_model_option, add_search_options, given_search
from glassformer.data.corpora import Corpus, Sentences, load_corpus
from glassformer.data.sources import SOURCES
from glassformer.training.evaluation import describe_device, evaluate, summarize, write_record
from glassformer.training.folders import find_translator, read_metadata
from glassformer.translator import Translator

USAGE = "[--model MODEL]"
EPILOG = """\
examples:
  glassformer evaluate                             the pretrained translator, on the corpus it comes from
  glassformer evaluate --model runs/de --tests test2016 --beam-size 5 --json de.json
  glassformer evaluate --source mine.en --reference mine.fr --language fr
  glassformer evaluate --source mine.en --reference one.fr --reference other.fr --language fr

BLEU is sacreBLEU's, cased; moses_bleu is lower-cased and tokenised by Moses, as published scores on Multi30k
are. Scores are only comparable where the signatures in brackets are the same.

The JSON file holds all translations, so that anyone who has the references can count again. Its command,
seed, device and seconds are those of the training where the translator knows them; if not, they are those of
this evaluation, and the seed is -1.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of an evaluation."""
    add_model_option(parser)
    corpus = parser.add_argument_group("sentences of a corpus")
    corpus.add_argument(
        "--corpus", choices=tuple(SOURCES), help="default: the one that the translator learned from"
    )
    corpus.add_argument("--tests", nargs="+", metavar="NAME", help="which of its tests (default: all)")
    add_data_option(corpus)
    own = parser.add_argument_group("sentences of your own")
    own.add_argument("--source", type=Path, metavar="FILE", help="a sentence in each line")
    own.add_argument(
        "--reference",
        type=Path,
        action="append",
        metavar="FILE",
        help="their translations, line by line; may be given several times",
    )
    own.add_argument("--language", help="of the references, in two letters")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to keep scores and translations")
    add_machine_options(parser)
    add_search_options(parser)


def run(chosen: argparse.Namespace) -> None:
    """Score what was asked for."""
    _refuse_contradictions(chosen)
    place = find_translator(chosen.model)
    translator = Translator.load(place, device=use_machine(chosen))
    notes = read_metadata(place)
    corpus = _read_own(chosen) if chosen.source else _load_corpus(chosen, notes)
    search = {"beam_size": 4, "length_penalty": "gnmt"} | given_search(chosen)
    record = evaluate(translator, corpus, tests=chosen.tests, **search)
    for line in summarize(record):
        print(line)
    if chosen.json:
        itself = {
            "command": chosen.command_line,
            "seed": -1,
            "device": describe_device(translator),
            "seconds": sum(record["translating"]["seconds"].values()),
        }
        training = notes.get("training")
        known = training if isinstance(training, dict) else itself
        write_record(chosen.json, record | known | {"evaluated_by": chosen.command_line})
        print(f"results: {chosen.json}")


def _refuse_contradictions(chosen: argparse.Namespace) -> None:
    own = (chosen.source, chosen.reference, chosen.language)
    if any(own) and not all(own):
        chosen.refuse("sentences of your own take all of --source, --reference and --language")
    if any(own) and (chosen.corpus or chosen.tests or chosen.data):
        chosen.refuse("--corpus, --tests and --data do not go with --source")


def _load_corpus(chosen: argparse.Namespace, notes: dict[str, Any]) -> Corpus:
    name = chosen.corpus or notes.get("corpus")
    if name is None:
        raise ValueError(f"{chosen.model} does not say what it learned from: name a --corpus to score it on")
    return load_corpus(name, folder=chosen.data)


def _read_own(chosen: argparse.Namespace) -> Corpus:
    sources, *references = map(_read_lines, (chosen.source, *chosen.reference))
    for path, lines in zip(chosen.reference, references, strict=True):
        if len(lines) != len(sources):
            raise ValueError(
                f"{path} must have a line for each of the {len(sources)} of {chosen.source}, got {len(lines)}"
            )
    nothing = Sentences((), ())
    test = Sentences(tuple(sources), tuple(zip(*references, strict=True)))
    return Corpus(chosen.source.name, "", chosen.language, "", nothing, nothing, {chosen.source.stem: test})


def _read_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8: {error}") from error
    lines = text.removesuffix("\n").split("\n")
    if not text:
        raise ValueError(f"{path} is empty")
    return lines
