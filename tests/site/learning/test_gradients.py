"""The trainable model has the losses and gradients of PyTorch, complete and without each part."""

import math

import pytest
import torch
from torch import nn

from glassformer.data.vocabulary import END_ID, START_ID
from glassformer.modules import transformer as transformer_module
from glassformer.modules.layers import Residual
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loss import teacher_forced_loss
from glassformer.training.schedule import learning_rate_at

CLOSE = 1e-5
SIZES = {
    "source_vocabulary_size": 11,
    "target_vocabulary_size": 13,
    "d_model": 12,
    "num_heads": 3,
    "d_ff": 7,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
}
BATCH = [  # sentences of different lengths
    {"source": [3, 5, 10, 3, 4], "target": [4, 12, 7]},
    {"source": [6], "target": [3]},
    {"source": [9, 7, 3], "target": [5, 5, 8, 11, 4, 6]},
]
PARTS = ["positions", "causalMask", "crossAttention", "residuals", "layerNorm", "scaling"]
COMPUTE = """({ sizes, without, batch, seed }) => {
  const { seededRandom, TrainableTransformer, Tape, computeGradients, runToEnd } = glassformer;
  const random = seededRandom(seed);
  const model = new TrainableTransformer({ ...sizes, without }, random);
  for (const { value } of model.parameters.list) {
    value.forEach((number, i) => (value[i] = number + 0.4 * (random() - 0.5))); // no bias or norm is special
  }
  const { loss } = runToEnd(computeGradients(model, new Tape(), batch));
  const state = ({ value, grad, ...shape }) => ({ ...shape, value: [...value], grad: [...grad] });
  return { loss, parameters: model.parameters.list.map(state) };
}"""


def loss_of(model, pairs):
    """Compute the mean loss per token, one sentence at a time.

    In a padded batch, the decoder input of a shorter sentence includes its end token, which only the causal
    mask hides.
    """
    losses = []
    for pair in pairs:
        source_ids, target_ids = (
            torch.tensor(pair["source"]),
            torch.tensor([START_ID, *pair["target"], END_ID]),
        )
        losses.append(teacher_forced_loss(model, source_ids[None], target_ids[None]) * (len(target_ids) - 1))
    return sum(losses) / sum(len(pair["target"]) + 1 for pair in pairs)


def load(parameters, sizes, without):
    """Make the same model in PyTorch, in float64, without the parts."""
    config = TransformerConfig(
        **sizes, norm="post", dropout=0.0, positions="none" if "positions" in without else "sinusoidal"
    )
    model = Transformer(config).double()
    state = {
        each["name"]: torch.tensor(each["value"], dtype=torch.float64).reshape(each["rows"], each["columns"])
        for each in parameters
    }
    shapes = {name: own.shape for name, own in model.named_parameters()}
    assert shapes.keys() == state.keys()
    model.load_state_dict({name: state[name].reshape(shape) for name, shape in shapes.items()}, strict=False)
    remove(model, without)
    return model


@torch.no_grad()
def remove(model, without):
    """Remove parts from a model in PyTorch."""
    attentions = [module for name, module in model.named_modules() if name.endswith("_attention")]
    if "scaling" in without:
        factor = math.sqrt(model.config.d_model // model.config.num_heads)
        for attention in attentions:
            attention.query_proj.register_forward_hook(lambda module, given, query: query * factor)
    if "crossAttention" in without:
        for layer in model.decoder.layers:  # with scores of 0, all weights are equal
            for projection in (layer.cross_attention.query_proj, layer.cross_attention.key_proj):
                projection.weight.zero_()
                projection.bias.zero_()
    for residual in (module for module in model.modules() if isinstance(module, Residual)):
        if "layerNorm" in without:
            residual.norm = nn.Identity()
        if "residuals" in without:
            residual.forward = lambda x, sublayer, norm=residual.norm: norm(sublayer(x))


@pytest.fixture
def without_mask(monkeypatch):
    def full_mask(length, device):
        return torch.ones(length, length, dtype=torch.bool, device=device)

    return lambda: monkeypatch.setattr(transformer_module, "causal_mask", full_mask)


CASES = {
    "complete": {},
    **{f"without {part}": {"without": [part]} for part in PARTS},
    "without residuals and norms": {"without": ["residuals", "layerNorm"]},
    "one head": {"num_heads": 1},
    "deeper decoder": {"num_encoder_layers": 1, "num_decoder_layers": 3},
}


@pytest.mark.parametrize("name", CASES)
def test_loss_and_gradients_are_those_of_pytorch(learning, without_mask, name):
    case = CASES[name]
    without = case.get("without", [])
    sizes = SIZES | {key: value for key, value in case.items() if key != "without"}
    computed = learning(COMPUTE, {"sizes": sizes, "without": without, "batch": BATCH, "seed": 5})
    if "causalMask" in without:
        without_mask()
    model = load(computed["parameters"], sizes, without)
    loss = loss_of(model, BATCH)
    loss.backward()
    assert computed["loss"] == pytest.approx(loss.item(), abs=CLOSE)
    expected = {name: own.grad for name, own in model.named_parameters()}
    for each in computed["parameters"]:
        grad = torch.tensor(each["grad"], dtype=torch.float64)
        wanted = expected.get(each["name"])  # a removed norm has none
        wanted = torch.zeros_like(grad) if wanted is None else wanted.flatten()
        torch.testing.assert_close(
            grad, wanted, rtol=CLOSE, atol=CLOSE * max(1e-3, wanted.abs().max().item())
        )


def test_each_removed_part_changes_the_loss(learning):
    losses = [
        learning(COMPUTE, {"sizes": SIZES, "without": without, "batch": BATCH, "seed": 5})["loss"]
        for without in ([], *([part] for part in PARTS))
    ]
    assert len({round(loss, 6) for loss in losses}) == len(losses)


def test_a_sentence_has_the_same_gradients_alone_and_in_a_batch(learning):
    """The gradient of a mean over tokens is the mean of the sentences' gradients, weighted by tokens."""
    given = {"sizes": SIZES, "without": [], "seed": 5}
    together = learning(COMPUTE, {**given, "batch": BATCH})
    alone = [learning(COMPUTE, {**given, "batch": [pair]}) for pair in BATCH]
    tokens = [len(pair["target"]) + 1 for pair in BATCH]
    for number, whole in enumerate(together["parameters"]):
        parts = [
            torch.tensor(each["parameters"][number]["grad"]) * n
            for each, n in zip(alone, tokens, strict=True)
        ]
        torch.testing.assert_close(
            torch.tensor(whole["grad"]), sum(parts) / sum(tokens), rtol=1e-4, atol=1e-7
        )


RUN = """({ steps, options }) => {
  const run = new glassformer.TrainingRun(options);
  const list = run.model.parameters.list;
  const state = () => list.map(({ value, grad, ...shape }) => ({ ...shape, value: [...value] }));
  const [first, batches, losses] = [state(), [], []];
  for (let step = 0; step < steps; step++) {
    batches.push(run.sampleBatch());
    losses.push(glassformer.runToEnd(run.takeStep(batches.at(-1))).loss);
  }
  const { without, ...sizes } = run.model.config;
  return { sizes, first, last: state(), batches, losses };
}"""


@pytest.mark.parametrize(("without", "warmup_steps"), [([], 100), (["warmUp"], 0)])
def test_training_follows_pytorch_with_the_same_weights_and_batches(learning, without, warmup_steps):
    options = {"seed": 7, "numLayers": 1, "width": 16, "without": without}
    run = learning(RUN, {"steps": 20, "options": options})
    model = load(run["first"], run["sizes"], [])
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    schedule = {"peak": 0.01, "warmup_steps": warmup_steps, "total_steps": 500, "schedule": "cosine"}
    for step, (batch, found) in enumerate(zip(run["batches"], run["losses"], strict=True), start=1):
        loss = loss_of(model, batch)
        assert found == pytest.approx(loss.item(), rel=1e-4), step
        optimizer.param_groups[0]["lr"] = learning_rate_at(step, **schedule)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert run["losses"][-1] < run["losses"][0] - 0.2
    for each in run["last"]:
        if not each["name"].endswith("key_proj.bias"):  # which the softmax cancels: its gradient is rounding
            wanted = model.get_parameter(each["name"]).detach().flatten()
            torch.testing.assert_close(
                torch.tensor(each["value"], dtype=torch.float64), wanted, rtol=1e-3, atol=1e-4
            )


def test_learning_rates_are_those_of_the_package(learning):
    schedule = {"peak": 0.01, "warmupSteps": 100, "totalSteps": 500}
    steps = [1, 50, 99, 100, 101, 300, 500]
    found = learning(
        "([steps, schedule]) => steps.map((s) => glassformer.learningRateAt(s, schedule))", [steps, schedule]
    )
    options = {"peak": 0.01, "warmup_steps": 100, "total_steps": 500, "schedule": "cosine"}
    assert found == pytest.approx([learning_rate_at(step, **options) for step in steps])


def test_an_unknown_part_or_size_is_an_error(learning):
    refuse = """(config) => {
      try {
        new glassformer.TrainableTransformer(config, Math.random);
      } catch (error) {
        return error.message;
      }
    }"""
    assert "but not mask" in learning(refuse, SIZES | {"without": ["mask"]})
    assert "d_model (12) must be a multiple of num_heads (5)" in learning(refuse, SIZES | {"num_heads": 5})
