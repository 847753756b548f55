"""Make a translator of the mean of the last checkpoints of a run."""

import argparse
from pathlib import Path

from glassformer.cli.options import whole
from glassformer.training.folders import average_checkpoints

USAGE = "RUN --output FOLDER"
EPILOG = """\
examples:
  glassformer average runs/first --output averaged              all checkpoints that the run has kept
  glassformer average runs/first --last 3 --output averaged
  glassformer average runs/first --steps 9000 10000 --output averaged

A run that comes to its end does so by itself; this is for one that has not, or for another choice.
The mean of weights of one run often translates better than each of them (Vaswani et al., 2017, section 6.1).
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of an average."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument("--output", type=Path, required=True, help="the translator's folder (required)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--last", type=whole, metavar="N", help="so many of the last checkpoints (default: all)"
    )
    which.add_argument("--steps", type=whole, nargs="+", default=(), metavar="N", help="of these steps")


def run(chosen: argparse.Namespace) -> None:
    """Average what was asked for."""
    translator, notes = average_checkpoints(chosen.run_folder, last=chosen.last, steps=chosen.steps)
    translator.save(chosen.output, **notes)
    steps = ", ".join(map(str, notes["averaged_steps"]))
    print(f"{chosen.output}: the mean of the checkpoints of the steps {steps}")
