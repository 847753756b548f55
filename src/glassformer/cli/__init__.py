"""The command ``glassformer``: train, translate, evaluate, average, export, check."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from glassformer import __version__
from glassformer.cli import average, check, evaluate, export, train, translate

_EPILOG = """\
getting started:
  glassformer translate "I am tired."                          translate with the pretrained model
  glassformer train --folder runs/mine                         train your own, English to French
  glassformer translate --model runs/mine "I am tired."        translate with it
  glassformer evaluate --model runs/mine                       score it on its test set

Each command has its own help: glassformer train --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: arguments after the program name; by default those of this process.

    Returns:
        0 on success, 1 on failure, 130 if interrupted. A command line that cannot be parsed exits with 2.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    args = _make_parser().parse_args(arguments)
    args.command_line = shlex.join(["glassformer", *arguments])
    try:
        code = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        return _fail(f"interrupted. {interrupt}".strip(), code=130)
    except BrokenPipeError:
        return _fail("the output was closed; the rest was not written")
    except (ValueError, OSError, RuntimeError) as error:
        return _fail(str(error))
    return int(code or 0)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glassformer",
        description="Train translators, translate with them, and check your solutions to exercises.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for command in (train, translate, evaluate, average, export, check):
        summary = command.__doc__.splitlines()[0] if command.__doc__ else ""
        name = command.__name__.rpartition(".")[2]
        subparser = commands.add_parser(
            name,
            usage=f"glassformer {name} {command.USAGE} [option ...]",
            help=summary.rstrip(".").lower(),
            description=summary,
            epilog=command.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_options(subparser)
        subparser.set_defaults(run=command.run, parser=subparser)
    return parser


def _fail(message: str, *, code: int = 1) -> int:
    print(f"glassformer: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        # Otherwise Python would flush again at exit and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
