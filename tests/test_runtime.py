import random

import numpy as np
import pytest
import torch

from glassformer import runtime
from glassformer.runtime import mix_seed, pick_device, seed_everything


@pytest.fixture
def machine(monkeypatch):
    """Replace the counts of devices on this machine."""
    monkeypatch.delenv("GLASSFORMER_DEVICE", raising=False)

    def has(**counts):
        monkeypatch.setattr(runtime, "_count", lambda kind: {"cpu": 1, **counts}.get(kind, 0))

    return has


def draw():
    return random.random(), np.random.random(), torch.rand(()).item()  # noqa: NPY002


def test_a_mixed_seed_depends_on_every_number_and_their_order():
    seeds = [mix_seed(3, 5), mix_seed(5, 3), mix_seed(3, 6), mix_seed(4, 5)]
    assert len(set(seeds)) == len(seeds)
    assert mix_seed(3, 5) == seeds[0]


def test_a_seed_determines_all_three_random_generators():
    draws = []
    for seed in (3, 3, 5):
        seed_everything(seed)
        draws.append(draw())
    first, again, other = draws
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(
    ("counts", "fastest"),
    [({}, "cpu"), ({"mps": 1}, "mps"), ({"cuda": 2}, "cuda"), ({"cuda": 1, "mps": 1}, "cuda")],
)
def test_the_fastest_device_is_picked_by_default(machine, counts, fastest):
    machine(**counts)
    assert pick_device() == torch.device(fastest)


def test_the_environment_variable_names_the_device_if_no_name_is_given(machine, monkeypatch):
    machine(cuda=2)
    monkeypatch.setenv("GLASSFORMER_DEVICE", "cpu")
    assert pick_device() == torch.device("cpu")
    assert pick_device("cuda:1") == torch.device("cuda:1")


def test_an_empty_environment_variable_is_ignored(machine, monkeypatch):
    machine(cuda=1)
    monkeypatch.setenv("GLASSFORMER_DEVICE", "")
    assert pick_device() == torch.device("cuda")


@pytest.mark.parametrize("name", ["gpu", "CPU", "cuda:-1", "cuda:x"])
def test_an_unknown_device_type_raises_an_error_with_the_known_ones(machine, monkeypatch, name):
    machine(cuda=1)
    message = rf"device must be cuda, mps, cpu or another that PyTorch knows, got '{name}'"
    with pytest.raises(ValueError, match=message):
        pick_device(name)
    monkeypatch.setenv("GLASSFORMER_DEVICE", name)
    with pytest.raises(ValueError, match=message):
        pick_device()


@pytest.mark.parametrize("name", ["cuda:2", "cuda:99999", "mps", "meta", "xpu", "cpu:1"])
def test_a_missing_device_raises_an_error_with_the_available_ones(machine, name):
    machine(cuda=2)
    with pytest.raises(
        ValueError,
        match=rf"device '{name}' is not available on this machine, which has cuda \(2\), cpu \(1\)",
    ):
        pick_device(name)


def test_devices_are_counted_by_pytorch():
    assert runtime._count("cuda") == torch.cuda.device_count()
    assert runtime._count("mps") == torch.backends.mps.is_available()
    assert runtime._count("cpu") == 1


def test_tensors_can_be_created_on_the_picked_device(device):
    assert torch.zeros(3, device=pick_device(str(device))).device.type == device.type
