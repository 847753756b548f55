"""Write a translator into a folder that is as small as it can be, to be passed on."""

import argparse
from pathlib import Path

import torch

from glassformer.modules.storage import MODEL_FILE, WEIGHTS_FILE
from glassformer.training.folders import find_translator, read_metadata
from glassformer.translator import TOKENIZER_FILE, Translator

USAGE = "MODEL --output FOLDER"
EPILOG = """\
examples:
  glassformer export runs/first --output en-fr
  glassformer export runs/first --output en-fr --dtype float32

The folder then holds model.json, model.safetensors and tokenizer.json. float16 halves the weights; they are
computed with as float32 wherever they are read.
"""
MOST_BYTES = 12_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of an export."""
    parser.add_argument(
        "model", metavar="MODEL", help="the folder of a run or a translator, or a pretrained name"
    )
    parser.add_argument("--output", type=Path, required=True, help="the new folder (required)")
    parser.add_argument(
        "--dtype",
        choices=("float16", "float32"),
        default="float16",
        help="the numbers in the file (default: %(default)s)",
    )


def run(chosen: argparse.Namespace) -> None:
    """Export what was asked for, and say how large it is."""
    place = find_translator(chosen.model)
    translator = Translator.load(place)
    translator.save(chosen.output, dtype=getattr(torch, chosen.dtype), **read_metadata(place))
    sizes = {
        name: (chosen.output / name).stat().st_size for name in (MODEL_FILE, WEIGHTS_FILE, TOKENIZER_FILE)
    }
    for name, size in sizes.items():
        print(f"{chosen.output / name}: {_megabytes(size)}")
    total = sum(sizes.values())
    verdict = "at most" if total <= MOST_BYTES else "more than"
    print(f"total {_megabytes(total)}: {verdict} the {_megabytes(MOST_BYTES)} allowed in the package")


def _megabytes(size: int) -> str:
    return f"{size / 10**6:.2f} MB"
