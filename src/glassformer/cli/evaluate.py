"""Score a translator on the test sets of a corpus, or on your own sentences."""

import argparse
from pathlib import Path
from typing import Any

from glassformer.cli.decoding_options import add_beam_search_options, add_model_option, beam_search_options
from glassformer.cli.lines import readable
from glassformer.cli.options import add_data_option, add_machine_options, use_machine
from glassformer.data.corpora import Corpus, Sentences, load_corpus
from glassformer.data.sources import SOURCES
from glassformer.training.evaluation import describe_device, evaluate, summarise, write_results
from glassformer.training.folders import find_translator, read_metadata
from glassformer.translator import Translator
from glassformer.validation import require_choice

USAGE = "[--model MODEL]"
EPILOG = """\
examples:
  glassformer evaluate                             score the pretrained translator on its own test set
  glassformer evaluate --model runs/de --test-sets test2016 --beam-size 5 --json de.json
  glassformer evaluate --source mine.en --reference mine.fr --language fr
  glassformer evaluate --source mine.en --reference one.fr --reference other.fr --language fr

bleu is sacreBLEU, cased; moses_bleu is lowercased and tokenised by Moses, the convention of published
scores on Multi30k. Scores are comparable only if their signatures, shown in brackets, are equal.

The JSON file holds all translations, so that anyone with the references can recompute the scores. Its
command, seed, device and seconds describe the training if the translator records it, and otherwise this
evaluation, with a seed of -1.
"""

# Test sets of each collection, as `load_corpus` names them.
_TEST_SETS = {"tatoeba": ("test",), "multi30k": ("test2016", "test2017", "mscoco2017", "test2018")}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer evaluate``."""
    add_model_option(parser)
    corpus = parser.add_argument_group("sentences of a corpus")
    corpus.add_argument(
        "--corpus", choices=tuple(SOURCES), help="corpus (default: the translator's training corpus)"
    )
    corpus.add_argument(
        "--test-sets", nargs="+", metavar="NAME", help="names of the test sets (default: all)"
    )
    add_data_option(corpus)
    own = parser.add_argument_group("your own sentences")
    own.add_argument("--source", type=Path, metavar="FILE", help="source sentences, one per line")
    own.add_argument(
        "--reference",
        type=Path,
        action="append",
        metavar="FILE",
        help="reference translations, one per line; repeat the option for several references",
    )
    own.add_argument("--language", metavar="CODE", help="two-letter code of the language of the references")
    parser.add_argument("--json", type=Path, metavar="FILE", help="output file for scores and translations")
    add_machine_options(parser)
    add_beam_search_options(parser)


def run(args: argparse.Namespace) -> None:
    """Evaluate a translator, print the scores, and write them to a file."""
    _require_consistent(args)
    folder = find_translator(args.model)
    translator = Translator.load(folder, device=use_machine(args))
    metadata = read_metadata(folder)
    corpus = _read_own(args) if args.source else _load_corpus(args, metadata)
    decoding = {"beam_size": 4, "length_penalty": "gnmt"} | beam_search_options(args)
    evaluation = evaluate(translator, corpus, test_sets=args.test_sets, **decoding)
    for line in summarise(evaluation):
        print(line)
    if args.json:
        training = metadata.get("training")
        if not isinstance(training, dict):
            training = {
                "command": args.command_line,
                "seed": -1,
                "device": describe_device(translator),
                "seconds": sum(evaluation.translating["seconds"].values()),
            }
        write_results(args.json, evaluation, **training, evaluated_by=args.command_line)
        print(f"results: {args.json}")


def _require_consistent(args: argparse.Namespace) -> None:
    own = (args.source, args.reference, args.language)
    if any(own) and not all(own):
        args.parser.error("--source, --reference and --language must be given together")
    if any(own) and (args.corpus or args.test_sets or args.data):
        args.parser.error("--corpus, --test-sets and --data cannot be combined with --source")


def _load_corpus(args: argparse.Namespace, metadata: dict[str, Any]) -> Corpus:
    name = args.corpus or metadata.get("corpus")
    if name is None:
        raise ValueError(
            f"{args.model} does not record its training corpus: name a test corpus with --corpus"
        )
    require_choice(tuple(SOURCES), corpus=name)
    for test in args.test_sets or ():  # before a download
        require_choice(_TEST_SETS[name.partition("-")[0]], test_sets=test)
    return load_corpus(name, folder=args.data)


def _read_own(args: argparse.Namespace) -> Corpus:
    sources, *references = map(_read_lines, (args.source, *args.reference))
    for path, lines in zip(args.reference, references, strict=True):
        if len(lines) != len(sources):
            raise ValueError(
                f"{path} and {args.source} must have equally many lines, got {len(lines)} and {len(sources)}"
            )
    empty = Sentences((), ())
    test = Sentences(tuple(sources), tuple(zip(*references, strict=True)))
    return Corpus(args.source.name, "", args.language, "", empty, empty, {args.source.stem: test})


def _read_lines(path: Path) -> list[str]:
    try:
        with readable(path):
            text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not valid UTF-8: {error}") from error
    if not text:
        raise ValueError(f"{path} is empty")
    return text.removesuffix("\n").split("\n")
