"""Export a translator to a small folder, for distribution."""

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

The folder will hold model.json, model.safetensors and tokenizer.json. float16 halves the size of the weights;
they are converted to float32 when they are loaded.
"""
MAX_BYTES = 12_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer export``."""
    parser.add_argument(
        "model", metavar="MODEL", help="folder of a run or a translator, or name of a pretrained one"
    )
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="folder of the export (required)"
    )
    parser.add_argument(
        "--dtype",
        choices=("float16", "float32"),
        default="float16",
        help="number format of the stored weights (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Export a translator, and print the sizes of its files."""
    folder = find_translator(args.model)
    Translator.load(folder).save(args.output, dtype=getattr(torch, args.dtype), **read_metadata(folder))
    files = [args.output / name for name in (MODEL_FILE, WEIGHTS_FILE, TOKENIZER_FILE)]
    for file in files:
        print(f"{file}: {_size(file.stat().st_size)}")
    total = sum(file.stat().st_size for file in files)
    verdict = "" if total <= MAX_BYTES else "too large: "
    print(f"total: {_size(total)} ({verdict}limit for pretrained translators: {_size(MAX_BYTES)})")


def _size(size: int) -> str:
    return f"{size / 10**6:.2f} MB" if size >= 10**5 else f"{size / 10**3:.1f} kB"
