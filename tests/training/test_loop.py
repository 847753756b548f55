import pytest
import torch

from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loop import draw_batches, train
from glassformer.training.loss import teacher_forced_loss

START, END, PAIRS, BATCH = 1, 2, 7, 3
SOURCE_IDS = torch.arange(3, 3 + PAIRS)[:, None].repeat(1, 2)
TARGET_IDS = torch.tensor([[START, 3 + pair, END] for pair in range(PAIRS)])


def make_model():
    config = TransformerConfig.tiny(
        3 + PAIRS, d_model=16, d_ff=16, num_encoder_layers=1, num_decoder_layers=1, norm="pre", dropout=0.0
    )
    return Transformer(config, generator=torch.Generator().manual_seed(0))


def draw(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return draw_batches(SOURCE_IDS, TARGET_IDS, batch_size=BATCH, generator=generator)


def test_no_pair_occurs_twice_in_an_epoch():
    batches = draw()
    for _ in range(5):
        drawn = torch.cat([next(batches)[0][:, 0] for _ in range(PAIRS // BATCH)])
        assert len(drawn.unique()) == len(drawn) == PAIRS // BATCH * BATCH


def test_epochs_differ_and_eventually_use_every_pair():
    batches = draw()
    rounds = [torch.cat([next(batches)[0][:, 0] for _ in range(PAIRS // BATCH)]) for _ in range(20)]
    assert len({tuple(drawn.tolist()) for drawn in rounds}) == 20
    assert len(torch.cat(rounds).unique()) == PAIRS


def test_pairs_stay_together():
    for _, (source_ids, target_ids) in zip(range(9), draw(), strict=False):
        assert source_ids.shape == (BATCH, 2)
        assert target_ids[:, 1].tolist() == source_ids[:, 0].tolist()


def test_the_same_generator_draws_the_same_batches():
    one, same, other = (
        [next(batches)[0].tolist() for _ in range(5)] for batches in (draw(), draw(), draw(1))
    )
    assert one == same != other


def test_a_model_learns_and_is_left_in_evaluation_mode(device):
    model = make_model().to(device)
    batches = ((source_ids.to(device), target_ids.to(device)) for source_ids, target_ids in draw())
    losses = train(model, batches, steps=100, learning_rate=0.02)
    assert len(losses) == 100
    assert losses[-1] < 0.1 < 1 < losses[0]
    assert not model.training


def test_dropout_is_active_during_training():
    model, modes = make_model().eval(), []

    def loss(model, *batch):
        modes.append(model.training)
        return teacher_forced_loss(model, *batch)

    train(model, draw(), steps=2, learning_rate=0.01, loss=loss)
    assert modes == [True, True]


def test_the_learning_rate_rises_and_falls(monkeypatch):
    rates = []
    step = torch.optim.Adam.step

    def watched(self, *args, **kwargs):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    train(make_model(), draw(), steps=20, learning_rate=0.01)
    peak = rates.index(max(rates))
    assert max(rates) == pytest.approx(0.01, rel=0.05)
    assert 0 < peak < 10
    assert rates[:peak] == sorted(rates[:peak])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[-1] < 1e-6


def test_the_loss_function_can_be_chosen():
    def loss(model, source_ids, target_ids):
        return sum(parameter.square().mean() for parameter in model.parameters())

    model = make_model()
    losses = train(model, draw(), steps=40, learning_rate=0.01, loss=loss)
    assert losses[-1] < 0.8 * losses[0]


def test_each_step_uses_only_the_gradient_of_its_own_batch(monkeypatch):
    met, step = [], torch.optim.Adam.step

    def watched(self, *args, **kwargs):
        met.append({one.grad.unique().item() for group in self.param_groups for one in group["params"]})
        return step(self, *args, **kwargs)

    def loss(model, source_ids, target_ids):
        return sum(parameter.sum() for parameter in model.parameters())

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    train(make_model(), draw(), steps=3, learning_rate=0.01, loss=loss)
    assert met == [{1.0}] * 3


def test_a_run_of_one_step_changes_the_weights():
    assert len(train(make_model(), draw(), steps=1, learning_rate=0.01)) == 1


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"steps": 0}, "steps must be a positive integer, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be positive, got 0.0"),
    ],
)
def test_an_invalid_number_of_steps_or_learning_rate_is_rejected(choices, message):
    with pytest.raises(ValueError, match=message):
        train(make_model(), draw(), **({"steps": 2, "learning_rate": 0.01} | choices))


def test_an_invalid_batch_size_is_rejected(as_a_user):
    generator = torch.Generator()
    with pytest.raises(ValueError, match=r"batch_size \(8\) must be at most the number of pairs \(7\)"):
        draw_batches(SOURCE_IDS, TARGET_IDS, batch_size=PAIRS + 1, generator=generator)
    with pytest.raises(ValueError, match=r"source_ids \(7\) and target_ids \(6\)"):
        draw_batches(SOURCE_IDS, TARGET_IDS[:-1], batch_size=BATCH, generator=generator)
