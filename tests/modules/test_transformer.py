import pytest
import torch
from torch import nn
from torch.testing import assert_close

from glassformer.modules.attention import AttentionHeads
from glassformer.modules.transformer import Transformer, TransformerConfig

BATCH, SOURCE, TARGET, HEADS, D_FF, SOURCE_SIZE, TARGET_SIZE, PAD = 2, 5, 7, 3, 13, 17, 19, 0
D_MODEL = HEADS * 2
POSITIONS = ["sinusoidal", "learned", "rotary", "alibi", "none"]
either_norm = pytest.mark.parametrize("norm", ["post", "pre"])
every_position = pytest.mark.parametrize("positions", POSITIONS)


def make_config(**overrides):
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": D_FF, "num_encoder_layers": 2}
    return TransformerConfig.tiny(SOURCE_SIZE, TARGET_SIZE, **(sizes | overrides))


def make_model(**overrides):
    generator = torch.Generator().manual_seed(0)
    return Transformer(make_config(**overrides), generator=generator).eval()


@pytest.fixture
def ids(generator):
    return (
        torch.randint(1, SOURCE_SIZE, (BATCH, SOURCE), generator=generator),
        torch.randint(1, TARGET_SIZE, (BATCH, TARGET), generator=generator),
    )


def count_parameters(config):
    """Add up Figure 1 by hand: each map has a matrix and a bias, each norm a scale and a shift."""
    d, d_ff = config.d_model, config.d_ff
    attention, feed_forward, norm = 4 * (d * d + d), d * d_ff + d_ff + d_ff * d + d, 2 * d
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    final_norms = 2 * norm if config.norm == "pre" else 0
    source, target = config.source_vocabulary_size * d, config.target_vocabulary_size * d
    matrices = {"none": source + 2 * target, "target": source + target, "all": target}
    positions = 2 * config.max_length * d if config.positions == "learned" else 0
    layers = config.num_encoder_layers * encoder_layer + config.num_decoder_layers * decoder_layer
    return layers + final_norms + matrices[config.tie_embeddings] + positions


def size_of(config):
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


@either_norm
@every_position
@pytest.mark.parametrize("tie_embeddings", ["none", "target", "all"])
def test_the_size_is_that_of_figure_1(norm, positions, tie_embeddings):
    target_size = None if tie_embeddings == "all" else TARGET_SIZE
    config = TransformerConfig.tiny(
        SOURCE_SIZE, target_size, norm=norm, positions=positions, tie_embeddings=tie_embeddings, max_length=23
    )
    assert size_of(config) == count_parameters(config)


def test_base_and_big_have_the_papers_sizes_to_within_four_per_cent():
    # Table 3 gives 65 and 213 million, with about 37,000 shared tokens (section 5.1).
    base = TransformerConfig.base(37_000)
    big = TransformerConfig.base(37_000, d_model=1024, num_heads=16, d_ff=4096)
    assert size_of(base) == count_parameters(base) == pytest.approx(65e6, rel=0.04)
    assert size_of(big) == count_parameters(big) == pytest.approx(213e6, rel=0.02)


def test_tiny_has_the_size_that_wu_et_al_state():
    assert size_of(TransformerConfig.tiny(9_712)) == pytest.approx(2.57e6, rel=0.01)


@either_norm
@every_position
def test_the_model_runs_on_its_device_and_every_parameter_gets_a_gradient(norm, positions, device, ids):
    model = make_model(norm=norm, positions=positions).to(device)
    logits = model(*(one.to(device) for one in ids))
    logits.square().sum().backward()
    assert logits.shape == (BATCH, TARGET, TARGET_SIZE)
    assert logits.device.type == device.type
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        # A key's bias moves all scores of a query alike, which the softmax does not see.
        if not name.endswith("key_proj.bias"):
            assert parameter.grad.abs().max() > 0, name


@either_norm
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_near_full_precision(norm, dtype, device, ids):
    model = make_model(norm=norm).to(device)
    ids = [one.to(device) for one in ids]
    full = model(*ids).detach()
    half = model.to(dtype)(*ids)
    assert half.dtype == dtype
    assert_close(half.float(), full, atol=0.1, rtol=0)


@either_norm
@every_position
def test_later_tokens_cannot_matter(norm, positions, ids):
    model = make_model(norm=norm, positions=positions)
    source_ids, target_ids = ids
    before = model(source_ids, target_ids)
    target_ids[:, 4:] = target_ids[:, 4:] % (TARGET_SIZE - 1) + 1
    after = model(source_ids, target_ids)
    assert_close(after[:, :4], before[:, :4])
    assert (after[:, 4:] - before[:, 4:]).abs().amax(-1).min() > 1e-4


@either_norm
@every_position
def test_padding_cannot_matter(norm, positions, ids):
    model = make_model(norm=norm, positions=positions)
    longer = [nn.functional.pad(one, (0, 4), value=PAD) for one in ids]
    assert_close(model(*longer)[:, :TARGET], model(*ids))


def test_a_source_of_padding_alone_gives_finite_logits_and_gradients(ids):
    model = make_model()
    source_ids, target_ids = ids
    source_ids[1] = PAD
    logits = model(source_ids, target_ids)
    logits.sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@every_position
def test_only_positions_tell_the_encoder_the_order(positions, ids):
    model = make_model(positions=positions)
    memory, _ = model.encode(ids[0])
    turned, _ = model.encode(ids[0].flip(1))
    difference = (memory - turned.flip(1)).abs().max().item()
    if positions in ("none", "alibi"):  # a distance is the same from both ends
        assert difference < 1e-5
    else:
        assert difference > 1e-3


def test_encode_and_decode_compose_to_forward(ids):
    model = make_model()
    memory, memory_mask = model.encode(ids[0])
    assert_close(model.decode(ids[1], memory, memory_mask), model(*ids))


def test_the_output_projection_turns_hidden_states_into_logits(ids):
    model = make_model()
    states = model.hidden_states(ids[1], *model.encode(ids[0]))
    assert states.shape == (BATCH, TARGET, D_MODEL)
    assert_close(model.output_proj(states), model(*ids), atol=0, rtol=0)


def test_embeddings_are_scaled_by_the_square_root_of_d_model(ids):
    model = make_model(positions="none")
    embedded = model.source_embedding(ids[0])
    assert_close(embedded, model.source_embedding.token.weight[ids[0]] * D_MODEL**0.5)


@pytest.mark.parametrize(("tie", "matrices"), [("none", 3), ("target", 2), ("all", 1)])
def test_tied_embeddings_are_one_matrix(tie, matrices):
    model = Transformer(TransformerConfig.tiny(SOURCE_SIZE, tie_embeddings=tie))
    tables = (model.source_embedding.token, model.target_embedding.token, model.output_proj)
    assert len({id(table.weight) for table in tables}) == matrices


def test_the_initial_parameters_depend_only_on_the_generator():
    torch.manual_seed(1)
    first = make_model(positions="learned").state_dict()
    torch.manual_seed(2)
    second = make_model(positions="learned").state_dict()
    assert_close(first, second, atol=0, rtol=0)
    other = Transformer(make_config(positions="learned"), generator=torch.Generator().manual_seed(1))
    assert (other.output_proj.weight != first["output_proj.weight"]).any()


def test_the_initial_parameters_depend_on_the_seed():
    models = []
    for _ in range(2):
        torch.manual_seed(1)
        models.append(Transformer(make_config()).state_dict())
    assert_close(*models, atol=0, rtol=0)


def test_each_dropout_of_the_configuration_reaches_its_place():
    options = {"dropout": 0.1, "attention_dropout": 0.2, "activation_dropout": 0.3}
    model = Transformer(TransformerConfig.tiny(SOURCE_SIZE, **options))
    found = {name: part.p for name, part in model.named_modules() if isinstance(part, nn.Dropout)}
    assert {p for name, p in found.items() if name.endswith("feed_forward.dropout")} == {0.3}
    assert {p for name, p in found.items() if not name.endswith("feed_forward.dropout")} == {0.1}
    assert {part.dropout for part in model.modules() if isinstance(part, AttentionHeads)} == {0.2}


def test_initial_matrices_are_xavier_uniform_and_scaled_embeddings_have_unit_variance():
    model = Transformer(TransformerConfig.tiny(211, 223))
    bound = (6 / (128 + 256)) ** 0.5
    inner = model.encoder.layers[0].feed_forward.inner
    assert 0.98 * bound < inner.weight.abs().max() <= bound
    assert (inner.bias == 0).all()
    for embedding in (model.source_embedding.token, model.target_embedding.token):
        assert (embedding.weight * 128**0.5).std().item() == pytest.approx(1, abs=0.02)


@every_position
def test_only_parameters_are_saved(positions):
    model = make_model(positions=positions)
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters(remove_duplicate=False)}


def test_attention_layers_have_their_documented_names():
    names = dict(make_model().named_modules())
    for name in (
        "encoder.layers.1.self_attention",
        "decoder.layers.3.self_attention",
        "decoder.layers.3.cross_attention",
    ):
        assert type(names[name]).__name__ == "MultiHeadAttention"


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([[1, 17]], [[1]], r"source_ids .* below the vocabulary size \(17\), got ids from 1 to 17"),
        ([[1]], [[2, -1]], "target_ids must be at least 0 .*, got ids from -1 to 2"),
        ([[1], [1]], [[2]], r"source_ids \(2\) and target_ids \(1\) must have the same number of sentences"),
        ([[]], [[2]], r"source_ids must hold whole numbers, got torch\.float32"),
        ([[1]], [[0.5]], r"target_ids must hold whole numbers, got torch\.float32"),
        ([1], [2], r"source_ids must have 2 axes \(sentence, token\), got shape \(1,\)"),
        ([[1]], [[2] * 5], "x reaches position 4, but max_length is 4"),
    ],
)
def test_invalid_ids_are_named(source, target, message):
    model = make_model(positions="learned", max_length=4)
    with pytest.raises(ValueError, match=message):
        model(torch.tensor(source), torch.tensor(target))


@pytest.mark.usefixtures("as_a_user")
def test_an_empty_sentence_is_named():
    nothing = torch.empty(1, 0, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"target_ids must not be empty, got shape \(1, 0\)"):
        make_model()(torch.tensor([[1]]), nothing)
