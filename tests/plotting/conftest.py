import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from glassformer.plotting.colors import oklab


@pytest.fixture(autouse=True)
def clean_matplotlib():
    """Draw every figure without a screen, and check that no setting has changed."""
    plt.switch_backend("agg")
    before = dict(mpl.rcParams)
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# How linear sRGB looks to a dichromat (Machado, Oliveira & Fernandes, 2009, severity 1).
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


@pytest.fixture
def seen_by():
    """Return a colour in Oklab as the named kind of vision sees it."""

    def see(eyes, color):
        channels = np.array(to_rgb(color))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        seen = (EYES[eyes] @ linear).clip(0, 1)
        return oklab(tuple(np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)))

    return see
