import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from glassformer.interop import EncoderDecoder, from_torch, to_torch
from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.layers import DecoderLayer, EncoderLayer
from glassformer.modules.masks import causal_mask
from glassformer.modules.positions import RotaryPositions
from glassformer.modules.transformer import Decoder, Encoder, Transformer, TransformerConfig

BATCH, TARGET, SOURCE, HEADS, D_HEAD, D_FF, LAYERS = 2, 3, 5, 7, 11, 13, 3
D_MODEL = HEADS * D_HEAD
SIZES = (D_MODEL, HEADS, D_FF)

PAIRS = {
    "attention": (nn.MultiheadAttention, MultiHeadAttention),
    "encoder_layer": (nn.TransformerEncoderLayer, EncoderLayer),
    "decoder_layer": (nn.TransformerDecoderLayer, DecoderLayer),
    "encoder": (nn.TransformerEncoder, Encoder),
    "decoder": (nn.TransformerDecoder, Decoder),
    "transformer": (nn.Transformer, EncoderDecoder),
}
# nn.Transformer warns that it will not use nested tensors, which we do not want either.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")
every_kind = pytest.mark.parametrize("kind", PAIRS)
either_norm = pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])


def make_theirs(
    kind, *, norm_first=False, dropout=0.0, dtype=torch.float64, num_heads=HEADS, d_model=D_MODEL
):
    """Make a torch.nn module with random weights, including biases and norms."""
    factory = {"dropout": dropout, "batch_first": True, "dtype": dtype}
    layer = {"dim_feedforward": D_FF, "norm_first": norm_first, **factory}
    match kind:
        case "attention":
            module = nn.MultiheadAttention(d_model, num_heads, **factory)
        case "encoder_layer":
            module = nn.TransformerEncoderLayer(d_model, num_heads, **layer)
        case "decoder_layer":
            module = nn.TransformerDecoderLayer(d_model, num_heads, **layer)
        case "encoder":
            one = nn.TransformerEncoderLayer(d_model, num_heads, **layer)
            module = nn.TransformerEncoder(one, LAYERS, enable_nested_tensor=False)
        case "decoder":
            one = nn.TransformerDecoderLayer(d_model, num_heads, **layer)
            module = nn.TransformerDecoder(one, LAYERS, nn.LayerNorm(d_model, dtype=dtype))
        case "transformer":
            depths = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS - 1}
            module = nn.Transformer(d_model, num_heads, **depths, **layer)
    randomise(module)
    return module


def make_ours(kind, *, norm="post"):
    config = TransformerConfig(
        source_vocabulary_size=17,
        target_vocabulary_size=19,
        d_model=D_MODEL,
        num_heads=HEADS,
        d_ff=D_FF,
        num_encoder_layers=LAYERS,
        num_decoder_layers=LAYERS - 1,
        norm=norm,
    )
    model = Transformer(config)
    match kind:
        case "attention":
            module = MultiHeadAttention(D_MODEL, HEADS)
        case "encoder_layer":
            module = EncoderLayer(*SIZES, norm=norm)
        case "decoder_layer":
            module = DecoderLayer(*SIZES, norm=norm)
        case "encoder":
            module = model.encoder
        case "decoder":
            module = model.decoder
        case "transformer":
            module = EncoderDecoder(model.encoder, model.decoder)
    randomise(module)
    return module.double().eval()


def randomise(module):
    generator = torch.Generator().manual_seed(0)
    for parameter in module.parameters():
        parameter.data.normal_(std=0.3, generator=generator)


def vectors(length, seed, d_model=D_MODEL):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(BATCH, length, d_model, dtype=torch.float64, generator=generator).requires_grad_()


def run_theirs(kind, module, source, target, source_mask, target_mask):
    """Run a torch.nn module, whose masks are negated, with one mask per sentence and head."""
    forbid_source = ~source_mask.expand(BATCH, SOURCE, SOURCE).repeat_interleave(module_heads(module), 0)
    forbid_memory = ~source_mask.expand(BATCH, TARGET, SOURCE).repeat_interleave(module_heads(module), 0)
    match kind:
        case "attention":
            return module(target, source, source, attn_mask=forbid_memory, average_attn_weights=False)[0]
        case "encoder_layer":
            return module(source, src_mask=forbid_source)
        case "encoder":
            return module(source, mask=forbid_source)
        case "decoder_layer" | "decoder":
            return module(target, source, tgt_mask=~target_mask, memory_mask=forbid_memory)
        case "transformer":
            masks = {"src_mask": forbid_source, "tgt_mask": ~target_mask, "memory_mask": forbid_memory}
            return module(source, target, **masks)


def run_ours(kind, module, source, target, source_mask, target_mask):
    source_mask = source_mask[:, None]
    match kind:
        case "attention":
            return module(target, source, source, source_mask)[0]
        case "encoder_layer" | "encoder":
            return module(source, source_mask)
        case "decoder_layer" | "decoder":
            return module(target, source, target_mask, source_mask)
        case "transformer":
            return module(source, target, source_mask, target_mask, source_mask)


def module_heads(module):
    return next(part.num_heads for part in module.modules() if isinstance(part, nn.MultiheadAttention))


def masks():
    source_mask = torch.ones(BATCH, 1, SOURCE, dtype=torch.bool)
    source_mask[0, :, 3:] = False
    return source_mask, causal_mask(TARGET)


def assert_same_behaviour(kind, theirs, ours):
    """Compare outputs, gradients of the inputs and gradients of all weights."""
    answers = {}
    for name, run, module in (("theirs", run_theirs, theirs), ("ours", run_ours, ours)):
        source, target = vectors(SOURCE, 1), vectors(TARGET, 2)
        module.zero_grad()
        output = run(kind, module, source, target, *masks())
        output.square().sum().backward()
        answers[name] = (output, *(x.grad for x in (source, target) if x.grad is not None))
    torch.testing.assert_close(answers["ours"], answers["theirs"])
    gradients = copy.deepcopy(theirs)
    for holder, parameter in zip(gradients.parameters(), theirs.parameters(), strict=True):
        holder.data = parameter.grad
    expected = from_torch(gradients).state_dict()
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(
            parameter.grad, expected[name], msg=lambda text, name=name: f"{name}: {text}"
        )
        assert parameter.grad.abs().max() > 0 or name.endswith("key_proj.bias")


@every_kind
@either_norm
def test_from_torch_gives_the_same_outputs_and_gradients(kind, norm_first):
    theirs = make_theirs(kind, norm_first=norm_first)
    ours = from_torch(theirs)
    assert isinstance(ours, PAIRS[kind][1])
    assert_same_behaviour(kind, theirs, ours)


@every_kind
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_to_torch_gives_the_same_outputs_and_gradients(kind, norm):
    ours = make_ours(kind, norm=norm)
    theirs = to_torch(ours)
    assert isinstance(theirs, PAIRS[kind][0])
    assert_same_behaviour(kind, theirs, ours)


@settings(max_examples=20, deadline=None)
@given(num_heads=st.integers(1, 5), d_head=st.integers(1, 7), seed=st.integers(0, 999))
def test_attention_of_any_size_is_converted(num_heads, d_head, seed):
    d_model = num_heads * d_head
    theirs = make_theirs("attention", num_heads=num_heads, d_model=d_model)
    source, target = vectors(SOURCE, seed, d_model), vectors(TARGET, seed + 1, d_model)
    expected, expected_weights = theirs(target, source, source, average_attn_weights=False)
    output, weights = from_torch(theirs)(target, source, source)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)


@every_kind
@either_norm
def test_converting_there_and_back_changes_no_weight(kind, norm_first):
    theirs = make_theirs(kind, norm_first=norm_first)
    again = to_torch(from_torch(theirs))
    assert repr(again) == repr(theirs)
    torch.testing.assert_close(again.state_dict(), theirs.state_dict(), rtol=0, atol=0)


@every_kind
@pytest.mark.parametrize("convert", [from_torch, to_torch])
def test_weights_are_copied_and_not_shared(kind, convert):
    given = make_theirs(kind) if convert is from_torch else make_ours(kind)
    before = copy.deepcopy(given.state_dict())
    converted = convert(given)
    for parameter in converted.parameters():
        parameter.data.zero_()
    torch.testing.assert_close(given.state_dict(), before, rtol=0, atol=0)


@every_kind
@pytest.mark.parametrize("training", [False, True])
def test_training_mode_dropout_and_dtype_are_kept_in_both_directions(kind, training):
    theirs = make_theirs(kind, dropout=0.3, dtype=torch.float32).to(torch.bfloat16).train(training)
    ours = from_torch(theirs)
    for module in (ours, to_torch(ours)):
        assert {part.training for part in module.modules()} == {training}
        assert {parameter.dtype for parameter in module.parameters()} == {torch.bfloat16}
        dropouts = [
            part.dropout for part in module.modules() if isinstance(getattr(part, "dropout", None), float)
        ]
        dropouts += [part.p for part in module.modules() if isinstance(part, nn.Dropout)]
        assert set(dropouts) == {0.3}


def test_each_layer_keeps_its_training_mode():
    theirs = make_theirs("transformer").train()
    theirs.decoder.layers[1].eval()
    ours = from_torch(theirs)
    for module in (ours, to_torch(ours)):
        assert [layer.training for layer in module.encoder.layers] == [True, True, True]
        assert [layer.training for layer in module.decoder.layers] == [True, False]


def test_each_dropout_keeps_its_probability():
    theirs = make_theirs("decoder_layer")
    places = ["dropout1", "dropout2", "dropout", "dropout3"]
    for number, place in enumerate(places, start=1):
        getattr(theirs, place).p = number / 10
    theirs.self_attn.dropout, theirs.multihead_attn.dropout = 0.5, 0.6
    ours = from_torch(theirs)
    assert (ours.self_attention.heads.dropout, ours.cross_attention.heads.dropout) == (0.5, 0.6)
    assert [
        ours.self_attention_residual.dropout.p,
        ours.cross_attention_residual.dropout.p,
        ours.feed_forward.dropout.p,
        ours.feed_forward_residual.dropout.p,
    ] == [0.1, 0.2, 0.3, 0.4]


@every_kind
def test_the_device_is_kept(kind, device):
    theirs = make_theirs(kind, dtype=torch.float32).to(device)
    ours = from_torch(theirs)
    for module in (ours, to_torch(ours)):
        assert {parameter.device.type for parameter in module.parameters()} == {device.type}


@every_kind
def test_frozen_weights_stay_frozen_and_others_trainable(kind):
    theirs = make_theirs(kind)
    for name, parameter in theirs.named_parameters():
        parameter.requires_grad_("out_proj" in name)
    ours = from_torch(theirs)
    assert {name for name, weight in ours.named_parameters() if weight.requires_grad} == {
        name for name, _ in ours.named_parameters() if "output_proj" in name
    }
    assert [weight.requires_grad for weight in to_torch(ours).parameters()] == [
        weight.requires_grad for weight in theirs.parameters()
    ]


@every_kind
@pytest.mark.parametrize("convert", [from_torch, to_torch])
def test_converting_leaves_the_random_state_alone(kind, convert):
    given = make_theirs(kind) if convert is from_torch else make_ours(kind)
    before = torch.get_rng_state()
    convert(given)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_epsilon_of_every_norm_is_kept():
    layer = nn.TransformerEncoderLayer(*SIZES, layer_norm_eps=0.1, batch_first=True)
    ours = from_torch(layer)
    assert ours.self_attention_residual.norm.eps == ours.feed_forward_residual.norm.eps == 0.1


@pytest.mark.parametrize("bias", [False, True])
def test_attention_keeps_its_biases_or_their_absence(bias):
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True, dtype=torch.float64)
    ours = from_torch(theirs)
    assert len(list(ours.parameters())) == (8 if bias else 4)
    assert_same_behaviour("attention", theirs, ours)
    assert_same_behaviour("attention", to_torch(ours), ours)


def test_a_stack_without_a_final_norm_gets_none():
    theirs = make_theirs("encoder")
    assert theirs.norm is None
    assert isinstance(from_torch(theirs).final_norm, nn.Identity)
    assert to_torch(from_torch(theirs)).norm is None


def test_the_stacks_of_a_whole_transformer_are_converted():
    config = TransformerConfig.tiny(17, d_model=D_MODEL, num_heads=HEADS, num_encoder_layers=2, norm="pre")
    model = Transformer(config).eval()
    theirs = to_torch(EncoderDecoder(model.encoder, model.decoder))
    source_ids, target_ids = torch.randint(1, 17, (BATCH, SOURCE)), torch.randint(1, 17, (BATCH, TARGET))
    x = theirs(
        model.source_embedding(source_ids), model.target_embedding(target_ids), tgt_mask=~causal_mask(TARGET)
    )
    torch.testing.assert_close(model.output_proj(x), model(source_ids, target_ids), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_first": False}, r"batch_first must be True, got False"),
        ({"kdim": 5, "vdim": 3}, r"kdim \(5\) and vdim \(3\) must be embed_dim \(77\)"),
        ({"vdim": 3}, r"kdim \(77\) and vdim \(3\) must be embed_dim \(77\)"),
        ({"add_bias_kv": True}, r"add_bias_kv must be False, got True"),
        ({"add_zero_attn": True}, r"add_zero_attn must be False, got True"),
        ({"dropout": 1.0}, r"dropout must be at least 0 and below 1, got 1"),
    ],
)
def test_an_attention_option_without_a_counterpart_is_rejected_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        from_torch(nn.MultiheadAttention(D_MODEL, HEADS, **{"batch_first": True, **options}))


@pytest.mark.parametrize("make", [nn.TransformerEncoderLayer, nn.TransformerDecoderLayer])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_first": False}, r"batch_first must be True, got False"),
        ({"activation": "gelu"}, r"activation must be relu, got gelu"),
        ({"activation": nn.SiLU()}, r"activation must be relu, got SiLU"),
        ({"bias": False}, r"bias must be True, got False"),
    ],
)
def test_a_layer_option_without_a_counterpart_is_rejected_by_name(make, options, message):
    with pytest.raises(ValueError, match=message):
        from_torch(make(*SIZES, **{"batch_first": True, **options}))


def test_relu_as_a_module_is_relu():
    layer = make_theirs("encoder_layer")
    layer.activation = nn.ReLU()
    assert_same_behaviour("encoder_layer", layer, from_torch(layer))


def test_an_unsupported_final_norm_is_rejected():
    stack = make_theirs("encoder")
    stack.norm = nn.RMSNorm(D_MODEL)
    with pytest.raises(ValueError, match="norm must be a LayerNorm or None, got RMSNorm"):
        from_torch(stack)


def test_an_attention_with_relative_positions_is_rejected():
    with pytest.raises(ValueError, match="positions must be None, got RotaryPositions"):
        to_torch(MultiHeadAttention(6, 3, positions=RotaryPositions()))


@pytest.mark.parametrize("convert", [from_torch, to_torch])
def test_a_module_without_a_counterpart_is_rejected_with_those_that_have_one(convert):
    kinds = [pair[0 if convert is from_torch else 1].__name__ for pair in PAIRS.values()]
    with pytest.raises(ValueError, match=r"module must be one of .*, got Linear") as caught:
        convert(nn.Linear(3, 5))
    assert all(kind in str(caught.value) for kind in kinds)
