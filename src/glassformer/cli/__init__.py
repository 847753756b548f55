"""The command ``glassformer``: train, translate, evaluate, average, export, check."""

import argparse
import importlib
import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from glassformer import __version__

# The modules of the commands, and their docstrings. Most of them import PyTorch, which takes seconds, so only
# the module of the command that is run is imported.
_COMMANDS = {
    "train": "Train a translator on a corpus, or resume an interrupted run.",
    "translate": "Translate sentences from the command line, a file or a pipe.",
    "evaluate": "Score a translator on the test sets of a corpus, or on your own sentences.",
    "average": "Average the most recent checkpoints of a run into a translator.",
    "export": "Export a translator to a small folder, for distribution.",
    "check": "Check your solutions to the exercises of a chapter.",
}
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
        0 on success, 1 on failure, 130 if interrupted. An invalid command line, or an invalid value of an
        option, exits with 2.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    chosen = next((argument for argument in arguments if not argument.startswith("-")), None)
    args = _make_parser(chosen).parse_args(arguments)
    args.command_line = shlex.join(["glassformer", *arguments])
    try:
        code = args.run(args)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        return _fail(f"interrupted. {interrupt}".strip(), code=130)
    except BrokenPipeError:
        return _fail("the output was closed; the rest was not written")
    except ValueError as error:
        if message := _name_options(str(error), args):
            args.parser.error(message)
        return _fail(str(error))
    except (OSError, RuntimeError) as error:
        return _fail(_name_data_option(error, args))
    return int(code or 0)


class _Parser(argparse.ArgumentParser):
    """Parser whose errors read "--beam-size must be ...", not "argument --beam-size: must be ..."."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with 2."""
        super().error(re.sub(r"^argument (\S+): (?=must )", r"\1 ", message))


def _name_options(message: str, args: argparse.Namespace) -> str:
    """Replace the names of arguments in an error message by their names on the command line.

    Returns:
        The message, or nothing if it is not about the value of an option that was given.
    """
    flags = {
        action.dest: action.option_strings[0] if action.option_strings else action.metavar
        for action in args.parser._actions
    }
    subject = message.split(" ")[0]
    if subject not in flags or vars(args).get(subject, "") is None:
        return ""
    if not re.search(" must | is not available ", message):
        return ""

    def name(found: re.Match[str]) -> str:
        return str(flags.get(found[0], found[0]))

    # Other words are names only if they look like one: "steps (10)", "num_heads".
    return re.sub(r"^\w+|\b\w+(?= \()|\b\w+_\w+", name, message)


def _name_data_option(error: OSError | RuntimeError, args: argparse.Namespace) -> str:
    """Return the message of an error; if it is about a data file, with the option that names another one."""
    message = str(error)
    if "data" not in args:
        return message
    from glassformer.data.downloads import FOLDER_VARIABLE, DataFileError

    if not isinstance(error, DataFileError):
        return message
    if vars(args).get("data") or os.environ.get(FOLDER_VARIABLE):
        return re.sub("^folder", "--data" if vars(args).get("data") else FOLDER_VARIABLE, message)
    return f"{message}\nTo read a local copy, pass --data FOLDER or set {FOLDER_VARIABLE}."


def _make_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Make the parser, with the options of the chosen command."""
    parser = _Parser(
        prog="glassformer",
        description="Train translators, translate with them, and check your solutions to exercises.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"glassformer {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", title="commands")
    for name, summary in _COMMANDS.items():
        subparser = commands.add_parser(
            name,
            help=summary.rstrip(".").lower(),
            description=summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == chosen:
            command = importlib.import_module(f"{__name__}.{name}")
            subparser.usage = f"glassformer {name} {command.USAGE} [option ...]"
            subparser.epilog = command.EPILOG
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
