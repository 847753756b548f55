"""Average the most recent checkpoints of a run into a translator."""

import argparse
from pathlib import Path

from glassformer.cli.options import positive_int
from glassformer.training.folders import average_checkpoints

USAGE = "RUN --output FOLDER"
EPILOG = """\
examples:
  glassformer average runs/first --output averaged              all checkpoints that were kept
  glassformer average runs/first --last 3 --output averaged
  glassformer average runs/first --steps 9000 10000 --output averaged

A finished run has done this already: use this command for an unfinished run, or to average other checkpoints.
Averaged weights often translate better than any single checkpoint (Vaswani et al., 2017, section 6.1).
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer average``."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="folder of the run")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="folder of the new translator (required)"
    )
    checkpoints = parser.add_mutually_exclusive_group()
    checkpoints.add_argument(
        "--last",
        type=positive_int,
        metavar="N",
        help="average only the N most recent checkpoints (default: all)",
    )
    checkpoints.add_argument(
        "--steps",
        type=positive_int,
        nargs="+",
        default=(),
        metavar="N",
        help="average the checkpoints saved at these steps",
    )


def run(args: argparse.Namespace) -> None:
    """Average checkpoints and save the translator."""
    translator, metadata = average_checkpoints(args.run_folder, last=args.last, steps=args.steps)
    translator.save(args.output, **metadata)
    steps = ", ".join(map(str, metadata["averaged_steps"]))
    print(f"{args.output}: average of the checkpoints of steps {steps}")
