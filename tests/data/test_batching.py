import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.batching import TokenBatches, shard
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID

MAX_TOKENS, SEED = 97, 5

# Batches that a resumed run must use on every machine and in every version.
PLANS = [[[3, 5], [1, 6], [4], [2], [0]], [[3, 5], [1, 6], [2], [4], [0]]]

sizes = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 23)), min_size=1, max_size=67)


def sentences(lengths):
    """Make sentences of these lengths, each of distinct ids."""
    return [list(range(3, 3 + length)) for length in lengths]


def make_batches(pairs, *, max_tokens=MAX_TOKENS, seed=SEED):
    sources, targets = zip(*pairs, strict=True)
    return TokenBatches(sentences(sources), sentences(targets), max_tokens=max_tokens, seed=seed)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(7)
    sources = rng.integers(1, 29, 1009)
    targets = np.clip(sources + rng.integers(-3, 4, 1009), 1, 29)
    return list(zip(sources.tolist(), targets.tolist(), strict=True))


def as_lists(plan):
    return [indices.tolist() for indices in plan]


@given(sizes, st.integers(0, 3))
def test_every_pair_is_in_exactly_one_batch_of_every_epoch(pairs, number):
    plan = make_batches(pairs).epoch(number)
    assert sorted(np.concatenate(plan).tolist()) == list(range(len(pairs)))


@given(sizes)
def test_no_batch_exceeds_max_tokens_on_either_side(pairs):
    batches = make_batches(pairs)
    for indices in batches.epoch(0):
        for ids in batches.collate(indices):
            assert 0 < ids.numel() <= MAX_TOKENS


def test_a_single_sentence_may_have_max_tokens():
    batches = make_batches([(MAX_TOKENS - 1, MAX_TOKENS - 2)] * 2)
    assert sorted(map(len, batches.epoch(0))) == [1, 1]


def test_equal_lengths_fill_batches_to_max_tokens():
    batches = make_batches([(5, 9)] * 35)  # 11 ids per target with special tokens, so 8 rows fit
    assert sorted(map(len, batches.epoch(0))) == [3, 8, 8, 8, 8]


def test_sentences_of_similar_length_share_a_batch(pairs):
    batches = make_batches(pairs, max_tokens=997)
    padding = lambda plan: np.mean(  # noqa: E731
        [(ids == PAD_ID).float().mean().item() for indices in plan for ids in batches.collate(indices)]
    )
    plan = batches.epoch(0)
    at_random = np.array_split(np.random.default_rng(3).permutation(len(pairs)), len(plan))
    assert padding(plan) < padding(at_random) / 4


def test_batches_are_not_sorted_by_length(pairs):
    batches = make_batches(pairs)
    widths = [batches.collate(indices).target_ids.shape[1] for indices in batches.epoch(0)]
    correlation = np.corrcoef(widths, range(len(widths)))[0, 1]
    assert abs(correlation) < 0.2


def test_an_epoch_depends_only_on_the_seed_and_its_number(pairs):
    first = make_batches(pairs)
    in_order = [as_lists(first.epoch(number)) for number in range(3)]
    np.random.seed(11)  # noqa: NPY002
    torch.manual_seed(11)
    assert as_lists(make_batches(pairs).epoch(2)) == in_order[2]
    assert as_lists(make_batches(pairs, seed=SEED + 1).epoch(2)) != in_order[2]
    assert in_order[0] != in_order[1] != in_order[2]


def test_a_pair_shares_batches_with_different_pairs_in_every_epoch(pairs):
    batches = make_batches(pairs)
    company = lambda plan: {frozenset(indices.tolist()) for indices in plan}  # noqa: E731
    assert len(company(batches.epoch(0)) & company(batches.epoch(1))) < len(batches.epoch(0)) / 2


def test_the_batches_of_a_seed_are_fixed():
    batches = make_batches([(4, 4), (2, 3), (4, 5), (2, 2), (5, 5), (1, 3), (3, 3)], max_tokens=13)
    assert as_lists(batches.epoch(0)) == PLANS[0]
    assert as_lists(batches.epoch(1)) == PLANS[1]


def test_collating_adds_special_tokens_and_padding(pairs):
    batches = make_batches(pairs)
    indices = np.array([41, 2, 499])
    source_ids, target_ids = batches.collate(indices)
    for index, source, target in zip(indices, source_ids.tolist(), target_ids.tolist(), strict=True):
        wanted_source, wanted_target = map(sentences, zip(pairs[index], strict=True))
        assert source == [*wanted_source[0], END_ID] + [PAD_ID] * (len(source) - pairs[index][0] - 1)
        assert target == [START_ID, *wanted_target[0], END_ID] + [PAD_ID] * (
            len(target) - pairs[index][1] - 2
        )
    assert source_ids.dtype == target_ids.dtype == torch.int64
    assert (source_ids != PAD_ID).any(dim=0).all()
    assert (target_ids != PAD_ID).any(dim=0).all()


def test_the_start_is_not_a_label(pairs):
    batches = make_batches(pairs)
    for indices in batches.epoch(0):
        assert batches.num_labels(indices) == (batches.collate(indices).target_ids[:, 1:] != PAD_ID).sum()


@pytest.mark.parametrize("world_size", [1, 2, 3, 11])
def test_each_row_goes_to_one_process_and_shards_differ_by_at_most_one(world_size):
    indices = np.array([31, 7, 2, 19, 5, 13, 3])
    shards = [shard(indices, rank, world_size) for rank in range(world_size)]
    assert sorted(np.concatenate(shards).tolist()) == sorted(indices.tolist())
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize(("rank", "world_size"), [(-1, 2), (2, 2), (0, 0)])
def test_a_rank_outside_the_world_size_is_rejected(rank, world_size):
    with pytest.raises(ValueError, match=r"rank must be at least 0 and below world_size|world_size must be"):
        shard(np.arange(5), rank, world_size)


def test_a_sentence_longer_than_max_tokens_is_named():
    long = sentences([2, 13, 40])  # 13 fit, but not with special tokens
    short = sentences([2, 3, 5])
    with pytest.raises(
        ValueError, match=r"sources .* \(13\) .* 2 are longer; the first .* sources\[1\] with 14"
    ):
        TokenBatches(long, short, max_tokens=13, seed=SEED)
    with pytest.raises(
        ValueError, match=r"targets .* \(13\) .* 2 are longer; the first .* targets\[1\] with 15"
    ):
        TokenBatches(short, long, max_tokens=13, seed=SEED)


@pytest.mark.parametrize("special", [PAD_ID, START_ID, END_ID, -7])
def test_a_special_token_inside_a_sentence_is_named(special):
    clean, wrong = [[5], [6, 7]], [[5], [6, special]]
    for name, sides in {"sources": (wrong, clean), "targets": (clean, wrong)}.items():
        message = rf"{name} must not contain special tokens .* {name}\[1\] = \[6, {special}\]"
        with pytest.raises(ValueError, match=message):
            TokenBatches(*sides, max_tokens=MAX_TOKENS, seed=SEED)


@pytest.mark.parametrize(("num_sources", "num_targets"), [(0, 0), (2, 3), (3, 0)])
def test_different_numbers_of_sources_and_targets_are_named(num_sources, num_targets):
    with pytest.raises(
        ValueError, match=rf"sources \({num_sources}\) and targets \({num_targets}\) must have"
    ):
        TokenBatches([[5]] * num_sources, [[5]] * num_targets, max_tokens=MAX_TOKENS, seed=SEED)


@pytest.mark.parametrize("indices", [np.array([], int), np.array([0, 3]), np.array([-1]), np.array([0.0])])
def test_missing_rows_are_rejected(as_a_user, indices):
    with pytest.raises(ValueError, match="indices must"):
        make_batches([(2, 3)] * 3).collate(indices)


def test_max_tokens_seed_and_epoch_are_whole_numbers():
    with pytest.raises(ValueError, match="max_tokens must be a positive integer, got 0"):
        make_batches([(2, 3)], max_tokens=0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        make_batches([(2, 3)], seed=-1)
    with pytest.raises(ValueError, match="number must be at least 0, got -1"):
        make_batches([(2, 3)]).epoch(-1)
