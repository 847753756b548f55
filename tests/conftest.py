import os
from contextlib import nullcontext

import jaxtyping
import pytest
import rehearsal_device
import torch
from hypothesis import settings

os.environ.setdefault("GLASSFORMER_DEVICE", "cpu")  # tests that need another device name it
os.environ.setdefault("MPLBACKEND", "Agg")  # figures are drawn without a screen

# The same examples on every run, and no deadline: the machines that run the tests are shared.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

if rehearsal_device.IS_SUPPORTED:
    rehearsal_device.register()  # before the first backward: autograd counts the devices once

DEVICES = ["cpu", "rehearsal", "cuda", "mps"]


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device in turn; the test is skipped for those that this machine lacks."""
    present = {
        "cpu": True,
        "rehearsal": rehearsal_device.IS_SUPPORTED,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if not present[request.param]:
        pytest.skip(f"no {request.param} on this machine")
    with rehearsal_device.rehearsal() if request.param == "rehearsal" else nullcontext():
        yield torch.device(request.param)


@pytest.fixture
def as_a_user():
    """Switch the shape checker off, as it is outside the tests, so that our own errors are met."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
