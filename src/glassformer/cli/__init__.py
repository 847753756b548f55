"""The command ``glassformer``: train, translate, evaluate, average, export, check."""

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from glassformer import __version__
from glassformer.cli import average, check, evaluate, export, train, translate

_EPILOG = """\
a first hour with it:
  glassformer translate "I am tired."                          with the pretrained translator
  glassformer train --folder runs/mine                         train one of your own, English to French
  glassformer translate --model runs/mine "I am tired."        ask it
  glassformer evaluate --model runs/mine                       score it on the sentences it never saw

Each command explains itself: glassformer train --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: what was typed after the name of the program; without it, what really was.

    Returns:
        0 if all went well, 1 if not, 130 if it was interrupted. A command line that cannot be understood
        exits with 2.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    parser = _make_parser()
    chosen = parser.parse_args(arguments)
    chosen.command_line = shlex.join(["glassformer", *arguments])
    try:
        code = chosen.run(chosen)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        return _fail(f"interrupted. {interrupt}".strip(), code=130)
    except BrokenPipeError:
        return _fail("nobody reads the output any more; what follows was not written")
    except (ValueError, OSError, RuntimeError) as error:
        return _fail(str(error))
    return int(code or 0)


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glassformer",
        description="Train translators, translate with them, and judge answers to the book's exercises.",
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
        subparser.set_defaults(run=command.run, refuse=subparser.error)
    return parser


def _fail(message: str, *, code: int = 1) -> int:
    print(f"glassformer: {message}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        # What cannot be written would be tried again at the end of the program, with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
