"""Corpora, tokenizers and batches: from downloaded sentences to arrays of token ids."""

from glassformer.data.batching import Batch, TokenBatches, shard
from glassformer.data.corpora import Corpus, Sentences, load_corpus, sentence_key
from glassformer.data.downloads import DataFileError, PinnedFile, read_pinned
from glassformer.data.overlap import find_leaks, find_neighbours, find_repeated
from glassformer.data.sources import SOURCES, Source
from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, SPECIAL_TOKENS, START_ID, Vocabulary
