import shutil

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from glassformer.training.checkpoints import (
    Progress,
    average_weights,
    list_checkpoints,
    load_average,
    load_checkpoint,
    save_checkpoint,
)


def trained(seed, steps=3):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5))
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(7, 2)).square().sum().backward()
        optimizer.step()
    return model, optimizer


def test_training_resumes_bit_for_bit_from_a_checkpoint(tmp_path):
    model, optimizer = trained(0)
    progress = Progress(step=3, epoch=1, batch=2, tokens=99, seconds=0.5)
    place = save_checkpoint(tmp_path, model, optimizer, progress, keep=2)
    other, other_optimizer = trained(1, steps=1)
    assert load_checkpoint(place, other, other_optimizer) == progress
    for one, memory in ((model, optimizer), (other, other_optimizer)):
        memory.zero_grad()
        one(torch.ones(7, 2)).sum().backward()
        memory.step()
    assert_close(other.state_dict(), model.state_dict(), rtol=0, atol=0)


def test_the_oldest_checkpoints_and_incomplete_ones_are_deleted(tmp_path):
    model, optimizer = trained(0)
    (tmp_path / ".part-killed").mkdir()
    for step in (1, 2, 5):
        save_checkpoint(tmp_path, model, optimizer, Progress(step=step), keep=2)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["step_00000002", "step_00000005"]


def test_at_least_one_checkpoint_is_kept(tmp_path):
    with pytest.raises(ValueError, match="keep must be a positive integer, got 0"):
        save_checkpoint(tmp_path, *trained(0), Progress(step=1), keep=0)
    assert list_checkpoints(tmp_path) == []


def test_an_incomplete_checkpoint_of_an_earlier_version_is_not_listed(tmp_path):
    (tmp_path / "step_00000007.part").mkdir()
    assert list_checkpoints(tmp_path) == []


def test_a_full_disk_leaves_earlier_checkpoints_untouched(tmp_path, monkeypatch):
    model, optimizer = trained(0)
    place = save_checkpoint(tmp_path, model, optimizer, Progress(step=1), keep=1)

    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", no_space)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(tmp_path, model, optimizer, Progress(step=2), keep=1)
    assert list_checkpoints(tmp_path) == [place]
    assert load_checkpoint(place, model, optimizer).step == 1


def damage(place):
    (place / "model.safetensors").write_bytes((place / "model.safetensors").read_bytes()[:50])


def empty(place):
    shutil.rmtree(place)
    place.mkdir()


def forget_progress(place):
    (place / "progress.json").write_text("[]")


@pytest.mark.parametrize("harm", [damage, empty, forget_progress])
def test_a_damaged_checkpoint_is_named(tmp_path, harm):
    model, optimizer = trained(0)
    place = save_checkpoint(tmp_path, model, optimizer, Progress(step=1), keep=1)
    harm(place)
    with pytest.raises(ValueError, match=r"step_00000001 does not fit this model or is damaged"):
        load_checkpoint(place, model, optimizer)


def test_a_checkpoint_of_another_model_is_rejected(tmp_path):
    place = save_checkpoint(tmp_path, *trained(0), Progress(step=1), keep=1)
    other = nn.Linear(2, 3)
    with pytest.raises(ValueError, match="does not fit this model"):
        load_checkpoint(place, other, torch.optim.Adam(other.parameters()))


def test_the_average_is_the_mean_of_the_weights(tmp_path):
    models = [trained(seed) for seed in range(3)]
    places = [
        save_checkpoint(tmp_path, model, optimizer, Progress(step=step), keep=3)
        for step, (model, optimizer) in enumerate(models, start=1)
    ]
    average = average_weights(places)
    for name, weight in average.items():
        assert_close(weight, torch.stack([model.state_dict()[name] for model, _ in models]).mean(0))


def test_an_average_needs_a_checkpoint():
    with pytest.raises(ValueError, match="at least 1 checkpoint"):
        average_weights([])


def test_checkpoints_of_different_models_have_no_average(tmp_path):
    place = save_checkpoint(tmp_path, *trained(0), Progress(step=1), keep=2)
    other = nn.Linear(2, 3)
    foreign = save_checkpoint(tmp_path, other, torch.optim.Adam(other.parameters()), Progress(step=2), keep=2)
    with pytest.raises(ValueError, match="must hold weights of one model"):
        average_weights([place, foreign])


def test_an_average_is_loaded_into_a_model_that_ties_its_weights(tmp_path):
    def tied(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5))
        model[1].weight = model[0].weight
        return model

    models = [tied(seed) for seed in range(2)]
    for step, model in enumerate(models, start=1):
        save_checkpoint(tmp_path, model, torch.optim.Adam(model.parameters()), Progress(step=step), keep=2)
    loaded = tied(2)
    load_average(loaded, list_checkpoints(tmp_path))
    mean = torch.stack([model[0].weight for model in models]).mean(0)
    assert_close(loaded[0].weight, mean)
    assert loaded[1].weight is loaded[0].weight


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5), nn.Linear(5, 7)), r"missing weights \['2\.weight'"),
        (nn.Sequential(nn.Linear(2, 3)), r"unknown weights \['1\.bias'"),
        (nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 7)), r"(?s)does not fit this model: .*torch\.Size\(\[5"),
    ],
)
def test_an_average_of_another_model_is_rejected(tmp_path, other, message):
    checkpoint = save_checkpoint(tmp_path, *trained(0), Progress(step=1), keep=1)
    with pytest.raises(ValueError, match=message):
        load_average(other, [checkpoint])
