import math

import pytest
import torch

from glassformer.decoding.generate import greedy_decode, sample, sample_tokens

from .conftest import END, START, TARGET_SIZE, make_model, make_sources

SPECIAL_IDS = {"start_id": START, "end_id": END}
LOGITS = torch.tensor([[0.4, -1.0, 2.0, 1.5, -math.inf]])
SAMPLES = 20_000


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def frequencies(**options):
    uniform = torch.rand(SAMPLES, generator=seeded())
    sampled = sample_tokens(LOGITS.expand(SAMPLES, -1).clone(), uniform, **options)
    return sampled.bincount(minlength=LOGITS.shape[1]) / SAMPLES


def assert_frequencies(measured, expected):
    deviation = (expected * (1 - expected) / SAMPLES) ** 0.5
    assert ((measured - expected).abs() <= 4 * deviation).all(), (measured, expected)


@pytest.mark.parametrize("temperature", [0.5, 1, 3.0])
def test_token_frequencies_match_the_probabilities(temperature):
    expected = (LOGITS[0] / temperature).softmax(-1)
    assert_frequencies(frequencies(temperature=temperature), expected)


def test_top_k_samples_the_most_probable_tokens():
    expected = torch.tensor([0.0, 0, *LOGITS[0, 2:4].softmax(-1), 0])
    assert_frequencies(frequencies(top_k=2), expected)


@pytest.mark.parametrize(("top_p", "kept"), [(0.01, 1), (0.5, 1), (0.6, 2), (0.85, 2), (0.87, 3), (1.0, 4)])
def test_top_p_samples_the_smallest_sufficient_set(top_p, kept):
    likely = LOGITS[0].softmax(-1)
    order = likely.argsort(descending=True)
    assert likely[order[:kept]].sum() >= top_p - 1e-6
    assert kept == 1 or likely[order[: kept - 1]].sum() < top_p
    expected = torch.zeros_like(likely)
    expected[order[:kept]] = likely[order[:kept]] / likely[order[:kept]].sum()
    assert_frequencies(frequencies(top_p=top_p), expected)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-24])
def test_extreme_random_numbers_sample_possible_tokens(uniform):
    sampled = sample_tokens(LOGITS, torch.tensor([uniform]))
    assert sampled.item() == (2 if uniform == 0 else 1)


@pytest.mark.parametrize("temperature", [0, 1e-30, 1e-4])
def test_temperature_zero_is_greedy_decoding(any_model, temperature):
    source_ids = make_sources(5)
    cold = sample(any_model, source_ids, **SPECIAL_IDS, generator=seeded(), temperature=temperature)
    assert torch.equal(cold, greedy_decode(any_model, source_ids, **SPECIAL_IDS))


def test_top_k_of_one_is_greedy_decoding():
    model, source_ids = make_model(), make_sources(5)
    expected = greedy_decode(model, source_ids, **SPECIAL_IDS)
    for options in ({"top_k": 1}, {"top_p": 1e-9}):
        assert torch.equal(sample(model, source_ids, **SPECIAL_IDS, generator=seeded(), **options), expected)


def test_first_tokens_of_translations_match_their_probabilities():
    model = make_model(wild=1.0)
    source_ids = make_sources(1).expand(SAMPLES, -1)
    sampled = sample(model, source_ids, **SPECIAL_IDS, generator=seeded(), max_length=1)[:, 0]
    logits = model(source_ids[:1], torch.tensor([[START]]))[0, 0].detach()
    logits[0] = -math.inf
    assert_frequencies(sampled.bincount(minlength=TARGET_SIZE) / SAMPLES, logits.softmax(-1))


def test_the_same_seed_samples_the_same_on_every_device(device):
    model, source_ids = make_model(wild=1.0), make_sources(13)
    options = {"max_length": 7, "temperature": 1.5}
    here = sample(model, source_ids, **SPECIAL_IDS, **options, generator=seeded())
    there = sample(model.to(device), source_ids.to(device), **SPECIAL_IDS, **options, generator=seeded())
    other = sample(model.cpu(), source_ids, **SPECIAL_IDS, **options, generator=seeded(1))
    assert torch.equal(here, there.cpu())
    assert here.shape != other.shape or not torch.equal(here, other)


def test_sampling_generates_the_same_with_and_without_a_cache():
    model, source_ids = make_model(wild=1.0), make_sources(13)
    sampled = [
        sample(model, source_ids, **SPECIAL_IDS, generator=seeded(), use_cache=cached)
        for cached in (True, False)
    ]
    assert torch.equal(*sampled)


def test_forbidden_tokens_are_never_sampled():
    source_ids = make_sources(1).expand(500, -1)
    sampled = sample(
        make_model(wild=0.1),
        source_ids,
        **SPECIAL_IDS,
        generator=seeded(),
        max_length=5,
        forbidden_ids=(START, 4),
    )
    assert set(sampled.unique().tolist()) == {0, END, 3, 5, 6}
    assert (sampled[:, 0] != 0).all()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -0.1}, "temperature must be at least 0 and finite, got -0.1"),
        ({"temperature": math.nan}, "temperature must be at least 0 and finite, got nan"),
        ({"top_k": 0}, "top_k must be a positive integer, got 0"),
        ({"top_p": 0}, "top_p must be above 0 and at most 1, got 0"),
        ({"top_p": 1.1}, r"top_p must be above 0 and at most 1, got 1\.1"),
    ],
)
def test_invalid_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sample(make_model(), make_sources(2), **SPECIAL_IDS, generator=seeded(), **options)


def test_logits_that_are_not_finite_are_refused():
    model = make_model()
    model.output_proj.weight.data[3] = math.nan
    with pytest.raises(ValueError, match="logits of the model must be finite"):
        sample(model, make_sources(2), **SPECIAL_IDS, generator=seeded())
