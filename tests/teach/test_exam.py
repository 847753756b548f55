"""The exam's answers equal those computed with the package, and its points add up."""

import ast
import itertools
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from bookkit.chapters import all_exercises
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID, Vocabulary
from glassformer.decoding.generate import greedy_decode
from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.layers import EncoderLayer
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.layers import layer_norm
from glassformer.reference.masks import causal_mask, padding_mask
from glassformer.reference.positions import sinusoidal_positions
from glassformer.reference.softmax import softmax
from glassformer.training.loss import cross_entropy, shift_targets
from glassformer.training.schedule import noam_learning_rate

PAGE = (Path(__file__).parents[2] / "teach/exam.md").read_text(encoding="utf-8")
QUESTIONS = PAGE.split("\n## ")[1:]
STATED = {name: text for text, name in re.findall(r"\[([^\]]+)\]\{#exam-([\w-]+)\}", PAGE)}


def share_after(steps):
    """The share of a gradient left by a recurrence that rotates and shrinks by 0.8 per step."""
    turn = 0.8 * np.array([[0.6, -0.8], [0.8, 0.6]])
    return np.linalg.norm(np.linalg.matrix_power(turn, steps) @ [1.0, 0.0])


def look_up(sharpness=1.0):
    return softmax(sharpness * math.log(2) * np.array([2.0, 1.0, 0.0])) @ [7, 0, 14]


def every_sign(width):
    return np.array(list(itertools.product([-1, 1], repeat=width)))


def score_variance(width):
    """The variance of the dot products of all sign vectors, which grows by one per dimension."""
    few = [(every_sign(n) @ every_sign(n).T).var() for n in (1, 2, 3)]
    assert np.allclose(few, [1, 2, 3])
    return few[0] * width


def unit_variance(width):
    vectors = np.random.default_rng(3).standard_normal((2, 5_000, width))
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    return round((vectors[0] * vectors[1]).sum(axis=-1).var() * width, 1) / width


def odds(temperature):
    first, second = softmax(np.array([2.0, 0.0]) / temperature)
    return first / second


def allowed():
    return causal_mask(8) & padding_mask(np.array([5] * 5 + [PAD_ID] * 3), PAD_ID)[0]


def count(module):
    return sum(weight.numel() for weight in module.parameters())


def attention_parameters():
    sizes = {count(MultiHeadAttention(256, heads, bias=False)) for heads in (8, 16)}
    (size,) = sizes
    return size


def best_guess(values=4):
    """Of all lists of two values, those where the likeliest list of their mixture is meant."""
    lists = Counter(tuple(sorted(each)) for each in itertools.product(range(values), repeat=2))
    return len(lists) / values**2


def dot_product(first, second):
    table = sinusoidal_positions(second + 1, 4)
    return table[first] @ table[second]


def places():
    assert math.isclose(dot_product(3, 5), dot_product(103, 105), abs_tol=1e-9)
    return dot_product(3, 5)


def slowest_turn():
    sine, cosine = sinusoidal_positions(2, 8)[1, -2:]
    return 2 * math.pi / math.atan2(sine, cosine)


def norm(place):
    return layer_norm(np.array([3.0, 5.0, 5.0, 11.0]), np.ones(4), np.zeros(4))[place]


def layer(part=""):
    parts = EncoderLayer(16, 4, 64).named_parameters()
    return sum(weight.numel() for name, weight in parts if part in re.sub(r"\w+_residual", "", name))


def target():
    vocabulary = Vocabulary.from_sentences([["elle", "dort"]])
    ids = torch.from_numpy(vocabulary.batch([["elle", "dort"]], add_special_tokens=True))
    return torch.nn.functional.pad(ids, (0, 1), value=PAD_ID)


def num_labels():
    return int((shift_targets(target())[1] != PAD_ID).sum())


def surprise():
    labels = shift_targets(target())[1]
    probabilities = torch.full((1, 4, 5), 0.1)
    for place, p in enumerate((1 / 2, 1 / 8, 1 / 4)):
        probabilities[0, place] = (1 - p) / 4
        probabilities[0, place, labels[0, place]] = p
    return cross_entropy(probabilities.log(), labels, PAD_ID).item()


def projected(cached):
    """Keys and values that the self-attention of two layers makes while ten tokens are written."""
    sizes = {
        "source_vocabulary_size": 7,
        "target_vocabulary_size": 7,
        "d_model": 8,
        "num_heads": 2,
        "d_ff": 8,
    }
    model = Transformer(TransformerConfig(**sizes, num_encoder_layers=1, num_decoder_layers=2)).eval()
    counts = []
    for name, module in model.decoder.named_modules():
        if re.search(r"self_attention\.(key|value)_proj$", name):
            module.register_forward_hook(lambda module, given, made: counts.append(made.shape[-2]))
    marks = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": [END_ID]}
    greedy_decode(model, torch.tensor([[4, 5, END_ID]]), **marks, max_length=10, use_cache=cached)
    return sum(counts)


def solution_of(label):
    """The function that the book's own solution of an exercise defines."""
    exercise = all_exercises()[label]
    definitions = ast.parse(exercise.solution).body[:-1]
    names = {"np": np, "Counter": Counter}
    exec(compile(ast.Module(definitions, []), label, "exec"), names)
    return names[exercise.attempt]


def penalised(place):
    return solution_of("decoding-penalty")(np.array([-3.0, -3.6]), np.array([5, 9]), 0.6)[place]


def clipped():
    translation, reference = "la la la maison", "la maison est la mienne"
    return solution_of("decoding-clipped")(translation.split(), reference.split(), 1)


def answer(may_look=(True, True, True)):
    scores = np.log([[0.6], [0.3], [0.1]])
    votes = np.array([[0.0], [1.0], [-1.0]])
    attended, _ = scaled_dot_product_attention(np.ones((1, 1)), scores, votes, np.array([may_look]))
    return attended.item()


def equal_work(width):
    """The number of words at which an Elman network and attention multiply equally often."""
    multiplications = solution_of("cost-multiplications")
    (length,) = (n for n in range(1, 2 * width) if len(set(multiplications(n, width))) == 1)
    return length


def growth(place):
    """The factor by which three times as many words multiply the work of one of the two layers."""
    multiplications = solution_of("cost-multiplications")
    return multiplications(3, 7)[place] / multiplications(1, 7)[place]


SUMS, COUNTS = np.array([6.0, 4.0]), np.array([4, 1])
COMPUTED = {
    "fading-share": lambda: share_after(5),
    "fading-steps": lambda: next(steps for steps in itertools.count() if share_after(steps) < 0.01),
    "look-up": look_up,
    "sharp-look-up": lambda: look_up(sharpness=100.0),
    "variance": lambda: score_variance(100),
    "divisor": lambda: math.sqrt(score_variance(100)),
    "unit-vectors": lambda: unit_variance(100),
    "odds-cold": lambda: odds(1),
    "odds-hot": lambda: odds(4),
    "overflow": lambda: math.log(float(np.finfo(np.float16).max) / 100),
    "pairs": lambda: allowed().sum(),
    "pairs-of-words": lambda: allowed()[:5].sum(),
    "parameters": attention_parameters,
    "best-guess": best_guess,
    "slowest": slowest_turn,
    "places": places,
    "norm-first": lambda: norm(0),
    "norm-middle": lambda: norm(1),
    "norm-last": lambda: norm(3),
    "layer": layer,
    "layer-attention": lambda: layer("attention"),
    "layer-network": lambda: layer("feed_forward"),
    "layer-norms": lambda: layer("norm"),
    "wanted": num_labels,
    "surprise": surprise,
    "peak": lambda: noam_learning_rate(1000, d_model=256, warmup_steps=1000),
    "perplexity": lambda: np.exp(SUMS.sum() / COUNTS.sum()),
    "mean-of-means": lambda: np.exp((SUMS / COUNTS).mean()),
    "uncached": lambda: projected(cached=False),
    "cached": lambda: projected(cached=True),
    "score-short": lambda: penalised(0),
    "score-long": lambda: penalised(1),
    "clipped": clipped,
    "answer": answer,
    "answer-without": lambda: answer((False, True, True)),
    "equal-work": lambda: equal_work(512),
    "equal-work-lstm": lambda: solution_of("cost-equal")(512),
    "work-recurrence": lambda: growth(0),
    "work-attention": lambda: growth(1),
}


def test_stated_and_computed_answers_correspond():
    assert set(STATED) == set(COMPUTED)


@pytest.mark.parametrize("name", COMPUTED)
def test_a_stated_answer_equals_the_computed_one(name):
    stated = STATED[name].replace(",", "").replace("−", "-")
    digits = len(stated.partition(".")[2])
    assert float(stated) == round(float(COMPUTED[name]()), digits)


def test_there_are_twelve_questions_with_ninety_points_and_a_replacement_for_the_last():
    points = [int(re.match(r"\d+\. .*\((\d+) points", question)[1]) for question in QUESTIONS]
    assert [int(question.split(".")[0]) for question in QUESTIONS] == [*range(1, 14)]
    assert sum(points[:12]) == 90
    assert "in place of question 12" in QUESTIONS[-1]
    assert points[-1] == points[11]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.splitlines()[0])
def test_the_parts_of_a_question_add_up_and_have_answers(question):
    asked, answered = question.split(":::{teacher}")
    whole, *parts = map(int, re.findall(r"\((\d+) points?[,)]", asked))
    assert sum(parts) == whole
    letters = [re.findall(r"^- \((\w)\)", part, re.MULTILINE) for part in (asked, answered)]
    assert letters[0] == letters[1]
    assert len(letters[0]) == len(parts)
