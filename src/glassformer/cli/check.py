"""Check your solutions to the exercises of a chapter."""

import argparse
import sys
from pathlib import Path

from glassformer.cli.attempt import run_attempt
from glassformer.exercises import CHAPTERS, Verdict, judge, list_checks

USAGE = "[CHAPTER [ATTEMPT.py]]"
EPILOG = """\
examples:
  glassformer check                             list the chapters and how many exercises they have
  glassformer check softmax                     list the exercises of a chapter
  glassformer check softmax attempt.py          check the solutions in attempt.py
  glassformer check softmax attempt.py --all    treat unattempted exercises as wrong

The exit code is 0 if at least one exercise is attempted and every attempted exercise is right; with --all,
every exercise must be right. Otherwise it is 1.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``glassformer check``."""
    parser.add_argument(
        "chapter", nargs="?", metavar="CHAPTER", help="name of the chapter (default: list the chapters)"
    )
    parser.add_argument(
        "attempt", nargs="?", type=Path, metavar="ATTEMPT.py", help="Python file with your solutions"
    )
    parser.add_argument("--all", action="store_true", help="treat unattempted exercises as wrong")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed for the test cases (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """List chapters or exercises, or check a file."""
    if args.chapter is None:
        for slug in CHAPTERS:
            print(f"{slug}: {len(list_checks(slug))} exercises")
        return 0
    checks = list_checks(args.chapter)
    if args.attempt is None:
        for check in checks.values():
            print(check.name)
        return 0
    attempt = run_attempt(args.attempt)
    if attempt.error:
        print(f"glassformer: {attempt.error}", file=sys.stderr, flush=True)
    verdicts = []
    for name in checks:
        verdicts.append(_judge(args.chapter, name, attempt.names.get(name), args.seed))
        print(_report(verdicts[-1]), flush=True)
    states = {verdict.state for verdict in verdicts}
    if attempt.error:
        return 1
    if states == {"not started"}:
        raise ValueError(f"{args.attempt} defines none of {', '.join(checks)}")
    return int("wrong" in states or (args.all and "not started" in states))


def _judge(slug: str, name: str, attempt: object, seed: int) -> Verdict:
    try:
        return judge(slug, name, attempt, seed)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{name} was being checked: is there an endless loop?") from None


def _report(verdict: Verdict) -> str:
    return f"◦ {verdict.exercise}: not started." if verdict.state == "not started" else str(verdict)
