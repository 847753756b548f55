"""Decoding in JavaScript gives the same results as in Python."""

import numpy as np
import pytest
import torch
from engine import MARKS, NEAR, give_model, make_model, refusal, stack

from glassformer.data.vocabulary import PAD_ID, START_ID
from glassformer.decoding.beam import beam_search


def test_greedy_decoding_gives_the_same_tokens_as_python(engine, pairs):
    function = """rows =>
      rows.map((ids) => glassformer.runToEnd(glassformer.greedy(translator.model, ids)).ids)"""
    found = engine.run(function, [source for source, _ in pairs])
    assert found == [target for _, target in pairs]


SEARCHES = [
    {"n_best": 4},
    {"length_penalty": "none", "beam_size": 3, "n_best": 2},
    {"length_penalty": "average"},
    {"alpha": 1.5, "beam_size": 6},
    {"max_length": 4, "n_best": 4},
]

IN_JAVASCRIPT = {
    "n_best": "nBest",
    "length_penalty": "lengthPenalty",
    "beam_size": "beamSize",
    "max_length": "maxLength",
}


def search(engine, rows, script="translator.model", **options):
    """Run beam search in the browser."""
    function = f"""async ([rows, options]) => {{
      const model = {script};
      return rows.map((ids) => glassformer.runToEnd(glassformer.beamSearch(model, ids, options)));
    }}"""
    return engine.run(
        function, [rows, {IN_JAVASCRIPT.get(name, name): value for name, value in options.items()}]
    )


def assert_same_hypotheses(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert [one["ids"] for one in ours] == [list(one.ids) for one in theirs]
        assert [one["ended"] for one in ours] == [one.ended for one in theirs]
        for name in ("score", "log_probability"):
            scores = [one["logProbability" if name == "log_probability" else name] for one in ours]
            np.testing.assert_allclose(scores, [getattr(one, name) for one in theirs], atol=NEAR)


@pytest.mark.parametrize("options", SEARCHES, ids=str)
def test_beam_search_finds_the_same_hypotheses_as_python(engine, translator, pairs, options):
    rows = [source for source, _ in pairs[: 200 if options == {"n_best": 4} else 10]]
    wanted = beam_search(translator.model, stack(rows), **MARKS, **options)
    assert_same_hypotheses(search(engine, rows, **options), wanted)


def test_truncated_hypotheses_are_the_same_as_in_python(engine, tmp_path):
    model = make_model(positions="alibi")
    rows = [[3, 4, 5, 2], [8, 2], [30, 20, 10, 9, 2]]
    wanted = beam_search(model, stack(rows), **MARKS, beam_size=5, n_best=5)
    assert_same_hypotheses(
        search(engine, rows, give_model(engine, model, tmp_path), beam_size=5, n_best=5), wanted
    )


def test_beam_search_yields_every_step(engine):
    steps = engine.run("""() => {
      const ids = translator.tokenize("I am tired.");
      return [...glassformer.beamSearch(translator.model, ids, { beamSize: 3 })];
    }""")
    kept = [{"ids": [], "logProbability": 0}]
    for step in steps:
        assert len(step["candidates"]) == 3
        for candidate in step["candidates"]:
            parent = kept[candidate["parent"]]
            assert candidate["ids"][:-1] == parent["ids"]
            assert candidate["logProbability"] <= parent["logProbability"]
        kept = step["beams"]
        assert kept == [one for one in step["candidates"] if one["status"] == "kept"]
    assert kept == []
    assert {one["status"] for step in steps for one in step["candidates"]} == {
        "kept",
        "complete",
        "pruned",
    }


def test_greedy_decoding_yields_the_probabilities_of_all_tokens(engine, translator, pairs):
    source, target = pairs[0]
    steps = engine.run(
        """ids => Array.from(glassformer.greedy(translator.model, ids), (step) => ({
          ...step,
          logProbabilities: Array.from(step.logProbabilities, (number) => Math.exp(number)),
          best: glassformer.topk(step.logProbabilities, 3).map(({ id }) => id),
        }))""",
        source,
    )
    assert steps[-1]["ids"] == target
    with torch.no_grad():
        logits = translator.model(torch.tensor([source]), torch.tensor([[START_ID, *target[:-1]]]))[0]
    wanted = logits.softmax(-1)
    wanted[:, [PAD_ID, START_ID]] = 0
    np.testing.assert_allclose([step["logProbabilities"] for step in steps], wanted, atol=NEAR)
    assert [step["best"] for step in steps] == wanted.topk(3).indices.tolist()


def test_sampling_repeats_with_the_same_seed(engine):
    assert engine.run("""() => {
      const { seededRandom } = glassformer;
      const draw = (seed) => translator.sample("I am tired.", { random: seededRandom(seed) }).text;
      return draw(1) === draw(1) && [2, 3, 4, 5].some((seed) => draw(seed) !== draw(1));
    }""")


def test_sampled_tokens_follow_the_models_distribution(engine, tmp_path):
    model, source, draws = make_model(), [3, 4, 5, 2], 4000
    drawn = engine.run(
        f"""async ([ids, draws]) => {{
          const model = {give_model(engine, model, tmp_path)};
          const options = {{ random: glassformer.seededRandom(7), temperature: 1.5, maxLength: 1 }};
          const draw = () => glassformer.runToEnd(glassformer.sample(model, ids, options)).ids[0];
          return Array.from({{ length: draws }}, draw);
        }}""",
        [source, draws],
    )
    with torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[START_ID]]))[0, 0]
    logits[[PAD_ID, START_ID]] = -torch.inf
    probabilities = (logits / 1.5).softmax(-1).numpy()
    spread = np.sqrt(probabilities * (1 - probabilities) / draws)
    shares = np.bincount(drawn, minlength=len(probabilities)) / draws
    assert (np.abs(shares - probabilities) <= 4 * spread).all()


def test_sampling_at_temperature_zero_is_greedy_decoding(engine):
    one, other = engine.run("""() => [
      translator.sample("Where is the exit?", { temperature: 0 }),
      translator.translate("Where is the exit?", { beamSize: 1 }),
    ].map(({ text }) => text)""")
    assert one == other


def test_learned_positions_limit_source_and_target_length(engine, tmp_path):
    script = give_model(engine, make_model(positions="learned", max_length=7), tmp_path)
    source = [3, 4, 5, 2]
    (found,) = search(engine, [source], script)[0]
    assert len(found["ids"]) <= 7
    too_long = f"async () => glassformer.runToEnd(glassformer.greedy({script}, [3], {{ maxLength: 8 }}))"
    assert "at most 7" in refusal(engine, too_long)
    assert "position 7" in refusal(engine, f"async () => ({script}).encode([3, 3, 3, 3, 3, 3, 3, 2])")


@pytest.mark.parametrize(
    "options",
    [
        {"beamSize": 0},
        {"nBest": 5},
        {"lengthPenalty": "short"},
        {"alpha": -1},
        {"maxLength": 1.5},
    ],
    ids=str,
)
def test_an_invalid_option_is_named(engine, options):
    assert next(iter(options)) in refusal(engine, "options => translator.translate('No.', options)", options)
