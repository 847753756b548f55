"""Checks for the exercises: one module a chapter, `check_<name>(attempt)` for each exercise in it."""

from glassformer.exercises.checking import Verdict
from glassformer.exercises.register import CHAPTERS, judge, list_checks

__all__ = ["CHAPTERS", "Verdict", "judge", "list_checks"]
