"""A model in two files: what it is (JSON) and what it learned (safetensors)."""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from glassformer.files import atomic_update
from glassformer.modules.recurrent import (
    AdditiveAttentionTranslator,
    FixedContextTranslator,
    RecurrentConfig,
)
from glassformer.modules.transformer import Transformer, TransformerConfig

MODEL_FILE, WEIGHTS_FILE = "model.json", "model.safetensors"

AnyTranslator = Transformer | FixedContextTranslator


class Kind(NamedTuple):
    """A kind of translator, and what says how large one is."""

    model: type[Transformer] | type[FixedContextTranslator]
    config: type[TransformerConfig] | type[RecurrentConfig]


KINDS = {
    "transformer": Kind(Transformer, TransformerConfig),
    "fixed_context": Kind(FixedContextTranslator, RecurrentConfig),
    "additive_attention": Kind(AdditiveAttentionTranslator, RecurrentConfig),
}


def describe_model(model: AnyTranslator) -> dict[str, Any]:
    """Say what a model is, in words and numbers that `build_model` makes another one from.

    Raises:
        ValueError: it is of a kind that has no name, such as a subclass of one that has.
    """
    for name, kind in KINDS.items():
        if type(model) is kind.model:
            return {"kind": name, "config": dataclasses.asdict(model.config)}
    known = ", ".join(kind.model.__name__ for kind in KINDS.values())
    raise ValueError(f"model must be one of {known}, got {type(model).__name__}")


def build_model(description: dict[str, Any]) -> AnyTranslator:
    """Make a model with fresh weights from what `describe_model` says.

    Raises:
        ValueError: the kind is not known, or a setting is missing, not known, or does not fit.
    """
    kind_name, settings = description.get("kind"), description.get("config")
    if not isinstance(settings, dict):
        raise ValueError(f"config must hold the settings of the model, got {type(settings).__name__}")
    config: Any = make_config(kind_name, settings)
    return KINDS[str(kind_name)].model(config)


def make_config(kind_name: Any, settings: dict[str, Any]) -> TransformerConfig | RecurrentConfig:
    """Make the configuration of a kind of model from settings by name.

    Raises:
        ValueError: the kind is not known, or a setting is missing, not known, or does not fit.
    """
    if kind_name not in tuple(KINDS):  # which a list, too, may be looked for in
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind_name!r}")
    kind = KINDS[kind_name]
    fields = dataclasses.fields(kind.config)
    needed = {field.name for field in fields if field.default is dataclasses.MISSING}
    if unknown := sorted(settings.keys() - {field.name for field in fields}):
        raise ValueError(f"config of a {kind_name} has no settings {', '.join(unknown)}")
    if missing := sorted(needed - settings.keys()):
        raise ValueError(f"config of a {kind_name} must have the settings {', '.join(missing)}")
    try:
        return kind.config(**settings)
    except TypeError as error:  # such as a size written as a string
        raise ValueError(f"config of a {kind_name} does not fit: {error}") from error


def save_model(
    model: AnyTranslator, folder: Path | str, *, dtype: torch.dtype = torch.float32, **notes: Any
) -> None:
    """Write a model into a folder, beside what else stands there. Tied weights are stored once.

    Args:
        model: what is stored.
        folder: where `MODEL_FILE` and `WEIGHTS_FILE` are to stand; made if it is not there.
        dtype: the numbers in the file; float16 halves it.
        **notes: what else is written beside kind and config, and left alone by `load_model`.

    Raises:
        ValueError: the model is of a kind without a name, or its weights are not finite in ``dtype``.
        OSError: the files cannot be written.
    """
    description = describe_model(model) | notes
    weights = {
        name: parameter.detach().to("cpu", dtype).contiguous() for name, parameter in model.named_parameters()
    }
    _require_finite(weights)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_update(folder, last=MODEL_FILE) as stage:
        try:
            save_file(weights, stage / WEIGHTS_FILE)
        except SafetensorError as error:
            raise OSError(f"{folder / WEIGHTS_FILE} could not be written: {error}") from error
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        (stage / MODEL_FILE).write_text(text, encoding="utf-8")


def load_model(folder: Path | str) -> AnyTranslator:
    """Read a model from a folder that `save_model` wrote: in float32, on the CPU, in evaluation mode.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file is not what it should be, or the two do not belong together.
    """
    folder = Path(folder)
    for name in (MODEL_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no {name}: it is not the folder of a model")
    try:
        description = json.loads((folder / MODEL_FILE).read_text(encoding="utf-8"))
        if not isinstance(description, dict):
            raise ValueError(f"expected kind and config, got a {type(description).__name__}")
        model = build_model(description)
    except ValueError as error:
        raise ValueError(f"{folder / MODEL_FILE}: {error}") from error
    try:
        weights = load_file(folder / WEIGHTS_FILE)
        _fill(model, weights)
    except (SafetensorError, ValueError) as error:
        raise ValueError(f"{folder / WEIGHTS_FILE}: {error}") from error
    return model.eval()


@torch.no_grad()
def _fill(model: AnyTranslator, weights: dict[str, Tensor]) -> None:
    """Put stored weights in their places; every place gets its own, and nothing is left over."""
    parameters = dict(model.named_parameters())
    if missing := sorted(parameters.keys() - weights.keys()):
        raise ValueError(f"weights are missing: {', '.join(missing[:5])}")
    if unknown := sorted(weights.keys() - parameters.keys()):
        raise ValueError(f"the model has no place for {', '.join(unknown[:5])}")
    for name, parameter in parameters.items():
        if weights[name].shape != parameter.shape:
            wanted, got = tuple(parameter.shape), tuple(weights[name].shape)
            raise ValueError(f"{name} must have shape {wanted}, got {got}")
    _require_finite(weights)
    for name, parameter in parameters.items():
        parameter.copy_(weights[name])


def _require_finite(weights: dict[str, Tensor]) -> None:
    for name, weight in weights.items():
        if not bool(weight.isfinite().all()):
            raise ValueError(f"weights must be finite in {weight.dtype}, but {name} holds NaN or infinity")
