"""Interactive figures that run in a web page without a kernel or server; the data come from Python."""

from glassformer.widgets.figures.beam import live_beam
from glassformer.widgets.figures.block import live_block
from glassformer.widgets.figures.formula import live_formula
from glassformer.widgets.figures.grammar import live_grammar
from glassformer.widgets.figures.heads import live_heads
from glassformer.widgets.figures.hero import live_hero
from glassformer.widgets.figures.lookup import live_lookup
from glassformer.widgets.figures.positions import live_positions
from glassformer.widgets.figures.quiz import live_quiz, number_in_words
from glassformer.widgets.figures.recurrence import live_recurrence
from glassformer.widgets.figures.scaling import live_scaling
from glassformer.widgets.figures.softmax import live_softmax
from glassformer.widgets.figures.train import REMOVABLE_PARTS, live_train
from glassformer.widgets.figures.training import live_training
from glassformer.widgets.figures.transformer import live_transformer
from glassformer.widgets.figures.translate import EXAMPLES, live_translate
from glassformer.widgets.live import SCRIPTS, copy_scripts, files_of
from glassformer.widgets.questions import Number, OneOf, Option, Question, SeveralOf
