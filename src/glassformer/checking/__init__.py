"""Machinery of the exercise checks: compare an attempt with the solution and name the learner's slip."""

from glassformer.checking.check import Check, Verdict, check
from glassformer.checking.compare import Hint, compare, compare_number
from glassformer.checking.registry import CHAPTERS
from glassformer.checking.sandbox import is_template
from glassformer.checking.slips import Slip, Stopped
