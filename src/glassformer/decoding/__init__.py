"""Generate text from a trained model: greedy decoding, sampling and beam search."""

from glassformer.decoding.beam import Hypothesis, LengthPenalty, beam_search
from glassformer.decoding.cache import start_cache
from glassformer.decoding.greedy import greedy_decode, translate
from glassformer.decoding.sampling import draw_tokens, sample

__all__ = [
    "Hypothesis",
    "LengthPenalty",
    "beam_search",
    "draw_tokens",
    "greedy_decode",
    "sample",
    "start_cache",
    "translate",
]
