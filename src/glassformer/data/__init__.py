"""Corpora, tokenizers and batches."""

from glassformer.data.batching import Batch, TokenBatches, shard
from glassformer.data.corpora import Corpus, Sentences, load_corpus
from glassformer.data.downloads import DataFileError, PinnedFile, read_pinned
from glassformer.data.grammar import (
    BOOK_EXAMPLE,
    Example,
    join_words,
    make_corpus,
    parse,
    split_words,
)
from glassformer.data.lexicon import (
    ADJECTIVES,
    ANIMALS,
    PLACES,
    VERBS,
    adjective,
    noun,
    verb,
)
from glassformer.data.lookup import LookupTask
from glassformer.data.order import OrderTask
from glassformer.data.planted import CapitalTask
from glassformer.data.questions import QuestionTask, all_right_rate, answer_rates
from glassformer.data.recall import RecallTask, recall_rate
from glassformer.data.sources import SOURCES
from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import (
    END_ID,
    PAD_ID,
    START_ID,
    Vocabulary,
)

__all__ = [
    "ADJECTIVES",
    "ANIMALS",
    "BOOK_EXAMPLE",
    "END_ID",
    "PAD_ID",
    "PLACES",
    "SOURCES",
    "START_ID",
    "VERBS",
    "Batch",
    "CapitalTask",
    "Corpus",
    "DataFileError",
    "Example",
    "LookupTask",
    "OrderTask",
    "PinnedFile",
    "QuestionTask",
    "RecallTask",
    "Sentences",
    "TokenBatches",
    "Tokenizer",
    "Vocabulary",
    "adjective",
    "all_right_rate",
    "answer_rates",
    "join_words",
    "load_corpus",
    "make_corpus",
    "noun",
    "parse",
    "read_pinned",
    "recall_rate",
    "shard",
    "split_words",
    "verb",
]
