"""Recording and patching activations, and the logit lens."""

import pytest
import torch

from glassformer.inspection import find_sites, logit_lens, patch_activations, record_activations
from glassformer.modules import Transformer, TransformerConfig

from .conftest import BATCH, D_HEAD, D_MODEL, HEADS, SOURCE, TARGET, WORDS, count_hooks

HEADS_SITE = "decoder.layers.1.cross_attention.heads"


@pytest.fixture
def other_ids(ids):
    source_ids = ids[0].clone()
    source_ids[:, 1:3] = (source_ids[:, 1:3] % (WORDS - 1)) + 1
    return source_ids, ids[1]


def record(model, ids, *sites):
    with torch.no_grad(), record_activations(model, sites) as activations:
        logits = model(*ids)
    return logits, activations


def run_patched(model, ids, site, activation, **where):
    with torch.no_grad(), patch_activations(model, site, activation, **where):
        return model(*ids)


def test_sites_cover_embeddings_residual_streams_attentions_and_heads(model):
    sites = {
        "source_embedding",
        "encoder",
        "encoder.layers.0",
        "decoder.layers.1.cross_attention",
        HEADS_SITE,
    }
    assert sites <= set(find_sites(model))


def test_recorded_activations_are_the_outputs_of_their_modules(model, ids):
    _, activations = record(model, ids, "encoder", "decoder.layers.0", HEADS_SITE)
    torch.testing.assert_close(activations["encoder"], model.encode(ids[0])[0].detach())
    assert activations["decoder.layers.0"].shape == (BATCH, TARGET, D_MODEL)
    assert activations[HEADS_SITE].shape == (BATCH, HEADS, TARGET, D_HEAD)


@pytest.mark.parametrize("site", ["source_embedding", "encoder.layers.0", "encoder", "decoder", HEADS_SITE])
def test_patching_a_run_with_its_own_activation_changes_nothing(model, ids, site):
    logits, activations = record(model, ids, site)
    torch.testing.assert_close(run_patched(model, ids, site, activations[site]), logits, rtol=0, atol=0)


@pytest.mark.parametrize("site", ["source_embedding", "encoder.layers.1", "encoder"])
def test_patching_the_whole_encoder_gives_the_prediction_of_the_other_run(model, ids, other_ids, site):
    other_logits, activations = record(model, other_ids, site)
    torch.testing.assert_close(run_patched(model, ids, site, activations[site]), other_logits)


def test_only_the_chosen_positions_are_replaced(model, ids, other_ids):
    _, theirs = record(model, other_ids, "encoder")
    _, own = record(model, ids, "encoder")
    with torch.no_grad(), patch_activations(model, "encoder", theirs["encoder"], positions=[2]):
        memory, _ = model.encode(ids[0])
    assert torch.equal(memory[:, 2], theirs["encoder"][:, 2])
    kept = [position for position in range(SOURCE) if position != 2]
    assert torch.equal(memory[:, kept], own["encoder"][:, kept])


def test_only_the_chosen_heads_are_replaced(model, ids, other_ids):
    _, theirs = record(model, other_ids, HEADS_SITE)
    logits, own = record(model, ids, HEADS_SITE)
    mixed = own[HEADS_SITE].clone()
    mixed[:, 1] = theirs[HEADS_SITE][:, 1]
    by_head = run_patched(model, ids, HEADS_SITE, theirs[HEADS_SITE], heads=[1])
    torch.testing.assert_close(by_head, run_patched(model, ids, HEADS_SITE, mixed))
    assert not torch.allclose(by_head, logits)


def test_a_padded_position_causes_nothing(model, ids):
    logits, activations = record(model, ids, "encoder")
    noisy = activations["encoder"] + 100
    patched = run_patched(model, ids, "encoder", noisy, positions=[5, 6])
    torch.testing.assert_close(patched[0], logits[0])
    assert not torch.allclose(patched[1], logits[1])


def test_patching_leaves_no_hook(model, ids):
    _, activations = record(model, ids, "encoder")
    run_patched(model, ids, "encoder", activations["encoder"])
    assert count_hooks(model) == 0


@pytest.mark.parametrize(
    ("site", "where", "message"),
    [
        ("encoder.layers.7", {}, r"site must be one of .*encoder.layers.1.*, got 'encoder.layers.7'"),
        ("encoder", {"positions": [0, 7]}, r"positions must be from 0 to 6, got \[7\]"),
        (HEADS_SITE, {"heads": [3]}, r"heads must be from 0 to 2, got \[3\]"),
        (
            "encoder",
            {"heads": [0]},
            r"site must be the heads of an attention layer if heads are given, got 'encoder'",
        ),
    ],
)
def test_an_unknown_site_position_or_head_is_rejected(model, ids, site, where, message):
    _, activations = record(model, ids, "encoder", HEADS_SITE)
    with pytest.raises(ValueError, match=message):
        run_patched(model, ids, site, activations.get(site, activations["encoder"]), **where)


def test_an_activation_of_another_shape_is_rejected(model, ids):
    _, activations = record(model, ids, "encoder")
    with pytest.raises(ValueError, match=r"shape of the output, \(2, 7, 12\), got \(2, 6, 12\)"):
        run_patched(model, ids, "encoder", activations["encoder"][:, :6])


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_last_stage_of_the_lens_is_the_output_of_the_model(ids, norm, device):
    config = TransformerConfig(
        source_vocabulary_size=WORDS,
        target_vocabulary_size=WORDS,
        d_model=D_MODEL,
        num_heads=HEADS,
        d_ff=11,
        num_encoder_layers=1,
        num_decoder_layers=3,
        norm=norm,
    )
    model = Transformer(config, generator=torch.Generator().manual_seed(0)).to(device).eval()
    stages = logit_lens(model, *ids)
    assert stages.shape == (4, BATCH, TARGET, WORDS)
    torch.testing.assert_close(stages[-1], model(*ids).detach())


def test_the_first_stage_of_the_lens_sees_the_target_token_alone(model, ids, other_ids):
    torch.testing.assert_close(logit_lens(model, *ids)[0], logit_lens(model, *other_ids)[0])
