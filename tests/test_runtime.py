import ctypes
import random
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from glassformer import runtime
from glassformer.runtime import mix_seed, pick_device, seed_everything, speed_up_cpu


@pytest.fixture
def machine(monkeypatch):
    """Say which devices there are, and ask nobody else."""
    monkeypatch.delenv("GLASSFORMER_DEVICE", raising=False)

    def has(**counts):
        monkeypatch.setattr(runtime, "_count", lambda kind: {"cpu": 1, **counts}.get(kind, 0))

    return has


def draw():
    return random.random(), np.random.random(), torch.rand(()).item()  # noqa: NPY002


def test_a_mixed_seed_depends_on_every_number_and_on_their_order():
    seeds = [mix_seed(3, 5), mix_seed(5, 3), mix_seed(3, 6), mix_seed(4, 5)]
    assert len(set(seeds)) == len(seeds)
    assert mix_seed(3, 5) == seeds[0]


def test_a_seed_decides_all_three_sources_of_chance():
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
def test_without_a_name_the_fastest_device_is_picked(machine, counts, fastest):
    machine(**counts)
    assert pick_device() == torch.device(fastest)


def test_the_environment_decides_when_no_name_is_given(machine, monkeypatch):
    machine(cuda=2)
    monkeypatch.setenv("GLASSFORMER_DEVICE", "cpu")
    assert pick_device() == torch.device("cpu")
    assert pick_device("cuda:1") == torch.device("cuda:1")


def test_an_empty_environment_variable_is_none(machine, monkeypatch):
    machine(cuda=1)
    monkeypatch.setenv("GLASSFORMER_DEVICE", "")
    assert pick_device() == torch.device("cuda")


@pytest.mark.parametrize("name", ["gpu", "CPU", "cuda:-1", "cuda:x"])
def test_a_name_that_is_no_device_is_answered_with_those_that_are(machine, monkeypatch, name):
    machine(cuda=1)
    message = rf"device must be cuda, mps, cpu or another that PyTorch knows, got '{name}'"
    with pytest.raises(ValueError, match=message):
        pick_device(name)
    monkeypatch.setenv("GLASSFORMER_DEVICE", name)
    with pytest.raises(ValueError, match=message):
        pick_device()


@pytest.mark.parametrize("name", ["cuda:2", "cuda:99999", "mps", "meta", "xpu", "cpu:1"])
def test_a_device_that_is_not_there_is_answered_with_those_that_are(machine, name):
    machine(cuda=2)
    with pytest.raises(
        ValueError, match=rf"device '{name}' is not on this machine, which has cuda \(2\), cpu \(1\)"
    ):
        pick_device(name)


def test_the_count_of_devices_is_torchs():
    assert runtime._count("cuda") == torch.cuda.device_count()
    assert runtime._count("mps") == torch.backends.mps.is_available()
    assert runtime._count("cpu") == 1


def test_tensors_can_be_made_on_the_picked_device(device):
    assert torch.zeros(3, device=pick_device(str(device))).device.type == device.type


SPEEDS_UP = """
import torch
from glassformer.runtime import speed_up_cpu

torch.manual_seed(0)
layer, x = torch.nn.Linear(257, 131), torch.randn(263, 257)

def results():
    layer.zero_grad()
    output = layer(x)
    output.square().sum().backward()
    return [output.detach(), layer.weight.grad.clone(), layer.bias.grad.clone()]

before = results()
on = speed_up_cpu()
assert set(on) <= {"malloc", "oneDNN"}
assert speed_up_cpu() == on
for now, then in zip(results(), before):
    torch.testing.assert_close(now, then, rtol=1e-5, atol=1e-4)
"""


@pytest.fixture
def precision(monkeypatch):
    """Stand in for torch's setting, which holds for the whole process."""
    matmul = SimpleNamespace(fp32_precision="none")
    backend = SimpleNamespace(matmul=matmul, is_available=lambda: True)
    monkeypatch.setattr(torch.backends, "mkldnn", backend)
    return backend


def test_a_faster_cpu_gives_the_same_results():
    subprocess.run([sys.executable, "-c", SPEEDS_UP], check=True, timeout=120)


def test_memory_is_kept_where_the_c_library_can(monkeypatch, precision):
    asked = []
    monkeypatch.setattr(sys, "platform", "linux")
    c_library = SimpleNamespace(mallopt=lambda option, size: asked.append((option, size)) or 1)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: c_library)
    assert "malloc" in speed_up_cpu()
    assert {option for option, _ in asked} == {-1, -3}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
    c_library.mallopt = lambda option, size: 0
    assert "malloc" not in speed_up_cpu()
    del c_library.mallopt
    assert "malloc" not in speed_up_cpu()
    monkeypatch.setattr(sys, "platform", "win32")
    assert "malloc" not in speed_up_cpu()


def test_a_processor_that_would_round_keeps_its_own_products(monkeypatch, precision):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    assert speed_up_cpu() == ("oneDNN",)
    precision.matmul.fp32_precision = "ieee"
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda one, other: one.bfloat16().float())
    assert speed_up_cpu() == ()
    assert precision.matmul.fp32_precision == "ieee"


def test_what_torch_does_not_have_is_left_out(monkeypatch, precision):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    precision.is_available = lambda: False
    assert speed_up_cpu() == ()
    del precision.matmul
    assert speed_up_cpu() == ()
