"""Judge answers to the exercises of a chapter."""

import argparse
import sys
from pathlib import Path

from glassformer.cli.answers import read_answers
from glassformer.exercises import CHAPTERS, Verdict, judge, list_checks

USAGE = "[CHAPTER [ATTEMPT.py]]"
EPILOG = """\
examples:
  glassformer check                             the chapters, and how many exercises each has
  glassformer check softmax                     the exercises of one
  glassformer check softmax attempt.py          judge what attempt.py defines under their names
  glassformer check softmax attempt.py --all    exercises that are not started count as wrong

The exit code is 0 if at least one exercise is begun and all that are begun are right, with --all if all are
right; it is 1 otherwise.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said of a judgement."""
    parser.add_argument("chapter", nargs="?", metavar="CHAPTER", help="its name (default: list them all)")
    parser.add_argument(
        "attempt", nargs="?", type=Path, metavar="ATTEMPT.py", help="a Python file with your answers"
    )
    parser.add_argument("--all", action="store_true", help="exercises that are not started count as wrong")
    parser.add_argument("--seed", type=int, default=0, help="of the cases drawn (default: %(default)s)")


def run(chosen: argparse.Namespace) -> int:
    """Judge, or list, what was asked for."""
    if chosen.chapter is None:
        for slug in CHAPTERS:
            print(f"{slug}: {len(list_checks(slug))} exercises")
        return 0
    checks = list_checks(chosen.chapter)
    if chosen.attempt is None:
        for check in checks.values():
            print(check.name)
        return 0
    answers = read_answers(chosen.attempt)
    if answers.fault:
        print(f"glassformer: {answers.fault}", file=sys.stderr, flush=True)
    verdicts = []
    for name in checks:
        verdicts.append(_judge(chosen.chapter, name, answers.found.get(name), chosen.seed))
        print(_tell(verdicts[-1]), flush=True)
    states = {verdict.state for verdict in verdicts}
    if answers.fault:
        return 1
    if states == {"not started"}:
        raise ValueError(f"{chosen.attempt} defines none of {', '.join(checks)}")
    return int("wrong" in states or (chosen.all and "not started" in states))


def _judge(slug: str, name: str, attempt: object, seed: int) -> Verdict:
    try:
        return judge(slug, name, attempt, seed)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{name} was being judged: does a loop in it never end?") from None


def _tell(verdict: Verdict) -> str:
    return f"◦ {verdict.exercise}: not started." if verdict.state == "not started" else str(verdict)
