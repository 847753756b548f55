"""Generate text from a trained model: greedy decoding, sampling and beam search."""

from glassformer.decoding.beam import Hypothesis, LengthPenalty, beam_search, compute_length_penalty
from glassformer.decoding.cache import start_decoding
from glassformer.decoding.generate import greedy_decode, sample, sample_tokens, translate
