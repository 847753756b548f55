"""Synthetic tasks with known answers: a small English-French grammar, look-up, order, recall and more."""

from glassformer.tasks.cards import CardBatch, CardTask
from glassformer.tasks.grammar import (
    BOOK_EXAMPLE,
    Example,
    join_words,
    make_corpus,
    parse,
    split_words,
    swaps,
    translate,
)
from glassformer.tasks.lexicon import (
    ADJECTIVES,
    ANIMALS,
    PLACES,
    VERBS,
    Adjective,
    Noun,
    Verb,
    adjective,
    noun,
    verb,
)
from glassformer.tasks.lookup import AttentionLookup, LookupBatch, LookupTask
from glassformer.tasks.order import OrderBatch, OrderReader, OrderTask
from glassformer.tasks.planted import CapitalBatch, CapitalTask
from glassformer.tasks.questions import (
    QuestionBatch,
    QuestionTask,
    accuracy_per_question,
    exact_match_rate,
    weight_per_question,
)
from glassformer.tasks.recall import RecallBatch, RecallTask, recall_accuracy
