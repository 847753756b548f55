"""Figures that are alive in a page, without a kernel or a server: numbers from Python, drawn by `static/`."""

from glassformer.widgets.beam import live_beam
from glassformer.widgets.block import live_block
from glassformer.widgets.formula import live_formula
from glassformer.widgets.grammar import live_grammar
from glassformer.widgets.heads import live_heads
from glassformer.widgets.hero import live_hero
from glassformer.widgets.lookup import live_lookup
from glassformer.widgets.positions import live_positions
from glassformer.widgets.quiz import live_quiz
from glassformer.widgets.recurrence import live_recurrence
from glassformer.widgets.scaling import live_scaling
from glassformer.widgets.softmax import live_softmax
from glassformer.widgets.training import live_training
from glassformer.widgets.transformer import live_transformer
from glassformer.widgets.translate import live_translate

__all__ = [
    "live_beam",
    "live_block",
    "live_formula",
    "live_grammar",
    "live_heads",
    "live_hero",
    "live_lookup",
    "live_positions",
    "live_quiz",
    "live_recurrence",
    "live_scaling",
    "live_softmax",
    "live_training",
    "live_transformer",
    "live_translate",
]
